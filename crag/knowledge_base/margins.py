"""Running headers, footers and page numbers: found by what repeats at one height of a document's pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
_REPEATS = 4
_FEW = 2
"""Repeats that suffice in a document of two or three pages, for texts that only a margin has."""
_COUNT = r"(?:\d+|[ivxlc]+|[一二三四五六七八九十百]+)"
_NUMBER = re.compile(
    rf"^{_COUNT}\b|\b{_COUNT}$|(?<![\w.,]){_COUNT}(?=\s*(?:/|of|von|de|из)\s*{_COUNT}$)|第\s*{_COUNT}\s*[页頁]"
)
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
    groups: list[list[_Found]] = []
    by_key: dict[str, list[list[_Found]]] = {}
    for entry in found:
        key = _NUMBER.sub("#", entry.text)
        for group in by_key.setdefault(key, []):
            if abs(group[-1].height - entry.height) < 0.012:
                group.append(entry)
                break
        else:
            group = [entry]
            by_key[key].append(group)
            groups.append(group)
    for group in groups:
        if len({entry.page for entry in group}) < 2:
            continue
        if _counts_up(group):
            marked = group
        elif _is_running(group, len(pages)):
            marked = group[1:]
        else:
            continue
        for entry in marked:
            entry.row.margin = True


def _edges(page: RawPage, rows: Sequence[Row]) -> list[_Found]:
    """The outermost rows of the page as it is shown, at most `_ROWS` at each edge."""
    tall = (page.width if page.rotation in (90, 270) else page.height) or 1.0
    places = [(_shown(page, row) / tall, row) for row in rows]
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


def _shown(page: RawPage, row: Row) -> float:
    """Middle of the row in points from the top of the page as it is shown."""
    boxes = np.concatenate([line.boxes for line in row.lines])
    x, y = (float(v) for v in (boxes[:, :2].min(axis=0) + boxes[:, 2:].max(axis=0)) / 2)
    return {90: x, 180: page.height - y, 270: page.width - x}.get(page.rotation, y)


def _counts_up(group: Sequence[_Found]) -> bool:
    """Whether the texts are page labels that rise with the pages: every one by as much as the pages do."""
    if not all(_PAGE_LABEL.fullmatch(entry.text) for entry in group):
        return False
    values = [(_value(entry.text), entry.page) for entry in group]
    steps = [
        after - before == page - last
        for (before, last), (after, page) in pairwise(values)
        if before is not None and after is not None
    ]
    return bool(steps) and sum(steps) * 4 >= 3 * len(steps)


def _value(text: str) -> int | None:
    """The first number of a page label, in digits, Roman or Chinese ones; None where there is none."""
    digits = re.search(r"\d+", text)
    if digits:
        return int(digits.group())
    chinese = re.search(r"[一二三四五六七八九十]+", text)
    if chinese:
        return _chinese(chinese.group())
    roman = re.search(r"\b[ivxlc]+\b", text)
    if roman is None:
        return None
    parts = [_ROMAN[char] for char in roman.group()]
    return sum(-part if part < max(parts[i:]) else part for i, part in enumerate(parts))


def _chinese(text: str) -> int:
    tens, ten, ones = text.rpartition("十")
    digit = {char: value for value, char in enumerate("一二三四五六七八九", 1)}
    return (digit.get(tens, 1) * 10 if ten else 0) + digit.get(ones, 0)


def _is_running(group: Sequence[_Found], pages: int) -> bool:
    """Whether a text with letters, or a number that stays the same, is a running header or footer."""
    key = _NUMBER.sub("#", group[0].text)
    letters = any(char.isalpha() for char in key)
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
