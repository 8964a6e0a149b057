"""Evidence on the page: from spans and stored word boxes to rectangles, one per line of text. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crag.schema import Frozen

SAME_LINE = 0.5
"""Two words stand on one line when they share this part of the lower one's height."""
WIDEST_GAP = 2.5
"""Times the height of a line: what stands further apart (cells of a row) keeps rectangles of its own."""


GROWN = 1.4
"""A rectangle is at most so many times as high as the highest word in it: a skewed line has several, like steps."""


class Rect(NamedTuple):
    """Points, origin top left."""

    x0: float
    y0: float
    x1: float
    y1: float

    def __or__(self, other: tuple[float, ...]) -> Rect:
        x0, y0, x1, y1 = other
        return Rect(min(self.x0, x0), min(self.y0, y0), max(self.x1, x1), max(self.y1, y1))


class Look(StrEnum):
    """How a mark is drawn: the colour is never the only sign, the line differs too."""

    CITED = "cited"
    KEPT = "kept"
    DROPPED = "dropped"
    CUT = "cut"
    """A passage or strip as it was cut, without a judgement."""


class Mark(Frozen):
    """Some rectangles of one page as it is displayed; `name` is shown when it is pointed at."""

    key: str
    look: Look
    rects: tuple[Rect, ...]
    name: str = ""


class PageWords(NamedTuple):
    """Where the words of one page stand, as the catalog keeps them."""

    text: str
    offsets: npt.NDArray[np.int32]
    """`[start, end)` of each word in `text`, shape (words, 2), ascending."""
    boxes: npt.NDArray[np.float32]
    """x0, y0, x1, y1 in points of the unrotated page, shape (words, 4)."""
    width: float
    """Of the unrotated page, in points; so is `height`."""
    height: float
    rotation: int
    """Clockwise degrees: 0, 90, 180 or 270."""


def shown(page: PageWords, ranges: Iterable[tuple[int, int]]) -> tuple[Rect, ...]:
    """Rectangles of some code point ranges `[start, end)`, on the page as it is displayed."""
    found = [rect for start, end in ranges for rect in rectangles(page, start, end)]
    return tuple(turned(rect, page.width, page.height, page.rotation) for rect in found)


def display_size(page: PageWords) -> tuple[float, float]:
    """Width and height of the page as it is displayed, in points."""
    return (page.height, page.width) if page.rotation % 180 else (page.width, page.height)


def rectangles(page: PageWords, start: int, end: int) -> list[Rect]:
    """One rectangle per line of the text in `[start, end)`, in points of the unrotated page, in reading order; of a
    skewed line several, so that none reaches into its neighbours.

    A word that the range only touches in part (a Chinese line is one word) is cut in proportion to its characters.
    """
    words = _words(page, start, end)
    if not words:
        return []
    upright = _is_upright(words, page.rotation)
    backwards = _runs_backwards(words, upright, page.rotation)
    lines: list[Rect] = []
    last: Rect | None = None
    highest = 0.0
    for word in words:
        rect = _part(word, upright, backwards)
        higher = max(highest, _thickness(rect, upright))
        together = last is not None and _on_one_line(last, rect, lines[-1], upright)
        if together and _thickness(lines[-1] | rect, upright) <= GROWN * higher:
            lines[-1], highest = lines[-1] | rect, higher
        else:
            lines.append(rect)
            highest = _thickness(rect, upright)
        last = rect
    return lines


def turned(rect: Rect, width: float, height: float, rotation: int) -> Rect:
    """The rectangle of an unrotated page of this size on the page as it is displayed, turned clockwise."""
    x0, y0, x1, y1 = rect
    match rotation % 360:
        case 90:
            return Rect(height - y1, x0, height - y0, x1)
        case 180:
            return Rect(width - x1, height - y1, width - x0, height - y0)
        case 270:
            return Rect(y0, width - x1, y1, width - x0)
    return rect


class _Word(NamedTuple):
    text: str
    box: Rect
    start: int
    """The part that is meant, `[start, end)` of `text`."""
    end: int


def _words(page: PageWords, start: int, end: int) -> list[_Word]:
    """The words that the range touches; boxes without size or with values that are no numbers mark nothing."""
    if not len(page.offsets) or start >= end:
        return []
    first = int(np.searchsorted(page.offsets[:, 1], start, "right"))
    stop = int(np.searchsorted(page.offsets[:, 0], end, "left"))
    found = []
    for (a, b), box in zip(page.offsets[first:stop].tolist(), page.boxes[first:stop].tolist(), strict=True):
        rect = Rect(*box)
        if np.isfinite(box).all() and rect.x1 > rect.x0 and rect.y1 > rect.y0:
            found.append(_Word(page.text[a:b], rect, max(start, a) - a, min(end, b) - a))
    return found


def _is_upright(words: Sequence[_Word], rotation: int) -> bool:
    """Whether the lines run up or down the unrotated page: by the shape of long words, or by where words follow."""
    votes = 0
    for word in words:
        across, along = word.box.x1 - word.box.x0, word.box.y1 - word.box.y0
        if len(word.text) > 2 and max(across, along) > 1.3 * min(across, along):
            votes += len(word.text) if along > across else -len(word.text)
    if not votes:
        for before, word in pairwise(words):
            beside = _shared(before.box, word.box, upright=False) >= SAME_LINE
            below = _shared(before.box, word.box, upright=True) >= SAME_LINE
            votes += below - beside
    return votes > 0 if votes else rotation % 180 == 90


def _runs_backwards(words: Sequence[_Word], upright: bool, rotation: int) -> bool:
    """Whether text runs to the left, or upwards: by the places of neighbours on a line, else by script and rotation."""
    place = 1 if upright else 0
    votes = 0
    for before, word in pairwise(words):
        if _shared(before.box, word.box, upright) >= SAME_LINE:
            step = word.box[place] - before.box[place]
            votes += (step > 0) - (step < 0)
    if votes:
        return votes < 0
    if upright:
        return rotation % 360 == 90
    right_to_left = any(unicodedata.bidirectional(char) in ("R", "AL") for word in words for char in word.text)
    return right_to_left != (rotation % 360 == 180)


def _part(word: _Word, upright: bool, backwards: bool) -> Rect:
    """The rectangle of the meant part: wide characters count twice."""
    if word.start == 0 and word.end == len(word.text):
        return word.box
    weights = [_weight(char) for char in word.text]
    whole = sum(weights) or 1
    a, b = sum(weights[: word.start]) / whole, sum(weights[: word.end]) / whole
    if backwards:
        a, b = 1 - b, 1 - a
    x0, y0, x1, y1 = word.box
    if upright:
        return Rect(x0, y0 + a * (y1 - y0), x1, y0 + b * (y1 - y0))
    return Rect(x0 + a * (x1 - x0), y0, x0 + b * (x1 - x0), y1)


def _weight(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _on_one_line(last: Rect, rect: Rect, line: Rect, upright: bool) -> bool:
    if _shared(last, rect, upright) < SAME_LINE:
        return False
    low, high = (1, 3) if upright else (0, 2)
    gap = max(line[low], rect[low]) - min(line[high], rect[high])
    thick = min(_thickness(line, upright), _thickness(rect, upright))
    return gap <= WIDEST_GAP * thick


def _shared(a: Rect, b: Rect, upright: bool) -> float:
    """Overlap across the writing direction, as a part of the thinner one."""
    low, high = (0, 2) if upright else (1, 3)
    thin = min(_thickness(a, upright), _thickness(b, upright))
    return (min(a[high], b[high]) - max(a[low], b[low])) / thin if thin > 0 else 0.0


def _thickness(rect: Rect, upright: bool) -> float:
    return rect.x1 - rect.x0 if upright else rect.y1 - rect.y0
