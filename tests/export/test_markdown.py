"""Markdown to hand on: everything is there, and foreign text shows as itself in a reader of Markdown."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from crag.export.forms import Form, export
from crag.export.markdown import inert
from crag.schema import Trace
from crag.ui.texts import Texts

READER = MarkdownIt("gfm-like", {"linkify": False})


def written(trace: Trace) -> str:
    return export(Form.MARKDOWN, [trace], Texts("en")).decode()


def kinds(text: str) -> set[str]:
    tokens = READER.parse(text)
    return {token.type for token in tokens} | {child.type for token in tokens for child in token.children or ()}


def shown(text: str) -> str:
    """What a reader of the file sees of one paragraph."""
    return "".join(child.content for token in READER.parse(text) for child in token.children or ())


def test_question_decision_answer_and_sources_are_there(trace: Trace) -> None:
    text = written(trace)
    assert text.startswith("# Who built the lighthouse of Karnholm?\n")
    assert "**Correct.** Best 0.92 reaches 0.70" in text
    assert "**\\[1\\] island \\<b\\>.pdf p. 2** (cited)" in text
    assert "> The lighthouse of Karnholm was built in 1847" in text
    assert "Nothing was out of order" in text


@pytest.mark.parametrize(
    "line",
    [
        "# no heading", "1. no list", "12) no list", "- no list", "+ no list", "=== no rule",
        "*no* _emphasis_ **here**",
        "[no link](https://example.org)", "![no image](x.png)", "<b>no markup</b> &amp; no entity", "`no code`",
        "| no | table |", "~~~ no fence", "a \\ backslash", "$no$ math", "> no quote",
    ],
)  # fmt: skip
def test_a_line_of_a_document_shows_as_it_is(line: str) -> None:
    assert shown(inert(line)) == line
    assert kinds(inert(line)) <= {"paragraph_open", "inline", "paragraph_close", "text", "text_special"}


def test_no_reader_makes_links_mentions_or_emoji_of_foreign_text() -> None:
    assert inert("see http://a.example www.b.example @someone :smile:") == (
        "see http\\://a.example www\\.b.example \\@someone \\:smile:"
    )


def test_what_a_model_has_written_keeps_its_list_and_links_nowhere(trace: Trace) -> None:
    answer = "Two things:\n\n- **Ida Brandt** [1]\n- ![x](https://example.org/x.png) <script>alert(1)</script>"
    text = written(trace.model_copy(update={"generator": "openai:qwen3", "answer": answer}))
    found = kinds(text)
    assert {"bullet_list_open", "strong_open"} <= found
    assert found & {"image", "link_open", "html_inline", "html_block"} == set()


def test_a_conversation_has_all_its_questions(trace: Trace) -> None:
    text = export(Form.MARKDOWN, [trace, trace.model_copy(update={"question": "And when?"})], Texts("en")).decode()
    assert text.count("\n# ") == 1
    assert "# And when?" in text
