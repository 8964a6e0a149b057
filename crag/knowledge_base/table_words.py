"""Words of a page as tables see them: turned so that lines run from left to right, and grouped by height."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crag.knowledge_base.raw_page import RawPage
from crag.knowledge_base.rulings import Rule

NUMBER = re.compile(r"[(\[+\-−–~≈<>≤≥±*†‡$€£¥￥₩]*\d[\d.,:/'’%‰°\-–−+±×eE]*[)\]%*†‡]*|[-–—−]+|n/?a", re.IGNORECASE)
"""A figure as tables write it, with sign, unit or mark; also what stands for none."""


class Word(NamedTuple):
    """A word in the frame in which its line runs from left to right, downwards: points."""

    x0: float
    y0: float
    x1: float
    y1: float
    position: int
    text: str
    line: int
    size: float
    bold: bool

    x: float
    """Middle of the box; so is `y`."""
    y: float


@dataclass(frozen=True)
class Region:
    """Where a table may be. `closed`: its sides are what the rules enclose; otherwise `box` was found by the text."""

    across: Sequence[Rule]
    down: Sequence[Rule]
    box: tuple[float, float, float, float] | None = None

    @cached_property
    def sides(self) -> tuple[float, float, float, float]:
        if self.box:
            return self.box
        x = [*(rule.at for rule in self.down), *(end for rule in self.across for end in rule[1:])]
        y = [*(rule.at for rule in self.across), *(end for rule in self.down for end in rule[1:])]
        return min(x), min(y), max(x), max(y)

    @property
    def area(self) -> float:
        x0, y0, x1, y1 = self.sides
        return (x1 - x0) * (y1 - y0)

    def held(self, words: Iterable[Word]) -> list[Word]:
        """Those of the words that stand in it."""
        x0, y0, x1, y1 = self.sides
        return [word for word in words if x0 - 2 <= word.x <= x1 + 2 and y0 - 1 <= word.y <= y1 + 1]


def rows_of_words(words: Sequence[Word]) -> list[list[Word]]:
    """Words that stand on one height, from top to bottom, each row from left to right."""
    rows: list[list[Word]] = []
    ends: list[tuple[float, float]] = []
    for word in sorted(words, key=attrgetter("y", "x0")):
        if rows:
            top, bottom = ends[-1]
            shared = min(bottom, word.y1) - max(top, word.y0)
            if shared > 0.5 * min(bottom - top, word.y1 - word.y0):
                rows[-1].append(word)
                continue
        rows.append([word])
        ends.append((word.y0, word.y1))
    return [sorted(row, key=attrgetter("x0")) for row in rows]


def runs(row: Sequence[Word], gap: float = 0.8) -> list[list[Word]]:
    """Words of a row that are set apart by no more than `gap` times their size."""
    found: list[list[Word]] = []
    end = float("-inf")
    for word in row:
        if word.x0 - end <= gap * word.size:
            found[-1].append(word)
        else:
            found.append([word])
        end = word.x1
    return found


def words_of(page: RawPage, direction: tuple[int, int]) -> Iterator[Word]:
    """Words in that direction, as if the page were turned so that they run from left to right."""
    turned = turn(page.boxes, direction).tolist()
    for number, line in enumerate(page.lines):
        if (round(line.direction[0]), round(line.direction[1])) != direction:
            continue
        for position in range(line.start, line.end):
            x0, y0, x1, y1 = turned[position]
            size, x, y = line.size or y1 - y0, (x0 + x1) / 2, (y0 + y1) / 2
            yield Word(x0, y0, x1, y1, position, page.words[position], number, size, line.bold, x, y)


def turn(boxes: npt.NDArray[np.float32], direction: tuple[int, int]) -> npt.NDArray[np.float32]:
    """Boxes, shape (n, 4), turned so that text in `direction` runs from left to right."""
    x0, y0, x1, y1 = boxes.T
    if direction == (-1, 0):
        return np.stack([-x1, -y1, -x0, -y0], axis=1)
    if direction == (0, 1):
        return np.stack([y0, -x1, y1, -x0], axis=1)
    if direction == (0, -1):
        return np.stack([-y1, x0, -y0, x1], axis=1)
    return boxes
