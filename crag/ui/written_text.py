"""What a model has written as HTML: paragraphs, lists, bold, code and tables; no link, no image, no markup of its own.

What quotes documents is no such text: it goes through `answer_text`, which interprets nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from crag.generator.claims import MARKER
from crag.ui import marks, safe
from crag.ui.marks import Look, Piece

NOT_WANTED: Final = (
    "link", "image", "autolink", "reference", "html_inline", "html_block", "entity", "lheading", "code",
)  # fmt: skip
"""Rules of CommonMark that would load, lead away or guess: their signs show as themselves."""
DEEPEST: Final = 6
BELOW_THE_QUESTION: Final = 2
"""The question is a heading of this level, so those of the answer begin below it."""
PIECES: Final = "pieces"
"""Where a run of text carries its pieces."""

_CJK_SIGN = "\u3000-\u303f\uff00-\uff0f\uff1a-\uff20“”‘’—…·"
_STARS = re.compile(rf"(?<=[{_CJK_SIGN}])\*\*(?=\S)|(?<=\S)\*\*(?=[{_CJK_SIGN}])")


def as_html(text: str, look: Look | None = None) -> str:
    """`text` as inert HTML with its markers `[n]` set apart; `look` None: where they lead is not known yet."""
    raw = marks.shown(text)
    tokens = _reader.parse(_joined(raw))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(DEEPEST, int(token.tag[1:]) + BELOW_THE_QUESTION)}"
    if look is not None:
        _cut(tokens, raw, look)
    html: str = _reader.renderer.render(tokens, _reader.options, {"look": look})
    return html.replace(safe.WORD_JOINER, "")


def _joined(text: str) -> str:
    """CommonMark takes no `**` for bold between a Chinese sign and a word, since no space stands there."""
    return _STARS.sub(f"{safe.WORD_JOINER}**{safe.WORD_JOINER}", text)


def _cut(tokens: Sequence[Token], raw: str, look: Look) -> None:
    """Gives each run of text its pieces: what is shown stands in `raw` in the same order, with signs between.

    A sentence may run through bold, cells and line ends: each run is marked by itself, and the last one is named.
    """
    at = 0
    last: dict[int, tuple[Token, int]] = {}
    for token in _runs(tokens):
        token.content = token.content.replace(safe.WORD_JOINER, "")
        start = raw.find(token.content, at)
        if start < 0:  # an escaped sign: shown, but not as it was written
            continue
        at = start + len(token.content)
        if token.type != "text":
            continue
        cut = marks.pieces(token.content, start, look.marks)
        token.meta[PIECES] = [Piece(piece.text, piece.mark) for piece in cut]
        last |= {piece.mark.start: (token, number) for number, piece in enumerate(cut) if piece.mark}
    for token, number in last.values():
        piece = token.meta[PIECES][number]
        token.meta[PIECES][number] = Piece(piece.text, piece.mark, ends=True)


def _runs(tokens: Sequence[Token]) -> Iterator[Token]:
    """What is shown as text, in order."""
    for token in tokens:
        if token.type in ("text", "code_inline", "fence"):
            yield token
        yield from _runs(token.children or ())


def _text(_: Any, tokens: Sequence[Token], index: int, __: Any, env: Any) -> str:
    """A run of text; outside of code, markers are citations."""
    token, look = tokens[index], env["look"]
    if look is not None:
        return marks.as_html(token.meta.get(PIECES) or [Piece(token.content)], look)
    text, at, made = token.content, 0, []
    for marker in MARKER.finditer(text):
        made += [safe.in_html(text[at : marker.start()]), f"<cite class='crag-cite'>{safe.in_html(marker[0])}</cite>"]
        at = marker.end()
    return "".join([*made, safe.in_html(text[at:])])


_reader = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable("table").disable(list(NOT_WANTED))
_reader.add_render_rule("text", _text)
