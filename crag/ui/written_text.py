"""What a model has written as HTML: paragraphs, lists, bold, code and tables; no link, no image, no markup of its own.

What quotes documents is no such text: it goes through `answer_text`, which interprets nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from crag.ui import safe

NOT_WANTED: Final = (
    "link", "image", "autolink", "reference", "html_inline", "html_block", "entity", "lheading", "code",
)  # fmt: skip
"""Rules of CommonMark that would load, lead away or guess: their signs show as themselves."""
DEEPEST: Final = 6
BELOW_THE_QUESTION: Final = 2
"""The question is a heading of this level, so those of the answer begin below it."""

_MARKER = re.compile(r"[\[［【]\s*\d{1,3}(?:\s*[,，、;；]\s*\d{1,3})*\s*[\]］】]")
_NUMBER = re.compile(r"\d+")
_CJK_SIGN = "\u3000-\u303f\uff00-\uff0f\uff1a-\uff20“”‘’—…·"
_STARS = re.compile(rf"(?<=[{_CJK_SIGN}])\*\*(?=\S)|(?<=\S)\*\*(?=[{_CJK_SIGN}])")


def as_html(text: str, places: Mapping[int, str] | None = None) -> str:
    """`text` as inert HTML with its markers `[n]` set apart.

    `places` names by number where each source stands; a marker without one is marked as such. None: not known yet.
    """
    tokens = _reader.parse(_joined(safe.clean(text)))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(DEEPEST, int(token.tag[1:]) + BELOW_THE_QUESTION)}"
    html: str = _reader.renderer.render(tokens, _reader.options, {"places": places})
    return html.replace(safe.WORD_JOINER, "")


def _joined(text: str) -> str:
    """CommonMark takes no `**` for bold between a Chinese sign and a word, since no space stands there."""
    return _STARS.sub(f"{safe.WORD_JOINER}**{safe.WORD_JOINER}", text)


def _text(_: Any, tokens: Sequence[Token], index: int, __: Any, env: Any) -> str:
    """A run of text; outside of code, markers are citations."""
    text, at, made = tokens[index].content, 0, []
    for marker in _MARKER.finditer(text):
        made += [safe.in_html(text[at : marker.start()]), _cited(marker[0], env["places"])]
        at = marker.end()
    return "".join([*made, safe.in_html(text[at:])])


def _cited(marker: str, places: Mapping[int, str] | None) -> str:
    numbers = [int(number) for number in _NUMBER.findall(marker)]
    if places is None:
        return f"<cite class='crag-cite'>{safe.in_html(marker)}</cite>"
    known = [places[number] for number in numbers if number in places]
    kind = "crag-cite" if len(known) == len(numbers) else "crag-cite crag-cite-unknown"
    title = f" title='{safe.in_html(' · '.join(known))}'" if known else ""
    return f"<cite class='{kind}'{title}>{safe.in_html(marker)}</cite>"


_reader = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable(list(NOT_WANTED))
_reader.add_render_rule("text", _text)
