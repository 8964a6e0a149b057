"""Pages become passages: sentences, runs of them as strips, runs of strips as passages, each with its spans."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from crag.knowledge_base.headings import Outline
from crag.knowledge_base.page_text import PageText, compose
from crag.knowledge_base.raw_page import RawPage
from crag.knowledge_base.sections import TINY, UNIT_MAX, sections
from crag.knowledge_base.table_passages import Unit, joined, table_parts
from crag.schema import Passage, Span, Strip

CHUNKER_VERSION = "tables-2"
"""Part of the index fingerprint: raise it whenever the same pages would give other passages."""

# Sizes count a Latin character as 1 and a Chinese one as 2, so one set of limits serves both.
STRIP_TARGET, STRIP_MAX, STRIP_SENTENCES = 110, UNIT_MAX, 3
PASSAGE_MIN, PASSAGE_MAX = 400, 800
OVERLAP_MAX = 200


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

    @property
    def starts_line(self) -> bool:
        return "\n" in self.units[0].glue


def chunk(content: str, fingerprint: str, pages: Sequence[PageText]) -> list[Passage]:
    """The passages of one content (sha256), in document order; ids derive from content, fingerprint and position."""
    passages: list[Passage] = []
    for section in sections(pages):
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
        strips = tuple(
            _strip(origin, piece.text, [span for unit in piece.units for span in unit.spans], piece.starts_line)
            for piece in group
        )
        cuts.append((place[id(mine[-1])], (joined(mine), spans, strips)))
    rows = [unit for unit in units if unit.head is not None]
    for _, table in groupby(rows, key=lambda unit: unit.paragraph):
        for part in table_parts(list(table)):
            spans = _merge_spans([span for unit in part.units for span in unit.spans])
            strips = tuple(_strip(origin, text, spans) for text, spans in part.strips)
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


def _strip(origin: str, text: str, spans: Sequence[Span], starts_line: bool = True) -> Strip:
    merged = _merge_spans(spans)
    place = ";".join(f"{span.page}:{span.start}-{span.end}" for span in merged)
    identity = hashlib.sha256(f"{origin}|{place}".encode()).hexdigest()[:32]
    return Strip(id=identity, text=text, spans=merged, starts_line=starts_line)


def _merge_spans(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Neighbours on one page, at most a space or line break apart, become one span."""
    merged: list[Span] = []
    for span in spans:
        if merged and merged[-1].page == span.page and 0 <= span.start - merged[-1].end <= 1:
            merged[-1] = Span(page=span.page, start=merged[-1].start, end=span.end)
        else:
            merged.append(span)
    return tuple(merged)


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
