"""Canonical text: composes the pages of one PDF into the text that spans refer to, with a box for every word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from crag.knowledge_base.clean import is_leader, is_unspaced, joint, vocabulary
from crag.knowledge_base.headings import Outline, mark_headings
from crag.knowledge_base.health import GARBLED, garble_of, health_of
from crag.knowledge_base.lines import Line, extent, lines_of
from crag.knowledge_base.margins import mark_margins
from crag.knowledge_base.paragraphs import (
    Kind,
    Paragraph,
    Row,
    may_continue,
    paragraphs_of,
    rows_of,
)
from crag.knowledge_base.raw_page import RawPage
from crag.knowledge_base.reading_order import ordered
from crag.knowledge_base.table_text import header_of, markdown
from crag.schema import Frozen

Box = Sequence[float]
_Placed = tuple[str, Box, Line]
"""A word, where it stands, and its line."""


@dataclass(frozen=True, slots=True)
class Block:
    """Code points `[start, end)` of a page. `glue` is None for a new paragraph; otherwise the text goes on from
    the text block before it (which may stand on the page before), with `glue` ("" or " ") between them."""

    start: int
    end: int
    kind: Kind
    glue: str | None = None
    level: int = 0
    """Of a heading: how many others it stands below; 0 is the document's title."""
    caption: int = 0
    """Where the caption of a table ends; `start` where there is none."""
    rows: int = -1
    """Where the first row of a table in Markdown begins, after caption, column names and separator; -1: it is none."""


class PageFacts(Frozen):
    """What the page's row shows beyond its health; stored as JSON, so fields are only added."""

    chars: int = 0
    """Characters of its canonical text."""
    garble: float = 0.0
    """Share of the text layer's characters that are unreadable, [0, 1]."""
    images: float = 0.0
    """Share of the page covered by images, [0, 1]."""
    ocr: bool = False
    """Whether text of it was read from its picture."""
    reading: str = ""
    """What came of OCR, see `health.Reading`; "" where it was not needed."""
    tables: int = 0
    columns: int = 1
    notes: tuple[str, ...] = ()
    """Sentences for the user about this page alone."""


@dataclass(frozen=True, slots=True)
class PageText:
    """One page: its canonical text, blocks in reading order, and where each word stands."""

    number: int
    text: str
    blocks: tuple[Block, ...]
    offsets: npt.NDArray[np.int32]
    """`[start, end)` of each word in `text`, shape (words, 2), ascending."""
    boxes: npt.NDArray[np.float32]
    """x0, y0, x1, y1 of each word in points of the unrotated page, shape (words, 4)."""
    width: float
    height: float
    rotation: int
    health: str
    """text, doubtful (some characters unreadable), empty, image (no text, needs OCR) or garbled (needs OCR)."""
    facts: PageFacts = field(default_factory=PageFacts)


def compose(pages: Sequence[RawPage], outline: Outline = ()) -> list[PageText]:
    """The canonical pages of one document. Garbled pages are left empty: noise must not become evidence."""
    health = [health_of(page) for page in pages]
    read = [_in_order(page, state) for page, state in zip(pages, health, strict=True)]
    rows = [rows_of(lines) for lines, _ in read]
    columns = [count for _, count in read]
    mark_margins(list(zip(pages, rows, strict=True)))
    words = vocabulary(word for page in rows for row in page for word in row.words)
    by_page = [paragraphs_of(page.number, found) for page, found in zip(pages, rows, strict=True)]
    everything = [paragraph for found in by_page for paragraph in found]
    mark_headings(everything, outline)
    _mark_continuations(everything)
    _mark_long_tables(pages, by_page)
    glues = _join_line_ends(everything, words)
    return [
        _emit(page, found, state, glues, words, count)
        for page, found, state, count in zip(pages, by_page, health, columns, strict=True)
    ]


def _in_order(page: RawPage, health: str) -> tuple[list[Line], int]:
    """The page's lines in reading order, and how many columns stand side by side."""
    lines = [] if health == GARBLED else lines_of(page)
    return (lines, 1) if page.laid_out else ordered(lines)


def _mark_continuations(paragraphs: Sequence[Paragraph]) -> None:
    """Running headers and page numbers between the halves of a paragraph do not part it."""
    before: Paragraph | None = None
    for paragraph in paragraphs:
        if paragraph.kind == Kind.TEXT:
            paragraph.continues = before is not None and may_continue(before, paragraph)
            before = paragraph
        elif paragraph.kind != Kind.MARGIN:
            before = None


def _mark_long_tables(pages: Sequence[RawPage], by_page: Sequence[list[Paragraph]]) -> None:
    """A table that ends a page goes on at the head of the next, with the same column names or none."""
    for (page, found), (after, following) in pairwise(zip(pages, by_page, strict=True)):
        last = next((p for p in reversed(found) if p.kind != Kind.MARGIN), None)
        first = next((p for p in following if p.kind != Kind.MARGIN), None)
        if last is None or first is None or last.table < 0 or first.table < 0:
            continue
        a, b = page.tables[last.table], after.tables[first.table]
        named = header_of(after, b)
        alike = len(a.rows[0]) == len(b.rows[0]) and not b.caption and _side_by_side(last, first)
        first.continues = alike and (not named or named == header_of(page, a))


def _side_by_side(above: Paragraph, below: Paragraph) -> bool:
    """Whether two tables are as wide and stand in the same place across the page."""
    ends = [(min(r.start for r in p.rows), max(r.end for r in p.rows)) for p in (above, below)]
    (a, b), (c, d) = ends
    return min(b, d) - max(a, c) > 0.8 * (max(b, d) - min(a, c))


def _join_line_ends(paragraphs: Sequence[Paragraph], words: Counter[str]) -> dict[int, str]:
    """What stands before each row (by identity); drops hyphens that only marked the line end, in place."""
    glues: dict[int, str] = {}
    for before, row in _line_ends(paragraphs):
        left = before.lines[-1]
        drop, glue = joint(left.words[-1], row.words[0], words)
        if drop:
            left.words[-1] = left.words[-1][:-1]
        glues[id(row)] = glue
    return glues


def _line_ends(paragraphs: Sequence[Paragraph]) -> Iterator[tuple[Row, Row]]:
    last: Row | None = None
    for paragraph in paragraphs:
        if paragraph.kind == Kind.MARGIN:
            continue
        if paragraph.continues and last is not None and paragraph.kind != Kind.TABLE:
            yield last, paragraph.rows[0]
        if paragraph.kind != Kind.TABLE:
            yield from pairwise(paragraph.rows)
        last = paragraph.rows[-1]


@dataclass(slots=True)
class _Text:
    """The canonical text of a page in the making."""

    parts: list[str] = field(default_factory=list)
    offsets: list[tuple[int, int]] = field(default_factory=list)
    boxes: list[Box | npt.NDArray[np.float32]] = field(default_factory=list)
    length: int = 0

    def put(self, text: str, box: Box | npt.NDArray[np.float32] | None = None) -> None:
        """Adds a stretch of text; with `box` it is a word that stands there."""
        if box is not None:
            self.offsets.append((self.length, self.length + len(text)))
            self.boxes.append(box)
        self.parts.append(text)
        self.length += len(text)


def _emit(
    page: RawPage,
    paragraphs: Sequence[Paragraph],
    health: str,
    glues: dict[int, str],
    known: Counter[str],
    columns: int,
) -> PageText:
    text, blocks = _Text(), list[Block]()
    for paragraph in paragraphs:
        if text.length:
            text.put("\n")
        is_table = paragraph.table >= 0
        blocks.append(_put_table(text, page, paragraph, known) if is_table else _put_rows(text, paragraph, glues))
    facts = PageFacts(
        chars=text.length,
        garble=round(garble_of(page), 4),
        images=round(page.images, 4),
        ocr=page.ocr,
        tables=sum(paragraph.table >= 0 and paragraph.kind == Kind.TABLE for paragraph in paragraphs),
        columns=columns,
        reading=page.reading,
        notes=(*page.notes, page.failure) if page.failure else page.notes,
    )
    return PageText(
        page.number,
        "".join(text.parts),
        tuple(blocks),
        np.array(text.offsets, np.int32).reshape(-1, 2),
        np.array(text.boxes, np.float32).reshape(-1, 4),
        page.width,
        page.height,
        page.rotation,
        health,
        facts,
    )


def _put_table(text: _Text, page: RawPage, paragraph: Paragraph, known: Counter[str]) -> Block:
    """Adds a table in Markdown: caption, column names, rows."""
    start = first = text.length
    shape = page.tables[paragraph.table]
    table = markdown(page, shape._replace(rows=shape.rows[: len(shape.rows) - paragraph.cut]), known)
    for part in table.caption:
        text.put(*part)
    caption = text.length
    for number, line in enumerate([table.head, *table.rows] if table.head else table.rows):
        if text.length > start:
            text.put("\n")
        first = text.length if number == bool(table.head) else first
        for part in line:
            text.put(*part)
    glue = "\n" if paragraph.continues else None
    return Block(start, text.length, paragraph.kind, glue, caption=caption, rows=first)


def _put_rows(text: _Text, paragraph: Paragraph, glues: dict[int, str]) -> Block:
    """Adds a paragraph: its rows run on, those of a table that was not recognised stay lines."""
    start = text.length
    for number, row in enumerate(paragraph.rows):
        if number:
            text.put("\n" if paragraph.kind == Kind.TABLE else glues.get(id(row), " "))
        for space, word, box in _words(row):
            text.put(space)
            text.put(word, box)
    glue = glues.get(id(paragraph.rows[0]), " ") if paragraph.continues else None
    return Block(start, text.length, paragraph.kind, glue, level=paragraph.level)


def _words(row: Row) -> Iterator[tuple[str, str, Box]]:
    """The row's words with what stands before each: spaced-out Chinese characters are drawn together."""
    last: _Placed | None = None
    for line in row.lines:
        for word, box in zip(line.words, line.boxes.tolist(), strict=True):
            if last is not None and last[0] == word and is_leader(word):
                continue  # dots that lead the eye, each set by itself
            placed = (word, box, line)
            yield "" if last is None or _touch(last, placed) else " ", word, box
            last = placed


def _touch(last: _Placed, following: _Placed) -> bool:
    (before, left, other), (word, right, line) = last, following
    if not (is_unspaced(before[-1]) or is_unspaced(word[0])):
        return False
    gap = extent(right, line.direction, line.rtl)[0] - extent(left, other.direction, other.rtl)[1]
    if gap < (0.1 if other is line else 0.3) * line.size:
        return True
    single = len(before) == len(word) == 1 and is_unspaced(before) and is_unspaced(word)
    return single and gap < 1.2 * line.size
