"""Pages become passages: sentences, runs of them as strips, runs of strips as passages, each with its spans."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise

from crag.knowledge_base.clean import is_unspaced
from crag.knowledge_base.headings import Outline
from crag.knowledge_base.page_text import Block, PageText, compose
from crag.knowledge_base.paragraphs import Kind
from crag.knowledge_base.raw_page import RawPage
from crag.knowledge_base.table_passages import Head, Unit, joined, table_parts
from crag.schema import Passage, Span, Strip
from crag.text import sentences

CHUNKER_VERSION = "tables-2"
"""Part of the index fingerprint: raise it whenever the same pages would give other passages."""

# Sizes count a Latin character as 1 and a Chinese one as 2, so one set of limits serves both.
STRIP_TARGET, STRIP_MAX, STRIP_SENTENCES = 110, 500, 3
PASSAGE_MIN, PASSAGE_MAX = 400, 800
OVERLAP_MAX = 200
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


@dataclass(frozen=True, slots=True)
class Piece:
    """A strip in the making: neighbouring units."""

    units: tuple[Unit, ...]

    @property
    def size(self) -> int:
        return sum(unit.size for unit in self.units)

    @property
    def text(self) -> str:
        return joined(self.units)


def heading_of(path: Sequence[str]) -> str:
    """The path joined by " › ", the deepest last; where it grows too long, those between go first, then the title."""
    kept = list(path)
    while len(kept) > 1 and len(" › ".join(kept)) > _HEADING_MAX:
        del kept[1 if len(kept) > 2 else 0]
    return " › ".join(kept)


def size_of(text: str) -> int:
    """Length in Latin characters: a Chinese one says as much as two."""
    return len(text) if text.isascii() else len(text) + sum(map(is_unspaced, text))


def chunk(content: str, fingerprint: str, pages: Sequence[PageText]) -> list[Passage]:
    """The passages of one content (sha256), in document order; ids derive from content, fingerprint and position."""
    passages: list[Passage] = []
    for section in _merge_tiny(_sections(pages)):
        for text, spans, strips in _cuts(f"{content}|{fingerprint}", section.units):
            number = len(passages)
            identity = hashlib.sha256(f"{content}|{fingerprint}|{number}".encode()).hexdigest()[:32]
            passages.append(
                Passage(
                    id=identity,
                    content=content,
                    number=number,
                    text=text,
                    heading=section.heading,
                    spans=spans,
                    strips=strips,
                )
            )
    return passages


Cut = tuple[str, tuple[Span, ...], tuple[Strip, ...]]
"""Text, spans and strips of a passage."""


def _cuts(origin: str, units: Sequence[Unit]) -> list[Cut]:
    """The passages of a section: its text, flowing around its tables, and each table, in the order of their starts."""
    place = {id(unit): number for number, unit in enumerate(units)}
    cuts: list[tuple[int, Cut]] = []
    for group in _groups(list(_pieces([unit for unit in units if unit.head is None]))):
        mine = [unit for piece in group for unit in piece.units]
        spans = _merge_spans([span for unit in mine for span in unit.spans])
        cuts.append((place[id(mine[-1])], (joined(mine), spans, tuple(_strip(origin, piece) for piece in group))))
    rows = [unit for unit in units if unit.head is not None]
    for _, table in groupby(rows, key=lambda unit: unit.paragraph):
        for part in table_parts(list(table)):
            spans = _merge_spans([span for unit in part.units for span in unit.spans])
            strips = tuple(_table_strip(origin, *strip) for strip in part.strips)
            cuts.append((place[id(part.rows[0])], (part.text, spans, strips)))
    return [cut for _, cut in sorted(cuts, key=lambda one: one[0])]


def digest(
    content: str, fingerprint: str, pages: Sequence[RawPage], outline: Outline
) -> tuple[list[PageText], list[Passage]]:
    """From raw pages to canonical pages and passages in one step, as a worker process does it."""
    composed = compose(pages, outline)
    return composed, chunk(content, fingerprint, composed)


def embedding_text(heading: str, text: str) -> str:
    """What is embedded of a passage: a section's title often names what its text only calls "it"."""
    return f"{heading}\n{text}" if heading else text


def _strip(reading: str, piece: Piece) -> Strip:
    spans = _merge_spans([span for unit in piece.units for span in unit.spans])
    place = ";".join(f"{span.page}:{span.start}-{span.end}" for span in spans)
    identity = hashlib.sha256(f"{reading}|{place}".encode()).hexdigest()[:32]
    return Strip(id=identity, text=piece.text, spans=spans, starts_line="\n" in piece.units[0].glue)


def _table_strip(content: str, text: str, spans: Sequence[Span]) -> Strip:
    merged = _merge_spans(spans)
    place = ";".join(f"{span.page}:{span.start}-{span.end}" for span in merged)
    identity = hashlib.sha256(f"{content}|{place}".encode()).hexdigest()[:32]
    return Strip(id=identity, text=text, spans=merged, starts_line=True)


def _merge_spans(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Neighbours on one page, at most a space or line break apart, become one span."""
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].page == span.page and 0 <= span.start - merged[-1].end <= 1:
            merged[-1] = Span(page=span.page, start=merged[-1].start, end=span.end)
        else:
            merged.append(span)
    return tuple(merged)


# --- pages -> sections of units ---------------------------------------------------------------------------------


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
    while size_of(text[start:end]) > STRIP_MAX:
        stop, size = start, 0
        while size < STRIP_MAX:
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


# --- units -> strips -> passages --------------------------------------------------------------------------------


def _pieces(units: Sequence[Unit]) -> Iterator[Piece]:
    """Runs of one to three sentences of one paragraph; short paragraphs that follow each other share a strip."""
    lengths: dict[int, int] = {}
    for unit in units:
        lengths[unit.paragraph] = lengths.get(unit.paragraph, 0) + unit.size
    runs: list[list[Unit]] = []
    for unit in units:
        if runs and _fits(runs[-1], unit, lengths):
            runs[-1].append(unit)
        else:
            runs.append([unit])
    for before, after in pairwise(runs):
        if before and _is_rest(before, after):
            after[:0] = before  # a short rest belongs to what it ends
            before.clear()
    yield from (Piece(tuple(run)) for run in runs if run)


def _is_rest(before: list[Unit], after: list[Unit]) -> bool:
    size = sum(unit.size for unit in after)
    whole = size + sum(unit.size for unit in before)
    same = before[-1].paragraph == after[0].paragraph and _on_one_page(before[-1], after[0])
    return same and size < STRIP_TARGET // 2 and whole <= STRIP_MAX and len(before) + len(after) <= STRIP_SENTENCES


def _on_one_page(before: Unit, after: Unit) -> bool:
    """Only a sentence that itself runs over a page break makes a strip of two pages: a citation names one."""
    return before.spans[-1].page == after.spans[0].page


def _fits(run: list[Unit], unit: Unit, lengths: dict[int, int]) -> bool:
    size = sum(part.size for part in run)
    if len(run) >= STRIP_SENTENCES or size + unit.size > STRIP_MAX or not _on_one_page(run[-1], unit):
        return False
    if size + unit.size - STRIP_TARGET > STRIP_TARGET - size:
        return False  # without it the strip is nearer to its target
    same = run[-1].paragraph == unit.paragraph
    return same or (lengths[run[-1].paragraph] < STRIP_TARGET and lengths[unit.paragraph] < STRIP_TARGET)


def _groups(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Runs of whole strips that make passages; a short last strip is repeated at the head of the next."""
    groups: list[list[Piece]] = []
    overlap: list[Piece] = []
    fresh: list[Piece] = []
    for piece in pieces:
        size = sum(part.size for part in (*overlap, *fresh))
        starts = bool(fresh) and piece.units[0].paragraph != fresh[-1].units[-1].paragraph
        if fresh and (size + piece.size > PASSAGE_MAX or (starts and size >= PASSAGE_MIN)):
            groups.append([*overlap, *fresh])
            last = fresh[-1]
            overlap = [last] if last.size <= OVERLAP_MAX and last.size + piece.size <= PASSAGE_MAX else []
            fresh = []
        fresh.append(piece)
    if groups and sum(part.size for part in fresh) < TINY:
        groups[-1] += fresh  # a tail too short to stand alone
    elif fresh:
        groups.append([*overlap, *fresh])
    return groups
