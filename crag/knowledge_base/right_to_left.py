"""Arabic and Hebrew lines in logical order, worked out from where each character stands on the page.

A PDF holds what is seen: characters from the left or from the right, stops at the wrong end, and ligatures whose
letters come out swapped. Where a character stands is certain, so the line is read from the right, and what is
written from the left inside it (Latin words, numbers) is turned back.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

_RTL = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_MIRRORED = str.maketrans("()[]{}<>«»", ")(][}{><»«")
_NUMBER_SIGNS = frozenset(".,:/٫٬%٪")
_CELL_GAP = 1.5
_WORD_GAP = 0.3
"""Gaps that part cells and words, in heights of a character."""

Word = tuple[float, float, float, float, str, int, int, int]
"""A word as PyMuPDF gives it: x0, y0, x1, y1, text, block, line, number."""


def is_right_to_left(text: str) -> bool:
    """Whether a good part of the letters of `text` is written from the right (a line may quote Latin words)."""
    foreign = len(_RTL.findall(text))
    return foreign > 0 and foreign > 0.3 * sum(char.isalpha() for char in text)


@dataclass(slots=True)
class _Cluster:
    """What is drawn at one place: a character with its marks, or a ligature."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def middle(self) -> float:
        return (self.x0 + self.x1) / 2

    @property
    def kind(self) -> str:
        """`L` written from the left, `N` a number, `R` from the right, `S` a space, otherwise ``."""
        char = self.text[0]
        if char.isspace():
            return "S"
        group = unicodedata.bidirectional(char)
        return {"L": "L", "EN": "N", "AN": "N", "R": "R", "AL": "R"}.get(group, "")


def logical_words(words: Sequence[Word], blocks: Sequence[dict[str, Any]]) -> list[Word]:
    """The page's words with every row that is written from the right put into logical order.

    `blocks` is PyMuPDF's `rawdict`; other rows keep their words. A row parted by wide gaps gives several lines.
    """
    by_block: dict[int, list[Word]] = {}
    for word in words:
        by_block.setdefault(word[5], []).append(word)
    found: list[Word] = []
    for number, ours in by_block.items():
        if not _RTL.search("".join(word[4] for word in ours)):
            found += ours
            continue
        for row in _rows(blocks[number].get("lines", ())):
            numbers = {place for place, _ in row}
            as_filed = [word for word in ours if word[6] in numbers]
            upright = all(round(line["dir"][0]) == 1 for _, line in row)
            if upright and is_right_to_left("".join(word[4] for word in as_filed)):
                in_order = _row(number, row)
                found += in_order if _letters(in_order) == _letters(as_filed) else as_filed
            else:
                found += as_filed
    return found


def _letters(words: Iterable[Word]) -> list[str]:
    """What must be the same in any order: nothing may be lost or made up."""
    return sorted(char for word in words for char in word[4] if char.isalnum())


def _rows(lines: Iterable[dict[str, Any]]) -> list[list[tuple[int, dict[str, Any]]]]:
    """Lines of a block with their numbers, together where they stand side by side."""
    rows: list[list[tuple[int, dict[str, Any]]]] = []
    for place, line in enumerate(lines):
        top, bottom = line["bbox"][1], line["bbox"][3]
        if rows:
            other = rows[-1][-1][1]["bbox"]
            if min(bottom, other[3]) - max(top, other[1]) > 0.5 * min(bottom - top, other[3] - other[1]):
                rows[-1].append((place, line))
                continue
        rows.append([(place, line)])
    return rows


def _row(block: int, row: Sequence[tuple[int, dict[str, Any]]]) -> list[Word]:
    clusters = _clusters([char for _, line in row for span in line["spans"] for char in span["chars"]])
    clusters.sort(key=lambda cluster: -cluster.middle)
    letters = [cluster for cluster in clusters if cluster.kind != "S"]
    if not letters:
        return []
    clusters = [c for c in clusters if c.kind != "S" or not _covered(c, letters)]
    if sum(c.x1 - c.x0 for c in letters) > 1.3 * (letters[0].x1 - letters[-1].x0):
        return []  # letters stand upon each other: where they stand tells nothing
    height = sorted(c.y1 - c.y0 for c in letters)[len(letters) // 2] or 1.0
    cells = _cells(clusters, height)
    places = [place for place, _ in row]
    found: list[Word] = []
    for number, cell in enumerate(cells):
        place = places[min(number, len(places) - 1)] if number < len(places) else places[-1] + 1000 + number
        for position, word in enumerate(_split(_turned(cell))):
            text = "".join(c.text for c in word)
            box = (min(c.x0 for c in word), min(c.y0 for c in word), max(c.x1 for c in word), max(c.y1 for c in word))
            found.append((*box, text, block, place, position))
    return _mirrored(found)


def _cells(clusters: Sequence[_Cluster], height: float) -> list[list[_Cluster]]:
    """Parts the row at wide gaps; a narrower gap without a space gets one."""
    cells: list[list[_Cluster]] = [[]]
    last: _Cluster | None = None
    for cluster in clusters:
        if cluster.kind != "S":
            gap = last.x0 - cluster.x1 if last is not None else 0.0
            if gap > _CELL_GAP * height:
                cells.append([])
            elif gap > _WORD_GAP * height:
                cells[-1].append(_Cluster(" ", cluster.x1, cluster.y0, cluster.x1 + gap, cluster.y1))
            last = cluster
        cells[-1].append(cluster)
    return cells


def _clusters(chars: Sequence[dict[str, Any]]) -> list[_Cluster]:
    """Marks join the character before them; a letter without width is part of the ligature it stands at."""
    found: list[_Cluster] = []
    waiting = ""
    for position, char in enumerate(chars):
        text, (x0, y0, x1, y1) = char["c"], char["bbox"]
        if unicodedata.category(text) == "Mn" and found:
            found[-1].text += text
        elif x1 - x0 < 0.01 and text.isalpha():
            after = chars[position + 1]["bbox"] if position + 1 < len(chars) else None
            if after is not None and abs(after[2] - x0) < 0.5 and after[2] - after[0] > 0.01:
                waiting = text + waiting  # MuPDF turned the ligature's letters round
            elif found:
                found[-1].text += text
        else:
            found.append(_Cluster(text + waiting, x0, y0, x1, y1))
            waiting = ""
    return found


def _covered(space: _Cluster, letters: Sequence[_Cluster]) -> bool:
    """Whether letters stand where the space should be: it is left over from the file's own order."""
    inside = sum(max(0.0, min(space.x1, c.x1) - max(space.x0, c.x0)) for c in letters)
    return inside > 0.5 * (space.x1 - space.x0)


def _turned(cell: Sequence[_Cluster]) -> list[_Cluster]:
    """From the order seen from the right to the logical one: runs written from the left are turned round."""
    found: list[_Cluster] = []
    position = 0
    while position < len(cell):
        end = position
        if cell[position].kind in ("L", "N"):
            end = _run_end(cell, position)
        run = list(cell[position : end + 1])
        found += run[::-1]
        position = end + 1
    return found


def _run_end(cell: Sequence[_Cluster], start: int) -> int:
    """Index of the last cluster of the run written from the left that begins at `start`."""
    last = start
    for position in range(start + 1, len(cell)):
        kind = cell[position].kind
        if kind == "R":
            break
        if kind not in ("L", "N"):
            continue
        between = cell[last + 1 : position]
        latin = "L" in (kind, cell[last].kind)
        signs = len(between) <= 1 and all(c.text in _NUMBER_SIGNS for c in between)
        if not latin and not signs:
            break
        last = position
    return last


def _split(cell: Iterable[_Cluster]) -> list[list[_Cluster]]:
    words: list[list[_Cluster]] = [[]]
    for cluster in cell:
        if cluster.kind == "S":
            words.append([])
        else:
            words[-1].append(cluster)
    return [word for word in words if word]


def _mirrored(words: list[Word]) -> list[Word]:
    """Brackets are stored as they look or as they mean: as they mean, a line opens before it closes."""
    text = "".join(word[4] for word in words)
    if _misplaced(text) <= _misplaced(text.translate(_MIRRORED)):
        return words
    return [
        (*word[:4], word[4] if word[4].isascii() and word[4].isalnum() else word[4].translate(_MIRRORED), *word[5:])
        for word in words
    ]


def _misplaced(text: str) -> int:
    """Brackets that close what was never opened or open what is never closed."""
    depth = wrong = 0
    for char in text:
        if char in "([{«":
            depth += 1
        elif char in ")]}»":
            wrong += depth == 0
            depth = max(0, depth - 1)
    return wrong + depth
