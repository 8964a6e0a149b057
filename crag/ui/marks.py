"""How an answer's text is shown: what its sources do not hold is marked, and markers lead to their source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from crag.generator.claims import MARKER, markers
from crag.schema import CheckedSentence, Support, Trace
from crag.ui import safe
from crag.ui.panels import web
from crag.ui.texts import Texts

Kind = Literal["weak", "unsupported", "uncited"]
KINDS: Final[tuple[Kind, ...]] = ("unsupported", "uncited", "weak")
"""The gravest first."""

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Mark:
    """A sentence that is not held; code points `[start, end)` of the text as it is shown."""

    start: int
    end: int
    kind: Kind


@dataclass(frozen=True)
class Look:
    """What the text of an answer is shown with."""

    turn_id: str
    """Empty where markers lead nowhere: their sources are named, not shown as chips."""
    places: Mapping[int, str]
    """Where each cited source stands, by its number."""
    marks: Sequence[Mark]
    t: Texts


@dataclass(frozen=True)
class Piece:
    """A stretch of one run of text; `ends` where its sentence ends with it."""

    text: str
    mark: Mark | None = None
    ends: bool = False


def kind_of(sentence: CheckedSentence) -> Kind | None:
    """None: it is supported."""
    if sentence.support is Support.SUPPORTED:
        return None
    if sentence.support is Support.WEAK:
        return "weak"
    return "unsupported" if sentence.cites else "uncited"


def shown(text: str) -> str:
    """The answer as it is drawn: places of marks are places in this."""
    return safe.clean(text).replace(safe.WORD_JOINER, "").strip()


def look_of(trace: Trace, t: Texts) -> Look | None:
    """None where nothing was checked: an answer without evidence repeats markers of the one before, a stopped one
    has no sources yet."""
    if trace.direct or (trace.stopped and not trace.citations):
        return None
    places = {citation.n: web.name_of(citation, t) for citation in trace.citations}
    return Look(trace.turn_id, places, marks_in(shown(trace.answer), trace.check.sentences), t)


def marks_in(text: str, sentences: Sequence[CheckedSentence]) -> list[Mark]:
    """Where the sentences that are not supported stand in `text`; they are in its order."""
    found, at = [], 0
    for sentence in sentences:
        said = shown(sentence.text)
        start = text.find(said, at)
        if start < 0:
            continue
        at = start + len(said)
        if kind := kind_of(sentence):
            found.append(Mark(start, at, kind))
    return found


def pieces(text: str, start: int, marks: Sequence[Mark]) -> list[Piece]:
    """A run of text that stands at `start`, cut where marked sentences begin and end."""
    end, at, cut = start + len(text), start, []
    for mark in marks:
        a, b = max(mark.start, at), min(mark.end, end)
        if a < b:
            cut += [Piece(text[at - start : a - start]), Piece(text[a - start : b - start], mark, ends=b == mark.end)]
            at = b
    cut.append(Piece(text[at - start :]))
    return [piece for piece in cut if piece.text]


def as_html(cut: Sequence[Piece], look: Look, *, linked: bool = True) -> str:
    """Pieces as inert HTML: what is not held is underlined and named, and where `linked`, markers lead to a source."""
    return "".join(_piece(piece, look, linked) for piece in cut)


def _piece(piece: Piece, look: Look, linked: bool) -> str:
    inside = "".join(_with_markers(piece.text, look)) if linked else safe.in_html(piece.text)
    if piece.mark is None:
        return inside
    said = word(piece.mark, look) if piece.ends else ""
    return f"<span class='crag-doubt crag-doubt-{piece.mark.kind}'>{inside}</span>{said}"


def word(mark: Mark, look: Look) -> str:
    """What stands behind a marked sentence, as HTML: colour and line never stand alone."""
    return f"<small class='crag-doubt-word crag-word-{mark.kind}'>{safe.in_html(look.t(f'mark_{mark.kind}'))}</small>"


def _with_markers(text: str, look: Look) -> Iterator[str]:
    at = 0
    for marker in MARKER.finditer(text):
        yield safe.in_html(text[at : marker.start()])
        yield marker_html(marker[0], look)
        at = marker.end()
    yield safe.in_html(text[at:])


def marker_html(marker: str, look: Look) -> str:
    """Each number leads to its source; a marker with a number that no source has is told apart."""
    if len(markers(marker)) == 1:
        (number,) = markers(marker)
        return _number(marker, number, look)
    return f"<span class='crag-cites'>{_each(marker, look)}</span>"


def _each(marker: str, look: Look) -> str:
    made, at = [], 0
    for match in _NUMBER.finditer(marker):
        made += [safe.in_html(marker[at : match.start()]), _number(match[0], int(match[0]), look)]
        at = match.end()
    return "".join([*made, safe.in_html(marker[at:])])


def _number(text: str, number: int, look: Look) -> str:
    """A link to the sources below the answer; on the page `clicks` opens the one that is meant."""
    if number in look.places:
        turn, place = safe.in_html(look.turn_id), safe.in_html(look.places[number])
        if not turn:
            return f"<cite class='crag-cite' title='{place}'>{safe.in_html(text)}</cite>"
        return (
            f"<a class='crag-cite' href='#sources-{turn}' data-source='{turn}-{number}' "
            f"title='{place}'>{safe.in_html(text)}</a>"
        )
    none = safe.in_html(look.t("no_such_source", n=number))
    return f"<cite class='crag-cite crag-cite-unknown' title='{none}'>{safe.in_html(text)}<sup>?</sup></cite>"
