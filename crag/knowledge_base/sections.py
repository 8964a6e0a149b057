"""Pages become sections: sentences, rows of tables and titles as units, each with its spans, under their headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from crag.knowledge_base.clean import is_unspaced
from crag.knowledge_base.page_text import Block, PageText
from crag.knowledge_base.paragraphs import Kind
from crag.knowledge_base.table_passages import Head, Unit
from crag.schema import Span
from crag.text import sentences

UNIT_MAX = 500
"""No unit is longer; a Latin character counts 1 and a Chinese one 2, as everywhere here."""
TINY = 120
"""A section shorter than this joins the one before it, its heading as text."""
_HEADING_MAX = 150
_MARKER = re.compile(r"[(（]?(?:\d{1,3}|[a-zA-Z一二三四五六七八九十])[.)）、．]+")


@dataclass(slots=True)
class Section:
    """The units up to the next heading, and the headings above them, the document's title first."""

    path: tuple[str, ...] = ()
    title: Unit | None = None
    units: list[Unit] = field(default_factory=list)

    @property
    def size(self) -> int:
        return sum(unit.size for unit in self.units)

    @property
    def heading(self) -> str:
        return heading_of(self.path)


def heading_of(path: Sequence[str]) -> str:
    """The path joined by " › ", the deepest last; where it grows too long, those between go first, then the title."""
    kept = list(path)
    while len(kept) > 1 and len(" › ".join(kept)) > _HEADING_MAX:
        del kept[1 if len(kept) > 2 else 0]
    return " › ".join(kept)


def size_of(text: str) -> int:
    """Length in Latin characters: a Chinese one says as much as two."""
    return len(text) if text.isascii() else len(text) + sum(map(is_unspaced, text))


def sections(pages: Sequence[PageText]) -> list[Section]:
    """The sections of a document in its order, none of them tiny where it has another."""
    return _merge_tiny(_sections(pages))


def _sections(pages: Sequence[PageText]) -> Iterator[Section]:
    section = Section()
    above: dict[int, str] = {}
    for number, (block, parts) in enumerate(_paragraphs(pages)):
        if block.kind == Kind.HEADING:
            yield section
            title = _unit(parts, number)
            above = {level: text for level, text in above.items() if level < block.level or level == 0}
            above[block.level] = " ".join(title.text.split())
            section = Section(tuple(above[level] for level in sorted(above)), title)
        else:
            section.units += _table(parts, number) if block.rows >= 0 else _units(block.kind, parts, number)
    yield section


Part = tuple[PageText, int, int, str, Block]
"""Page, start and end in its text, what stands before it, and the block it is."""


def _paragraphs(pages: Sequence[PageText]) -> Iterator[tuple[Block, list[Part]]]:
    """Paragraphs, by their first block, across columns and pages, without running headers and footers."""
    first, parts = Block(0, 0, Kind.TEXT), list[Part]()
    for page in pages:
        for block in page.blocks:
            if block.kind == Kind.MARGIN:
                continue
            if block.glue is None and parts:
                yield first, parts
                parts = []
            if not parts:
                first = block
            parts.append((page, block.start, block.end, block.glue or "", block))
    if parts:
        yield first, parts


def _unit(parts: list[Part], paragraph: int) -> Unit:
    text = "".join(glue + page.text[start:end] for page, start, end, glue, _ in parts)
    spans = tuple(Span(page=page.number, start=start, end=end) for page, start, end, *_ in parts)
    return Unit(text, spans, paragraph, "\n", size_of(text))


def _units(kind: Kind, parts: list[Part], paragraph: int) -> Iterator[Unit]:
    """The sentences of a paragraph, or the rows of a table, none longer than a strip may be."""
    whole = "".join(glue + page.text[start:end] for page, start, end, glue, _ in parts)
    ranges = _rows(whole) if kind == Kind.TABLE else _with_markers(whole, sentences(whole))
    position = 0
    for start, end in (cut for a, b in ranges for cut in _cut(whole, a, b)):
        text = whole[start:end]
        glue = whole[position:start] if position else "\n"
        yield Unit(text, tuple(_spans(parts, start, end)), paragraph, glue, size_of(text))
        position = end


def _table(parts: list[Part], paragraph: int) -> Iterator[Unit]:
    """The rows of a table, each with its caption and the column names of its page (or, without any, of the first)."""
    page, start, _, _, block = parts[0]
    caption = [_piece_of(page, start + a, start + b, paragraph) for a, b in sentences(page.text[start : block.caption])]
    names: Unit | None = None
    separator = ""
    for page, start, end, _, block in parts:
        first = block.caption if block.caption == start else block.caption + 1
        if block.rows > first:
            named, _, separator = page.text[first : block.rows - 1].rpartition("\n")
            names = _piece_of(page, first, first + len(named), paragraph)
        head = Head(tuple(caption), names, separator)
        for a, b in _rows(page.text[block.rows : end]):
            for c, d in _cut(page.text, block.rows + a, block.rows + b):
                unit = _piece_of(page, c, d, paragraph)
                unit.head = head
                yield unit


def _piece_of(page: PageText, start: int, end: int, paragraph: int) -> Unit:
    text = page.text[start:end]
    return Unit(text, (Span(page=page.number, start=start, end=end),), paragraph, "\n", size_of(text))


def _with_markers(text: str, ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """A number that only counts ("1.", "(2)") belongs to the sentence behind it."""
    joined: list[tuple[int, int]] = []
    for start, end in ranges:
        if joined and _MARKER.fullmatch(text, *joined[-1]):
            start = joined.pop()[0]
        joined.append((start, end))
    return joined


def _rows(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(r"[^\n]+", text)]


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A stretch without stops (a list, a table) in parts that fit, cut at white space or a comma where there is one."""
    while size_of(text[start:end]) > UNIT_MAX:
        stop, size = start, 0
        while size < UNIT_MAX:
            size += 1 + is_unspaced(text[stop])
            stop += 1
        breaks = [match.end() for match in re.finditer(r"\s+|[，、；,;]", text[start:stop])]
        stop = start + breaks[-1] if breaks and breaks[-1] > (stop - start) // 2 else stop
        yield start, start + len(text[start:stop].rstrip())
        start = stop
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end


def _spans(parts: list[Part], start: int, end: int) -> Iterator[Span]:
    """Where `[start, end)` of the joined paragraph stands on its pages."""
    position = 0
    for page, first, last, glue, _ in parts:
        position += len(glue)
        a, b = max(start, position), min(end, position + last - first)
        if a < b:
            yield Span(page=page.number, start=first + a - position, end=first + b - position)
        position += last - first


def _merge_tiny(sections: Iterator[Section]) -> list[Section]:
    """No heading's words are lost: one without text of its own names the next section, or becomes text."""
    kept: list[Section] = []
    waiting: list[Unit] = []
    bare = False  # whether what waits is one title and nothing else
    for section in sections:
        title = [section.title] if section.title else []
        if not section.units:
            bare = bool(title) and not waiting
            waiting += title
        elif section.size < TINY:
            units, waiting, bare = [*waiting, *title, *section.units], [], False
            if kept:
                kept[-1].units += units
            else:
                waiting = units
        else:
            names = [" ".join(unit.text.split()) for unit in waiting]
            missing = [name for name in names if name not in section.path]
            path = (*section.path[:-1], *missing, *section.path[-1:])
            if bare and title and all(name in heading_of(path).split(" › ") for name in names):
                section.path = path
            else:
                section.units[:0] = waiting
            waiting, bare = [], False
            kept.append(section)
    if waiting and not kept:
        return [Section((), None, waiting)]
    if waiting:
        kept[-1].units += waiting
    return kept
