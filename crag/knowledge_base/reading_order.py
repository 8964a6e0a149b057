"""Reading order: keeps the file's order where it reads well, and reorders a page by its columns where it does not.

All coordinates are those of the page's main writing direction (see `Line`): `start` to `end` along a line, `top` to
`bottom` across the lines. So columns of upright text, of pages on their side, of Arabic (from the right) and the
tiers of vertical Chinese and Japanese are all the same to the code here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from crag.knowledge_base.lines import Line

_PROSE = 20
"""Characters on an average line from which text is prose, not cells of a table; a Chinese one counts double."""
_GUTTER = 0.45
"""The least width of the white between columns, in sizes of the font."""
_NARROW = 0.62
"""A column is at most this share of the region it parts."""
_WOVEN = 3


@dataclass(slots=True)
class Part:
    """Lines of one block; its extent in the main direction."""

    lines: list[Line]
    start: float
    end: float
    top: float
    bottom: float
    chars: int
    rows: int

    @property
    def prose(self) -> bool:
        """Whether its lines are long enough for running text."""
        return self.chars >= _PROSE * self.rows


def ordered(lines: Sequence[Line]) -> tuple[list[Line], int]:
    """The page's lines in reading order, blocks numbered in that order, and how many columns stand side by side."""
    if not lines:
        return [], 1
    weights: Counter[tuple[int, int]] = Counter()
    for line in lines:
        weights[line.direction] += line.chars
    main = weights.most_common(1)[0][0]
    followers: dict[int, list[Line]] = {}
    upright: list[Line] = []
    for line in lines:
        if line.direction == main:
            upright.append(line)
        else:
            followers.setdefault(len(upright), []).append(line)
    after = {id(upright[count - 1]): others for count, others in followers.items() if count}
    parts = _parts(_unwoven(upright))
    found, columns = _cut(list(range(len(parts))), parts)
    file_order = list(range(len(parts)))
    size = sorted(line.size for line in upright)[len(upright) // 2]
    order = found if _jumps(found, parts, size) < _jumps(file_order, parts, size) else file_order
    result = list(followers.get(0, ()))
    for position in order:
        for line in parts[position].lines:
            result.append(line)
            result += after.get(id(line), ())
    return _renumbered(result), columns


def _renumbered(lines: Sequence[Line]) -> list[Line]:
    """Blocks that were parted by another one get numbers of their own; negative ones, which stand alone, stay so."""
    number = -1
    for block, group in groupby(lines, key=lambda line: line.block):
        number += 1
        for line in group:
            line.block = number if block >= 0 else -1 - number
    return list(lines)


def _tables_whole(lines: Sequence[Line]) -> list[Line]:
    """The lines of a table follow its first one: it is read as a whole, whatever stands between them in the file."""
    tables: dict[int, list[Line]] = {}
    for line in lines:
        if line.table >= 0:
            tables.setdefault(line.table, []).append(line)
    result: list[Line] = []
    for line in lines:
        result += [line] if line.table < 0 else tables.pop(line.table, [])
    return result


def _parts(lines: Sequence[Line]) -> list[Part]:
    parts = []
    for _, group in groupby(_tables_whole(lines), key=lambda line: (line.table, line.block if line.table < 0 else 0)):
        found = list(group)
        extent = (
            min(line.start for line in found),
            max(line.end for line in found),
            min(line.top for line in found),
            max(line.bottom for line in found),
            sum(line.chars for line in found),
            len({round(line.top / 4) for line in found}),
        )
        parts.append(Part(found, *extent))
    return parts


def _jumps(order: Sequence[int], parts: Sequence[Part], size: float) -> float:
    """How often the eye jumps against the way of reading: back up in a column, or to and fro between columns."""
    jumps = 0.0
    for i, j in pairwise(order):
        a, b = parts[i], parts[j]
        weight = min(1.0, min(a.chars, b.chars) / _PROSE)
        beside = b.start >= a.end - size
        if b.bottom <= a.top + 0.5 * size and not beside:
            jumps += weight  # up, although not to a column further on
        elif b.end <= a.start + size and b.top < a.bottom - 0.5 * size:
            jumps += weight  # back along the same rows
        elif (beside or b.end <= a.start + size) and a.prose and b.prose:
            jumps += 0.4 * weight  # between columns: as rarely as the page allows
    return jumps


# --- columns ----------------------------------------------------------------------------------------------------


def _cut(ids: list[int], parts: Sequence[Part]) -> tuple[list[int], int]:
    """The parts in reading order by recursive cuts, and the largest number of columns side by side."""
    if len(ids) < 2:
        return ids, 1
    gutter = _gutter(ids, parts)
    if gutter is None:
        bands = _bands(ids, parts)
        if len(bands) == 1:
            return _by_rows(ids, parts), 1
        cut = [_cut(band, parts) for band in bands]
        return [i for found, _ in cut for i in found], max(columns for _, columns in cut)
    left, right, across = gutter
    across.sort(key=lambda i: parts[i].top)
    order: list[int] = []
    columns = 1
    waiting = {i: (parts[i].top + parts[i].bottom) / 2 for i in (*left, *right)}
    for stop in (*across, None):
        limit = parts[stop].top + 0.5 * (parts[stop].bottom - parts[stop].top) if stop is not None else float("inf")
        band = {i for i, middle in waiting.items() if middle < limit}
        counts = 0
        for side in (left, right):
            found, count = _cut([i for i in side if i in band], parts)
            order += found
            counts += count if found else 0
        columns = max(columns, counts)
        for i in band:
            del waiting[i]
        if stop is not None:
            order.append(stop)
    return order, columns


def _gutter(ids: Sequence[int], parts: Sequence[Part]) -> tuple[list[int], list[int], list[int]] | None:
    """Parts left and right of the widest white that runs between columns, and those across it; None without one."""
    start, end = min(parts[i].start for i in ids), max(parts[i].end for i in ids)
    narrow = sorted(
        (i for i in ids if parts[i].end - parts[i].start <= _NARROW * (end - start)), key=lambda i: parts[i].start
    )
    size = min((line.size for i in narrow for line in parts[i].lines), default=1.0)
    best: tuple[float, list[int], list[int], list[int]] | None = None
    reach = float("-inf")
    for position, i in enumerate(narrow):
        white = parts[i].start - reach
        if position and white >= _GUTTER * size and (best is None or white > best[0]):
            middle = reach + white / 2
            left, right = narrow[:position], narrow[position:]
            if _are_columns(left, right, parts):
                across = [k for k in ids if parts[k].start < middle < parts[k].end]
                rest = [k for k in ids if k not in across]
                sides = ([k for k in rest if parts[k].end <= middle], [k for k in rest if parts[k].end > middle])
                best = (white, *sides, across)
        reach = max(reach, parts[i].end)
    return best[1:] if best else None


def _are_columns(left: Sequence[int], right: Sequence[int], parts: Sequence[Part]) -> bool:
    """Whether both sides are running text side by side, not cells of a table."""
    for side in (left, right):
        rows = sum(parts[i].rows for i in side)
        if rows < 3 or sum(parts[i].chars for i in side) < 0.6 * _PROSE * rows:
            return False
    top = max(min(parts[i].top for i in side) for side in (left, right))
    bottom = min(max(parts[i].bottom for i in side) for side in (left, right))
    if bottom <= top:
        return False
    prose = all(
        sum(parts[i].chars for i in side if parts[i].prose) * 2 > sum(parts[i].chars for i in side)
        for side in (left, right)
    )
    return prose or not _are_rows(left, right, parts)


def _are_rows(left: Sequence[int], right: Sequence[int], parts: Sequence[Part]) -> bool:
    """Whether most parts on the left have one of the same height beside them: labels and their values."""
    tops = {round(parts[i].top / 3) + shift for i in right for shift in (-1, 0, 1)}
    return sum(round(parts[i].top / 3) in tops for i in left) > 0.6 * min(len(left), len(right))


def _bands(ids: Sequence[int], parts: Sequence[Part]) -> list[list[int]]:
    """Parts in bands with white between them, from the top."""
    bands: list[list[int]] = []
    reach = float("-inf")
    for i in sorted(ids, key=lambda i: parts[i].top):
        if bands and parts[i].top < reach - 1:
            bands[-1].append(i)
        else:
            bands.append([i])
        reach = max(reach, parts[i].bottom)
    return bands


def _by_rows(ids: Sequence[int], parts: Sequence[Part]) -> list[int]:
    """Rows from the top, each along the line; what stands side by side is a row where the middles agree."""
    rows: list[list[int]] = []
    for i in sorted(ids, key=lambda i: parts[i].top):
        middle = (parts[i].top + parts[i].bottom) / 2
        first = parts[rows[-1][0]] if rows else None
        if first is not None and first.top <= middle <= first.bottom:
            rows[-1].append(i)
        else:
            rows.append([i])
    return [i for row in rows for i in sorted(row, key=lambda i: parts[i].start)]


# --- lines written across the columns ---------------------------------------------------------------------------


def _unwoven(lines: Sequence[Line]) -> list[Line]:
    """Parts prose that the file writes row by row across columns: left line, right line, next row."""
    pairs = [(a, b) for a, b in pairwise(lines) if max(a.table, b.table) < 0 and _side_by_side(a, b)]
    gutters: list[list[tuple[Line, Line]]] = []
    for a, b in pairs:
        for gutter in gutters:
            if max(x.end for x, _ in (*gutter, (a, b))) < min(y.start for _, y in (*gutter, (a, b))):
                gutter.append((a, b))
                break
        else:
            gutters.append([(a, b)])
    gutters = [gutter for gutter in gutters if len(gutter) >= _WOVEN and _fills(gutter)]
    if not gutters:
        return list(lines)
    whites = sorted((max(a.end for a, _ in g) + min(b.start for _, b in g)) / 2 for g in gutters)
    top = min(line.top for g in gutters for pair in g for line in pair)
    bottom = max(line.bottom for g in gutters for pair in g for line in pair)
    return _regrouped(lines, _side_of(whites, top, bottom))


def _side_by_side(a: Line, b: Line) -> bool:
    """Whether two lines that follow each other in the file are prose on one height in two columns."""
    shared = min(a.bottom, b.bottom) - max(a.top, b.top)
    level = shared > 0.5 * min(a.bottom - a.top, b.bottom - b.top)
    return level and b.start - a.end > 0.7 * a.size and min(a.chars, b.chars) >= 0.6 * _PROSE


def _fills(gutter: Sequence[tuple[Line, Line]]) -> bool:
    """Whether the lines left of the white reach to it, as running text does and the cells of a table do not."""
    for side in (0, 1):
        widths = [pair[side].end - pair[side].start for pair in gutter]
        chars = sum(pair[side].chars for pair in gutter)
        if sum(width > 0.75 * max(widths) for width in widths) < 0.6 * len(widths) or chars < _PROSE * len(gutter):
            return False
    return True


def _side_of(whites: Sequence[float], top: float, bottom: float) -> Callable[[Line], int | None]:
    def side(line: Line) -> int | None:
        if line.bottom < top or line.top > bottom:
            return None
        if any(line.start < white < line.end for white in whites):
            return None
        return sum(line.start > white for white in whites)

    return side


def _regrouped(lines: Sequence[Line], side: Callable[[Line], int | None]) -> list[Line]:
    """Runs of lines between two lines that cross the columns, column by column, each a block of its own."""
    found: list[Line] = []
    number = 0
    for inside, group in groupby(lines, key=lambda line: side(line) is not None):
        run = list(group)
        if inside:
            run.sort(key=lambda line: side(line) or 0)
        for _, block in groupby(run, key=lambda line: side(line) if inside else line.block):
            number += 1
            found += [replace(line, block=number if line.block >= 0 else line.block) for line in block]
    return found
