"""Foreign text is inert: as HTML nothing is markup, as Markdown every sign is itself."""

from __future__ import annotations

import re

import pytest
from markdown_it import MarkdownIt

from crag.ui.safe import WORD_JOINER, clean, in_html, in_markdown

HOSTILE = (
    "![x](http://127.0.0.1:1/leak?d=1)",
    "![x][r]\n\n[r]: http://127.0.0.1:1/leak",
    '<img src="http://127.0.0.1:1/leak" onerror="alert(1)">',
    "</div><script>alert(1)</script>",
    "[click](javascript:alert(1))",
    "$\\href{http://127.0.0.1:1/}{x}$ and $$y$$",
    ":red[warning] :material/home: :smile: :green-badge[Correct]",
    "# heading\n- item\n1. one\n> quote\n| a | b |\n|---|---|",
    "`code` ```fence``` ~~strike~~ **bold** __bold__",
    "http://evil.example www.evil.example a@evil.example",
    "&#x21;&#91;x&#93;(http://evil.example)",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_as_html_nothing_is_markup(text: str) -> None:
    assert not re.search(r"[<>\"']", in_html(text))


@pytest.mark.parametrize("text", HOSTILE)
def test_as_markdown_it_reads_as_it_was_written(text: str) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(in_markdown(text))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    inline = tokens[1].children or []
    assert {token.type for token in inline} <= {"text", "text_special"}
    assert "".join(token.content for token in inline).replace(WORD_JOINER, "") == " ".join(text.split())


@pytest.mark.parametrize(
    "text", [":material/home:", ":smile:", "https://evil.example", "WWW.evil.example", "a@b.example"]
)
def test_what_is_replaced_after_parsing_is_broken_up(text: str) -> None:
    shown = in_markdown(text).replace("\\", "")
    assert not re.search(r":material/\w+:|:\w+:|https?://|www\.|@\w", shown, re.IGNORECASE)


def test_controls_and_direction_overrides_are_gone_but_lines_and_scripts_stay() -> None:
    assert clean("a\x00b\u202ec\r\nd\te\ud800 阈值 é") == "abc\nd\te 阈值 é"
