"""Lines of a page: cleaned words with their boxes, printed copies left out, vertical writing put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from statistics import median

import numpy as np
import numpy.typing as npt

from crag.knowledge_base.clean import clean_word, is_leader, is_unspaced
from crag.knowledge_base.pdf_loader import RawPage
from crag.knowledge_base.right_to_left import is_right_to_left

Boxes = npt.NDArray[np.float32]
_SPACED_OUT = 4
_STACKED = 8


@dataclass(slots=True)
class Line:
    """Cleaned words of one line; the extent is measured along and across the writing direction, in points.

    `start` < `end` along the reading, `top` < `bottom` from line to line: text from the right starts at its right.
    """

    words: list[str]
    boxes: Boxes
    block: int
    size: float
    bold: bool
    direction: tuple[int, int]
    """(1, 0) from the left, (-1, 0) upside down, (0, 1) downwards, (0, -1) upwards, in the unrotated page."""
    rtl: bool
    start: float
    end: float
    top: float
    bottom: float
    chars: int
    """Its length in Latin characters: a Chinese one says as much as two."""
    table: int = -1
    """Which of the page's tables it is part of; -1: none."""


def extent(box: Sequence[float], direction: tuple[int, int], rtl: bool) -> tuple[float, float, float, float]:
    """Start, end, top and bottom of a box (x0, y0, x1, y1) as text of this direction sees it."""
    x0, y0, x1, y1 = box
    dx, dy = direction
    if dx < 0:
        return -x1, -x0, -y1, -y0
    if dy > 0:
        return y0, y1, -x1, -x0
    if dy < 0:
        return -y1, -y0, x0, x1
    return (-x1, -x0, y0, y1) if rtl else (x0, x1, y0, y1)


def make_line(
    words: list[str],
    boxes: Boxes,
    block: int,
    size: float,
    bold: bool,
    direction: tuple[int, int],
    rtl: bool,
    laid: Boxes | None = None,
) -> Line:
    """A line over its words' boxes; `size` 0 takes its height. `laid` are the boxes as on a page that lies straight."""
    places = boxes if laid is None else laid
    x0, y0, x1, y1 = zip(*places.tolist(), strict=True)
    start, end, top, bottom = extent((min(x0), min(y0), max(x1), max(y1)), direction, rtl)
    chars = sum(map(_width, words))
    size = max(size or bottom - top, 1.0)
    return Line(words, boxes, block, size, bold, direction, rtl, start, end, top, bottom, chars)


def _width(word: str) -> int:
    return len(word) if word.isascii() else len(word) + sum(map(is_unspaced, word))


def lines_of(page: RawPage) -> list[Line]:
    """The page's lines in file order; words printed twice at one place (fake bold) are kept once."""
    cleaned = [clean_word(word) for word in page.words]
    straight = page.boxes if page.straight is None else page.straight
    copies = _copies(cleaned, straight)
    rtl = is_right_to_left("".join(page.words))
    lines = []
    for raw in page.lines:
        if raw.unmapped:
            continue
        kept: list[int] = []
        for position in range(raw.start, raw.end):
            word = cleaned[position]
            repeated = bool(kept) and cleaned[kept[-1]] == word and is_leader(word)
            if word and position not in copies and not repeated:
                kept.append(position)
        if kept:
            words, boxes = _drawn_together([cleaned[i] for i in kept], page.boxes[kept], raw.size)
            dx, dy = (round(part) for part in raw.direction)
            line = make_line(words, boxes, raw.block, raw.size, raw.bold, (dx, dy), rtl, straight[kept])
            line.table = raw.table
            lines.append(line)
    return _vertical(lines)


# --- printed twice ----------------------------------------------------------------------------------------------


def _copies(words: Sequence[str], boxes: Boxes) -> set[int]:
    """Positions of words that another one already shows at the same place: fake bold, shadows, whole and in parts."""
    copies: set[int] = set()
    if len(words) < 2:
        return copies
    middle = (boxes[:, 1] + boxes[:, 3]) / 2
    for shift in (0.0, 0.5):
        keys = np.floor(middle / 8 + shift)
        order = np.lexsort((boxes[:, 0], keys))
        a, b = order[:-1], order[1:]
        width = np.minimum(boxes[a, 2] - boxes[a, 0], boxes[b, 2] - boxes[b, 0])
        overlap = np.minimum(boxes[a, 2], boxes[b, 2]) - boxes[b, 0]
        touching = (keys[a] == keys[b]) & (overlap > 0.4 * width)
        crowded = np.isin(keys[order], keys[a[touching]])
        for _, row in groupby(order[crowded].tolist(), key=lambda i: float(keys[i])):
            _mark_copies(list(row), words, boxes, copies)
    return copies


def _mark_copies(row: Sequence[int], words: Sequence[str], boxes: Boxes, copies: set[int]) -> None:
    """Of words on one height, in file order where equal, the longest reading of a place stays."""
    ranked = sorted((i for i in row if words[i] and i not in copies), key=lambda i: (-len(words[i]), i))
    kept: list[int] = []
    for i in ranked:
        if any(_shows(k, i, words, boxes) for k in kept):
            copies.add(i)
        else:
            kept.append(i)


def _shows(whole: int, part: int, words: Sequence[str], boxes: Boxes) -> bool:
    """Whether the word `whole` already shows the word `part` at its place."""
    long, short = words[whole], words[part]
    if short not in long:
        return False
    x0, y0, x1, y1 = (float(v) for v in boxes[whole])
    a0, b0, a1, b1 = (float(v) for v in boxes[part])
    width, height = max(x1 - x0, 0.1), max(y1 - y0, 0.1)
    if abs(b0 - y0) > 0.4 * height or abs(b1 - y1) > 0.4 * height:
        return False
    if long == short:
        return abs(a0 - x0) < 0.4 * width and abs(a1 - x1) < 0.4 * width
    at = long.find(short)
    while at >= 0:
        for measure in (_width, len):  # proportional letters, or all as wide as a Chinese one
            each = width / measure(long)
            left, right = x0 + measure(long[:at]) * each, x0 + measure(long[: at + len(short)]) * each
            if abs(left - a0) < 2 * each and abs(right - a1) < 2 * each:
                return True
        at = long.find(short, at + 1)
    return False


def _drawn_together(words: list[str], boxes: Boxes, size: float) -> tuple[list[str], Boxes]:
    """Letters set apart for effect ("C H A P T E R") become the word they spell; a wider gap still parts words."""
    runs: list[list[int]] = []
    for position, word in enumerate(words):
        letter = len(word) == 1 and word.isalpha() and word.isupper()
        if letter and runs and runs[-1][-1] == position - 1:
            runs[-1].append(position)
        elif letter:
            runs.append([position])
    alone = len(runs) == 1 and len(runs[0]) == len(words)  # a line of nothing else
    runs = [run for run in runs if len(run) >= (3 if alone else _SPACED_OUT)]
    if not runs:
        return words, boxes
    joined: set[int] = set()  # positions drawn to the word before them
    for run in runs:
        gaps = {b: float(boxes[b, 0] - boxes[a, 2]) for a, b in pairwise(run)}
        usual = median(gaps.values())
        joined |= {b for b, gap in gaps.items() if 0 < usual < 1.5 * size and gap <= 1.6 * usual}
    texts: list[str] = []
    areas: list[Boxes] = []
    for position, word in enumerate(words):
        if position in joined:
            texts[-1] += word
            areas[-1] = np.concatenate(
                (np.minimum(areas[-1][:2], boxes[position, :2]), np.maximum(areas[-1][2:], boxes[position, 2:]))
            )
        else:
            texts.append(word)
            areas.append(boxes[position])
    return texts, np.array(areas, np.float32)


# --- vertical writing -------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Glyph:
    word: str
    box: Boxes
    line: Line

    @property
    def middle(self) -> float:
        return float(self.box[0] + self.box[2]) / 2


def _vertical(lines: list[Line]) -> list[Line]:
    """Columns of Chinese or Japanese written downwards, as lines of that direction; other lines stay as they are.

    Files place each character by itself, so direction and order of the file say little: a column is what stands
    below each other.
    """
    if not _is_vertical(lines):
        return lines
    glyphs = _glyphs([line for line in lines if _is_glyph(line)])
    size = median(glyph.line.size for glyph in glyphs)
    columns: list[list[_Glyph]] = []
    for glyph in sorted(glyphs, key=lambda glyph: -glyph.middle):
        if columns and columns[-1][-1].middle - glyph.middle < 0.3 * size:
            columns[-1].append(glyph)
        else:
            columns.append([glyph])
    found = [line for line in lines if not _is_glyph(line)]
    columns_found: list[Line] = []
    block = max(line.block for line in lines)
    tiers = _whites(glyphs, size)
    for run in (run for column in columns for run in _runs(column, size, tiers)):
        alone = len(run) == 1 and not 0.85 < run[0].line.size / size < 1.15  # of a title across the page
        block += 1
        if alone or (len(run) == 1 and run[0].line.direction == (1, 0)):
            found.append(replace(run[0].line, block=block, direction=(1, 0)))
            continue
        boxes = np.array([glyph.box for glyph in run], np.float32)
        first = run[0].line
        columns_found.append(make_line([g.word for g in run], boxes, block, first.size, first.bold, (0, 1), False))
    return found + columns_found


def _glyphs(lines: Sequence[Line]) -> list[_Glyph]:
    """Their characters. Where most are merely placed below each other, the few signs that are turned (brackets,
    stops) have boxes that MuPDF puts three quarters of their size too low."""
    placed = any(line.direction == (1, 0) and is_unspaced(line.words[0][0]) for line in lines)
    found = []
    for line in lines:
        low = 0.75 * line.size if placed and line.direction == (0, 1) else 0.0
        boxes = line.boxes - np.array([0, low, 0, low], np.float32)
        found += [_Glyph(word, box, line) for word, box in zip(line.words, boxes, strict=True)]
    return found


def _whites(glyphs: Sequence[_Glyph], size: float) -> list[float]:
    """Heights at which no column has a character: between the tiers of the page."""
    whites: list[float] = []
    reach = float("inf")
    for top, bottom in sorted((float(glyph.box[1]), float(glyph.box[3])) for glyph in glyphs):
        if top - reach > 0.4 * size:
            whites.append((top + reach) / 2)
        reach = bottom if reach == float("inf") else max(reach, bottom)
    return whites


def _is_glyph(line: Line) -> bool:
    """Whether the line's words may be parts of a vertical column."""
    return line.direction == (0, 1) or (line.direction == (1, 0) and len(line.words) == 1 and len(line.words[0]) <= 2)


def _is_vertical(lines: Sequence[Line]) -> bool:
    downwards = sum(line.chars for line in lines if line.direction == (0, 1) and is_unspaced(line.words[0][0]))
    stacked = 0
    for a, b in pairwise(lines):
        lone = all(len(x.words) == 1 == len(x.words[0]) and is_unspaced(x.words[0]) for x in (a, b))
        if lone and a.direction == b.direction == (1, 0) and abs(a.start - b.start) < 0.3 * a.size:
            stacked += 0.5 * a.size < b.top - a.top < 2 * a.size
    total = sum(line.chars for line in lines)
    return (downwards > 0.5 * total or 2 * stacked + downwards > 0.5 * total) and (downwards or stacked >= _STACKED) > 0


def _runs(column: list[_Glyph], size: float, tiers: Sequence[float]) -> list[list[_Glyph]]:
    """A column's characters from the top, parted between tiers and where a gap is wider than a character."""
    runs: list[list[_Glyph]] = []
    for glyph in sorted(column, key=lambda glyph: float(glyph.box[1])):
        top, reach = float(glyph.box[1]), float(runs[-1][-1].box[3]) if runs else 0.0
        if runs and top - reach < 1.2 * size and not any(reach < white < top for white in tiers):
            runs[-1].append(glyph)
        else:
            runs.append([glyph])
    return runs
