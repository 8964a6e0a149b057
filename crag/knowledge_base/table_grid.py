"""The table in a region of a page: cells are what its ruling lines enclose, or what lines up where there are few."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from crag.knowledge_base.rulings import Rule
from crag.knowledge_base.table_aligned import aligned_cells, split_rows
from crag.knowledge_base.table_shape import Cells, Table, judged
from crag.knowledge_base.table_words import Region, Word, rows_of_words

_SAME = 3.0
"""Rules this near to each other (points) stand at one edge."""
_TICK = 14.0
"""Shorter lines (points) are the sides of boxes to tick."""


@dataclass(slots=True)
class Grid:
    """Edges of rows and columns; `right[j][i]` / `below[j][i]`: whether a line stands there."""

    xs: list[float]
    ys: list[float]
    right: list[list[bool]] = field(default_factory=list)
    below: list[list[bool]] = field(default_factory=list)

    def column(self, x: float) -> int:
        return min(max(bisect_right(self.xs, x) - 1, 0), len(self.xs) - 2)

    def band(self, y: float) -> int:
        return min(max(bisect_right(self.ys, y) - 1, 0), len(self.ys) - 2)


def table_in(region: Region, words: Sequence[Word]) -> Table | None:
    """The table in a region, or None where what stands there is none (a box, a form, a chart, prose)."""
    if len(words) < 4:
        return None
    grid = _grid(region)
    if len(grid.xs) < 2 or len(grid.ys) < 2:
        return None
    bands: list[list[Word]] = [[] for _ in grid.ys[1:]]
    for word in words:
        bands[grid.band(word.y)].append(word)
    lines = [rows for band in bands if (rows := rows_of_words(band))]
    if len(grid.xs) > 2 and _drawn(grid):
        cells = aligned_cells(lines, region, grid.xs[1:-1]) or _ruled_cells(grid, words)
    else:
        cells = aligned_cells(lines, region, [])
    return judged(cells, region.sides) if cells else None


def ruled_cells_in(region: Region, words: Sequence[Word]) -> Cells | None:
    """What the lines of a region enclose, whatever it makes; None where they enclose nothing."""
    grid = _grid(region)
    if len(grid.xs) < 3 or len(grid.ys) < 3:
        return None
    return _ruled_cells(grid, words)


def _grid(region: Region) -> Grid:
    x0, y0, x1, y1 = region.sides
    xs = _levels([x0, x1, *(rule.at for rule in region.down)])
    ys = _levels([y0, y1, *(rule.at for rule in region.across if not _partial(rule, region))])
    grid = Grid(xs, ys)
    down, across = _by_edge(region.down, xs), _by_edge(region.across, ys)
    for j in range(len(ys) - 1):
        grid.right.append([_covers(down[i + 1], ys[j], ys[j + 1]) for i in range(len(xs) - 1)])
        grid.below.append([_covers(across[j + 1], xs[i], xs[i + 1]) for i in range(len(xs) - 1)])
    return grid


def _partial(rule: Rule, region: Region) -> bool:
    """A rule below some cells of a header does not end a row where nothing but rules across divides the table."""
    x0, _, x1, _ = region.sides
    if rule.end - rule.start < _TICK:
        return True
    return not region.down and rule.end - rule.start < 0.9 * (x1 - x0)


def _levels(values: Sequence[float]) -> list[float]:
    levels: list[float] = []
    for value in sorted(values):
        if not levels or value - levels[-1] > _SAME:
            levels.append(value)
    return levels


def _by_edge(rules: Sequence[Rule], edges: Sequence[float]) -> list[list[Rule]]:
    found: list[list[Rule]] = [[] for _ in edges]
    for rule in rules:
        nearest = min(range(len(edges)), key=lambda i: abs(edges[i] - rule.at))
        if abs(edges[nearest] - rule.at) <= 2 * _SAME:
            found[nearest].append(rule)
    return found


def _covers(rules: Sequence[Rule], start: float, end: float) -> bool:
    return sum(max(0.0, min(rule.end, end) - max(rule.start, start)) for rule in rules) > 0.5 * (end - start)


def _drawn(grid: Grid) -> bool:
    """Whether lines divide the columns in most bands."""
    inner = [any(line[:-1]) for line in grid.right]
    return sum(inner) * 2 >= len(inner)


def _ruled_cells(grid: Grid, words: Sequence[Word]) -> Cells | None:
    """Cells are what lines enclose; cells without a line between them are one."""
    columns, bands = len(grid.xs) - 1, len(grid.ys) - 1
    root = list(range(columns * bands))

    def find(cell: int) -> int:
        while root[cell] != cell:
            cell = root[cell]
        return cell

    for j in range(bands):
        for i in range(columns):
            cell = j * columns + i
            if i + 1 < columns and not grid.right[j][i]:
                root[find(cell + 1)] = find(cell)
            if j + 1 < bands and not grid.below[j][i]:
                a, b = find(cell), find(cell + columns)
                root[max(a, b)] = min(a, b)
    content: dict[int, list[Word]] = {}
    for word in words:
        content.setdefault(find(grid.band(word.y) * columns + grid.column(word.x)), []).append(word)
    roots = [[find(j * columns + i) for i in range(columns)] for j in range(bands)]
    cells = _without_empty(roots, content)
    return split_rows(cells)


def _without_empty(roots: list[list[int]], content: dict[int, list[Word]]) -> Cells:
    """Leaves out columns and rows that never begin a filled cell: edges that only divide other rows."""
    rows = [
        row
        for j, row in enumerate(roots)
        if any(c in content and not (j and roots[j - 1][i] == c) for i, c in enumerate(row))
    ]
    kept = [
        i for i in range(len(roots[0])) if any(row[i] in content and not (i and row[i - 1] == row[i]) for row in rows)
    ]
    spans = [[row[i] for i in kept] for row in rows]
    return Cells(spans, {root: rows_of_words(found) for root, found in content.items()}, True)
