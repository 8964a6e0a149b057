"""Reading order of recognised lines: their direction and skew, columns, rows, and sizes that do not flicker."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crag.knowledge_base.recognition import OcrLine

Boxes = npt.NDArray[np.float64]
"""start, top, end, bottom of lines, measured along and across the text, shape (n, 4)."""

_COLUMN = 8.0
"""Lines of a column of text are at least so many line heights long; shorter ones are cells of a table."""
_COLUMN_LINES = 3
_GLYPH = 0.8
"""Font size as a share of a recognised line's height."""


class Placed(NamedTuple):
    """A line in reading order; lines of one `block` stand below or beside each other."""

    line: OcrLine
    block: int
    size: float
    """Font size in pixels, the same for lines that differ by no more than recognition does."""


def skew_of(lines: Sequence[OcrLine]) -> tuple[int, float]:
    """(quarter turns clockwise, degrees clockwise within ±45) by which most of the text is turned."""
    angles = np.array([_angle(line) for line in lines])
    quarters = np.round(angles / 90).astype(int) % 4
    weights = np.array([len(line.text) for line in lines])
    main = int(np.argmax(np.bincount(quarters, weights, minlength=4)))
    rest = (angles - 90 * quarters + 180) % 360 - 180
    counted = [
        (angle, weight) for angle, weight, quarter in zip(rest, weights, quarters, strict=True) if quarter == main
    ]
    counted.sort()
    half = sum(weight for _, weight in counted) / 2
    for angle, weight in counted:
        half -= weight
        if half <= 0:
            return main, float(angle)
    return main, 0.0


def arrange(lines: Sequence[OcrLine]) -> list[Placed]:
    """The lines in reading order: columns one after the other, rows of tables together, stray directions last."""
    if not lines:
        return []
    quarter, skew = skew_of(lines)
    main = [line for line in lines if round(_angle(line) / 90) % 4 == quarter]
    stray = [line for line in lines if round(_angle(line) / 90) % 4 != quarter]
    boxes = _frame(main, math.radians(90 * quarter + skew))
    unit = float(np.median(boxes[:, 3] - boxes[:, 1]))
    sizes = _steady(boxes[:, 3] - boxes[:, 1], [len(line.text) for line in main])
    placed: list[Placed] = []
    for block, members in enumerate(_blocks(boxes, list(range(len(main))), unit)):
        placed += [Placed(main[i], block, sizes[i]) for i in members]
    first = placed[-1].block + 1
    for block, line in enumerate(stray, first):
        height = float(np.linalg.norm(line.quad[3] - line.quad[0]))
        placed.append(Placed(line, block, _GLYPH * height))
    return placed


def _angle(line: OcrLine) -> float:
    """Degrees clockwise from left-to-right, since y grows downwards; [0, 360)."""
    along = line.quad[1] - line.quad[0]
    return math.degrees(math.atan2(along[1], along[0])) % 360


def _frame(lines: Sequence[OcrLine], angle: float) -> Boxes:
    """Extents along and across the text."""
    along = np.array([math.cos(angle), math.sin(angle)])
    across = np.array([-along[1], along[0]])
    quads = np.array([line.quad for line in lines])
    s, t = quads @ along, quads @ across
    return np.stack([s.min(axis=1), _edge(t[:, 0], t[:, 1]), s.max(axis=1), _edge(t[:, 2], t[:, 3])], axis=1)


def _edge(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    middle: npt.NDArray[np.float64] = (a + b) / 2
    return middle


def _steady(heights: npt.NDArray[np.float64], weights: Sequence[int]) -> list[float]:
    """Font sizes: lines of about the usual height have the usual size (few letters have descenders)."""
    usual = float(np.median(np.repeat(heights, weights))) if sum(weights) else float(np.median(heights))
    return [_GLYPH * (usual if 0.7 < height / usual < 1.33 else float(height)) for height in heights]


def _blocks(boxes: Boxes, members: list[int], unit: float) -> list[list[int]]:
    """Line numbers block by block."""
    if not members:
        return []
    gutter = _gutter(boxes[members], unit)
    if gutter is None:
        return _stack(boxes, members, unit)
    found: list[list[int]] = []
    left: list[int] = []
    right: list[int] = []
    for member in sorted(members, key=lambda i: boxes[i, 1] + boxes[i, 3]):
        if boxes[member, 2] <= gutter + 0.3 * unit:
            left.append(member)
        elif boxes[member, 0] >= gutter - 0.3 * unit:
            right.append(member)
        else:  # what spans the columns ends them
            found += _blocks(boxes, left, unit) + _blocks(boxes, right, unit) + [[member]]
            left, right = [], []
    return _joined(found + _blocks(boxes, left, unit) + _blocks(boxes, right, unit), boxes, unit)


def _gutter(boxes: Boxes, unit: float) -> float | None:
    """Where the space between two columns of running text lies, or None: the place with most lines on both sides."""
    boxes = boxes[np.argsort(boxes[:, 1] + boxes[:, 3])]
    start, _, end, _ = boxes.T
    best: tuple[int, float] = (0, 0.0)
    for place in np.unique(end):
        left, right = end <= place + 0.3 * unit, start >= place - 0.3 * unit
        sides = np.where(left, -1, np.where(right, 1, 0))
        lines = 0
        ends: list[float] = []
        starts: list[float] = []
        for band in _bands(sides):
            one, other = boxes[band][sides[band] < 0], boxes[band][sides[band] > 0]
            if _are_columns(one, other, unit):
                lines += len(band)
                ends.append(float(one[:, 2].max()))
                starts.append(float(other[:, 0].min()))
        if lines > best[0] and min(starts) > max(ends):
            best = (lines, (max(ends) + min(starts)) / 2)
    return best[1] if best[0] else None


def _bands(sides: npt.NDArray[np.int_]) -> list[npt.NDArray[np.int_]]:
    """Runs of lines that do not span the columns (side 0 does)."""
    numbers = np.flatnonzero(sides)
    return np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1) if numbers.size else []


def _are_columns(left: Boxes, right: Boxes, unit: float) -> bool:
    """Whether lines stand side by side as columns of text do, and not as the cells of a table."""
    if min(len(left), len(right)) < _COLUMN_LINES:
        return False
    if min(float(np.median(side[:, 2] - side[:, 0])) for side in (left, right)) < _COLUMN * unit:
        return False
    shared = min(left[:, 3].max(), right[:, 3].max()) - max(left[:, 1].min(), right[:, 1].min())
    return bool(shared > 0.5 * min(float(np.ptp(left[:, 1])), float(np.ptp(right[:, 1]))))


def _stack(boxes: Boxes, members: list[int], unit: float) -> list[list[int]]:
    """Rows from top to bottom, each from start to end; a gap wider than those between lines begins another block."""
    rows: list[list[int]] = []
    for member in sorted(members, key=lambda i: boxes[i, 1] + boxes[i, 3]):
        if rows and _beside(boxes[rows[-1][0]], boxes[member]):
            rows[-1].append(member)
        else:
            rows.append([member])
    found = [sorted(rows[0], key=lambda i: boxes[i, 0])]
    middles = [float(np.mean(boxes[row][:, [1, 3]])) for row in rows]
    usual = float(np.median(np.diff(middles))) if len(rows) > 1 else 0.0
    for (above, row), step in zip(pairwise(rows), np.diff(middles), strict=True):
        gap = min(boxes[i, 1] for i in row) - max(boxes[i, 3] for i in above)
        ordered = sorted(row, key=lambda i: boxes[i, 0])
        if gap > 1.2 * unit or (gap > 0.3 * unit and step > 1.4 * usual):
            found.append(ordered)
        else:
            found[-1] += ordered
    return found


def _beside(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> bool:
    shared = min(a[3], b[3]) - max(a[1], b[1])
    return bool(shared > 0.5 * min(a[3] - a[1], b[3] - b[1]))


def _joined(blocks: list[list[int]], boxes: Boxes, unit: float) -> list[list[int]]:
    """Lines that span the columns and follow each other closely make one block again."""
    found: list[list[int]] = []
    for block in blocks:
        close = (
            found
            and len(block) == 1
            and all(_overlaps(boxes[i], boxes[block[0]]) for i in found[-1][-1:])
            and 0 <= boxes[block[0], 1] - boxes[found[-1][-1], 1] < 2.5 * unit
        )
        if close:
            found[-1] += block
        else:
            found.append(block)
    return found


def _overlaps(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> bool:
    return bool(min(a[2], b[2]) - max(a[0], b[0]) > 0.8 * max(a[2] - a[0], b[2] - b[0]))
