"""Running headers, footers and page numbers: found by what repeats at one height of a document's pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from crag.knowledge_base.paragraphs import Row
from crag.knowledge_base.pdf_loader import RawPage
from crag.text import normalise

_BAND = 0.12
"""They stand in this share of the page's height, at its top and bottom."""
_ROWS = 3
"""At most so many rows of the band are looked at, from the edge of the page."""
_SAME_HEIGHT, _SAME_ROW = 0.012, 0.004
_REPEATS = 4
_FEW = 2
"""Repeats that suffice in a document of two or three pages, for texts that only a margin has."""
_COUNT = r"(?:\d+|[ivxlc]+|[一二三四五六七八九十]+)"
_NUMBER = re.compile(r"\d+|^[ivxlc]+\b|\b[ivxlc]+$|(?<=第)[一二三四五六七八九十]+(?=\s*[页頁])")
_PAGE_LABEL = re.compile(
    rf"(?:[-–—\[(|·]\s*)?(?:(?:page|p\.|pg\.?|seite|página|pagina|صفحة|صفحه|עמוד|стр\.?)\s*)?{_COUNT}"
    rf"(?:\s*(?:/|of|von|de|из|sur)\s*{_COUNT})?(?:\s*[-–—\])|·])?"
    rf"|第?\s*{_COUNT}\s*(?:页|頁|ページ|쪽)(?:[,，\s/]*共?\s*{_COUNT}\s*[页頁]?)?"
)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(slots=True)
class _Found:
    page: int
    text: str
    row: Row
    height: float
    """Middle of the row as the page is shown, as a share of the page's height."""


def mark_margins(pages: Sequence[tuple[RawPage, list[Row]]]) -> None:
    """Marks rows at the top or bottom that repeat over the pages; only a number in them may differ.

    Pages may take turns (left and right headers), or a section's title may stand over its own pages only. The first
    page that shows a text keeps it, so that nothing written only there is lost; page numbers go everywhere.
    """
    found = [entry for page, rows in pages for entry in _edges(page, rows)]
    repeating: set[int] = set()
    by_key: dict[str, list[list[_Found]]] = {}
    for entry in found:
        groups = by_key.setdefault(_NUMBER.sub("#", entry.text), [])
        for group in groups:
            if abs(group[-1].height - entry.height) < _SAME_HEIGHT:
                group.append(entry)
                break
        else:
            groups.append([entry])
    for group in (group for groups in by_key.values() for group in groups):
        for same, counts in _equal_but_for_counts(group):
            if len({entry.page for entry in same}) < 2:
                continue
            if counts and _PAGE_LABEL.fullmatch(same[0].text):
                marked = same
            else:
                marked = same[1:] if _is_running(same, len(pages)) else []
            repeating |= {id(entry.row) for entry in same} if marked else set()
            for entry in marked:
                entry.row.margin = True
    _spare_cells(found, repeating)


def _spare_cells(found: Sequence[_Found], repeating: set[int]) -> None:
    """What stands beside text that does not repeat is a cell of a table or a line of text: it stays."""
    by_page: dict[int, list[_Found]] = {}
    for entry in found:
        by_page.setdefault(entry.page, []).append(entry)
    for entries in by_page.values():
        for entry in entries:
            beside = (other for other in entries if abs(other.height - entry.height) < _SAME_ROW)
            if any(id(other.row) not in repeating for other in beside):
                entry.row.margin = False


def _equal_but_for_counts(group: Sequence[_Found]) -> Iterator[tuple[list[_Found], bool]]:
    """The group parted by its numbers, those that count the pages aside; and whether one of them does."""
    values = [[_value(text) for text in _NUMBER.findall(entry.text)] for entry in group]
    counting = []
    for column in range(len(values[0])):
        steps = [
            after[column] - before[column] == b.page - a.page
            for (before, a), (after, b) in pairwise(zip(values, group, strict=True))
            if b.page > a.page
        ]
        counting.append(bool(steps) and sum(steps) * 4 >= 3 * len(steps))
    parted: dict[tuple[int, ...], list[_Found]] = {}
    for entry, numbers in zip(group, values, strict=True):
        kept = tuple(value for value, counts in zip(numbers, counting, strict=True) if not counts)
        parted.setdefault(kept, []).append(entry)
    for same in parted.values():
        yield same, any(counting)


def _edges(page: RawPage, rows: Sequence[Row]) -> list[_Found]:
    """The outermost rows of the page as it is shown, at most `_ROWS` at each edge."""
    tall = (page.width if page.rotation in (90, 270) else page.height) or 1.0
    places = [(middle / tall, row) for middle, row in zip(_shown(page, rows), rows, strict=True)]
    edges: list[_Found] = []
    for upper in (True, False):
        band = sorted(
            ((h, row) for h, row in places if (h < _BAND if upper else h > 1 - _BAND)),
            key=lambda place: place[0] if upper else -place[0],
        )
        heights: list[float] = []
        for height, row in band:
            if not heights or abs(height - heights[-1]) > 0.006:
                heights.append(height)
            if len(heights) > _ROWS:
                break
            edges.append(_Found(page.number, normalise(row.text), row, height))
    return edges


def _shown(page: RawPage, rows: Sequence[Row]) -> list[float]:
    """Middle of each row in points from the top of the page as it is shown."""
    if not rows:
        return []
    boxes = np.concatenate([line.boxes for row in rows for line in row.lines])
    ends = np.cumsum([sum(len(line.boxes) for line in row.lines) for row in rows])
    starts = [0, *ends[:-1].tolist()]
    middles = (np.minimum.reduceat(boxes[:, :2], starts) + np.maximum.reduceat(boxes[:, 2:], starts)) / 2
    x, y = middles.astype(np.float64).T
    shown = {90: x, 180: page.height - y, 270: page.width - x}.get(page.rotation, y)
    return [float(middle) for middle in shown]


def _value(number: str) -> int:
    """A number in digits, Roman or Chinese ones."""
    if number.isdecimal():
        return int(number)
    if number[0] in _ROMAN:
        parts = [_ROMAN[char] for char in number]
        return sum(-part if part < max(parts[i:]) else part for i, part in enumerate(parts))
    return _chinese(number)


def _chinese(text: str) -> int:
    tens, ten, ones = text.rpartition("十")
    digit = {char: value for value, char in enumerate("一二三四五六七八九", 1)}
    return (digit.get(tens, 1) * 10 if ten else 0) + digit.get(ones, 0)


def _is_running(group: Sequence[_Found], pages: int) -> bool:
    """Whether a text with letters, or a number that stays the same, is a running header or footer."""
    letters = any(char.isalpha() for char in group[0].text)
    if not letters and len({entry.text for entry in group}) > 1:
        return False  # numbers that do not count up are data
    if len(group) >= _REPEATS:
        return True
    return letters and len(group) >= _FEW and _outermost(group, pages)


def _outermost(group: Sequence[_Found], pages: int) -> bool:
    """In short documents and for headers that change by section: on neighbouring pages, close to the edge."""
    near = all(entry.height < 0.085 or entry.height > 0.915 for entry in group)
    steps = [b.page - a.page for a, b in pairwise(group)]
    return near and (len(group) >= 3 or pages <= 4) and max(steps) <= 2
