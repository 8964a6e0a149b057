"""Rows, columns and cells of one table: from its ruling lines, and from how its words line up where there are none."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

from crag.knowledge_base.rulings import Rule
from crag.knowledge_base.table_shape import Cells, Table, in_columns, is_prose, judged, lines_up
from crag.knowledge_base.table_words import NUMBER, Word, rows_of_words, runs

_SAME = 3.0
"""Rules this near to each other (points) stand at one edge."""
_LINES_TO_SPLIT = 4
_TICK = 14.0
"""Shorter lines (points) are the sides of boxes to tick."""


@dataclass(frozen=True, slots=True)
class Region:
    """Where a table may be. `closed`: its sides are what the rules enclose; otherwise `box` was found by the text."""

    across: Sequence[Rule]
    down: Sequence[Rule]
    box: tuple[float, float, float, float] | None = None

    @property
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

    def holds(self, word: Word) -> bool:
        x0, y0, x1, y1 = self.sides
        return x0 - 2 <= word.x <= x1 + 2 and y0 - 1 <= word.y <= y1 + 1


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
        cells = _aligned_cells(lines, region, grid.xs[1:-1]) or _ruled_cells(grid, words)
    else:
        cells = _aligned_cells(lines, region, [])
    return judged(cells, region.sides) if cells else None


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


# --- cells between lines ------------------------------------------------------------------------------------------


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
    return _split(cells)


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


def _split(cells: Cells) -> Cells:
    """Rows without a line between them: where (almost) all cells have as many lines, side by side, each line is a row.

    Cells of text that wraps are left alone: their numbers of lines differ.
    """
    rows: list[list[int]] = []
    content = dict(cells.content)
    fresh = 1 + max((root for row in cells.rows for root in row), default=0)
    for row in cells.rows:
        filled = [root for root in dict.fromkeys(row) if cells.content.get(root)]
        words = {word.position: root for root in filled for line in cells.content[root] for word in line}
        lines = rows_of_words([word for root in filled for line in cells.content[root] for word in line])
        if not _stacked([cells.content[root] for root in filled], len(lines)):
            rows.append(row)
            continue
        for line in lines:
            named = {root: fresh + n for n, root in enumerate(dict.fromkeys(row))}
            fresh += len(named)
            for root, name in named.items():
                own = [word for word in line if words[word.position] == root]
                if own:
                    content[name] = [own]
            rows.append([named[root] for root in row])
    return Cells(rows, content, cells.header)


def _stacked(cells: Sequence[Sequence[Sequence[Word]]], lines: int) -> bool:
    """Whether the cells of a row hold several rows of figures one below the other."""
    if lines < 2 or len(cells) < 2:
        return False
    if len(cells) == 2 and any(len(line) > 4 for cell in cells for line in cell):
        return False
    equal = sum(len(cell) == lines for cell in cells)
    figures = sum(
        sum(all(NUMBER.fullmatch(word.text) for word in line) for line in cell) * 2 > len(cell) for cell in cells
    )
    return equal >= 0.7 * len(cells) and figures * 2 >= len(cells)


# --- cells by alignment -------------------------------------------------------------------------------------------


def _aligned_cells(lines: Sequence[list[list[Word]]], region: Region, drawn: Sequence[float]) -> Cells | None:
    """Columns are where no line has words; the first band is the header where a rule ends it.

    `lines`: the lines of each band between two rules. `drawn`: columns that lines divide already; only where the
    words divide them further is there anything to find.
    """
    every = [line for band in lines for line in band]
    body = [line for band in lines[1:] for line in band]
    sample = body if len(body) >= 3 else every
    found = gutters(sample)
    size = median(word.size for line in every for word in line) if every else 1.0
    cuts = sorted([*drawn, *(cut for cut in found if all(abs(cut - x) > size for x in drawn))])
    ruled = len(lines) >= _LINES_TO_SPLIT and len(lines) * 2 > len(every)
    if len(cuts) == len(drawn) or not _may_stand(lines, sample, cuts, ruled, bool(drawn)):
        return None
    edges = [-1e9, *cuts, 1e9]
    header = len(lines) > 1 and len(lines[0]) <= 4 and not _is_data(lines[0])
    x0, _, x1, _ = region.sides
    short = [] if drawn else [rule for rule in region.across if rule.end - rule.start < 0.9 * (x1 - x0)]
    rows: list[list[int]] = []
    content: dict[int, list[list[Word]]] = {}
    for number, band in enumerate(lines):
        top = number == 0 and header
        for group in [band] if top or (ruled and not _is_data(band)) else _row_groups(band, edges):
            start = len(rows) * (len(edges) - 1)
            for line in group:
                spans = len(rows) < 2 and (len(band) > 1 or bool(drawn))
                _place(line, edges, start, content, short if top else (), drawn, spans)
            rows.append(list(range(start, start + len(edges) - 1)))
    return _split(Cells(rows, content, header))


def _may_stand(
    lines: Sequence[list[list[Word]]], sample: Sequence[list[Word]], cuts: Sequence[float], ruled: bool, drawn: bool
) -> bool:
    """Whether words cut like this are a table and not prose in columns, a figure or two tables in one."""
    if len(lines) == 1 or drawn:
        return lines_up(sample, cuts)
    columns = in_columns(sample, cuts)
    if not all(columns):
        return False
    if ruled:
        return True
    crossing = sum(_crosses(run, cuts) for line in sample if len(runs(line)) > 1 for run in runs(line))
    if crossing > 0.2 * len(sample):
        return False
    first = lines[1][0]
    names = len(runs(first)) > 0.7 * (len(cuts) + 1) and not any(NUMBER.fullmatch(word.text) for word in first)
    if len(lines[0]) > 1 and names and _is_data(lines[0]):
        return False  # what stands above the column names is no part of the table
    fill = sum(map(len, columns)) / (len(columns) * len(sample))
    return fill >= 0.5 and not is_prose(columns)


def _is_data(lines: Sequence[Sequence[Word]]) -> bool:
    """Whether several lines hold long figures, as dates and sums do: no heading is written so."""
    return len(lines) > 1 and sum(bool(re.search(r"\d{4}|\d[.,]\d", w.text)) for line in lines for w in line) > 1


def _crosses(run: Sequence[Word], cuts: Sequence[float]) -> bool:
    return any(run[0].x0 + 1.5 < cut < run[-1].x1 - 1.5 for cut in cuts)


def _place(
    line: Sequence[Word],
    edges: Sequence[float],
    start: int,
    content: dict[int, list[list[Word]]],
    across: Sequence[Rule],
    drawn: Sequence[float],
    header: bool,
) -> None:
    """Puts the words of one line into the cells of a row; a heading over several columns into each of them."""
    columns: dict[int, list[Word]] = {}
    parts = runs(line)
    for run in parts:
        under = _below(run, across) or _alone(run, parts, drawn if header else ())
        x0, x1 = under or (run[0].x0 + 1.5, run[-1].x1 - 1.5)
        first, last = (bisect_right(edges, x) - 1 for x in (x0, x1))
        if first == last:
            columns.setdefault(bisect_right(edges, (x0 + x1) / 2) - 1, []).extend(run)
        elif under or (header and len(parts) > 1):
            for column in range(first, last + 1):
                columns.setdefault(column, []).extend(run)
        else:
            for word in run:
                column = first if len(parts) == 1 else bisect_right(edges, word.x) - 1
                columns.setdefault(column, []).append(word)
    for column, words in columns.items():
        content.setdefault(start + column, []).append(words)


def _alone(run: Sequence[Word], parts: Sequence[Sequence[Word]], drawn: Sequence[float]) -> tuple[float, float] | None:
    """The drawn cell around a heading that stands alone in it."""
    if not drawn:
        return None
    edges = [-1e9, *drawn, 1e9]
    place = bisect_right(edges, run[0].x0) - 1
    if sum(bisect_right(edges, part[0].x0) - 1 == place for part in parts) > 1 or place == 0:
        return None
    return edges[place] + 2, edges[place + 1] - 2


def _below(run: Sequence[Word], across: Sequence[Rule]) -> tuple[float, float] | None:
    """The extent of the short rule under a heading: what it spans."""
    for rule in across:
        x = (run[0].x0 + run[-1].x1) / 2
        near = 0 <= rule.at - run[0].y < 1.3 * run[0].size
        if near and rule.start < x < rule.end and abs((rule.start + rule.end) / 2 - x) < 0.25 * (rule.end - rule.start):
            return rule.start + 2, rule.end - 2
    return None


def gutters(lines: Sequence[Sequence[Word]]) -> list[float]:
    """Positions between columns: where (almost) none of the lines has words, and both sides are filled."""
    several = [line for line in lines if len(runs(line)) > 1]
    if len(several) < 2:
        return []
    size = median(word.size for line in several for word in line)
    wide = 1.2 if len(several) < 4 else 0.8 if len(several) < 8 else 0.5
    allowed = 0 if len(several) < 5 else max(1, len(several) // 9)
    left = min(line[0].x0 for line in several)
    counts = [0] * (int(max(line[-1].x1 for line in several) - left) + 3)
    for line in several:
        for run in runs(line, 0.4):
            for x in range(int(run[0].x0 - left), int(run[-1].x1 - left) + 1):
                counts[x] += 1
    found: list[float] = []
    start: int | None = None
    for x, count in enumerate(counts):
        if count <= allowed:
            start = x if start is None else start
        elif start is not None:
            if start > 0 and x - start >= wide * size:
                found.append(left + (start + x) / 2)
            start = None
    return _filled(found, several)


def _filled(cuts: list[float], lines: Sequence[Sequence[Word]]) -> list[float]:
    """Drops cuts beside columns that hardly any line fills."""
    while cuts:
        edges = [-1e9, *cuts, 1e9]
        counts = [0] * (len(edges) - 1)
        for line in lines:
            for column in {bisect_right(edges, word.x) - 1 for word in line}:
                counts[column] += 1
        weakest = min(range(len(counts)), key=counts.__getitem__)
        if counts[weakest] >= max(2, 0.2 * len(lines)) or counts[weakest] == len(lines):
            break
        cuts.pop(min(weakest, len(cuts) - 1))
    return cuts


def _row_groups(lines: Sequence[list[Word]], edges: Sequence[float]) -> list[list[list[Word]]]:
    """Lines that make one row: a line without its first cell and without numbers goes on with the row above."""
    groups: list[list[list[Word]]] = []
    above: set[int] = set()
    for line in lines:
        filled = {bisect_right(edges, word.x) - 1 for word in line}
        last = groups[-1][-1] if groups else None
        if last is not None and line[0].y0 - last[0].y1 < 0.6 * line[0].size and _goes_on(line, filled, above):
            groups[-1].append(line)
            above |= filled
        else:
            groups.append([line])
            above = filled
    return groups


def _goes_on(line: Sequence[Word], filled: set[int], above: set[int]) -> bool:
    if any(all(NUMBER.fullmatch(word.text) for word in run) for run in runs(line)) or len(filled) >= max(2, len(above)):
        return False
    return (0 not in filled and 0 in above) or (filled == {0} and line[0].text[0].islower())
