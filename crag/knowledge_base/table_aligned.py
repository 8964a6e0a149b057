"""Cells by alignment: columns are where no line of a region has words, rows are its lines."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from statistics import median

import numpy as np

from crag.knowledge_base.rulings import Rule
from crag.knowledge_base.table_shape import Cells, in_columns, is_prose, lines_up
from crag.knowledge_base.table_words import NUMBER, Region, Word, rows_of_words, runs

_LINES_TO_SPLIT = 4


def aligned_cells(lines: Sequence[list[list[Word]]], region: Region, drawn: Sequence[float]) -> Cells | None:
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
    return split_rows(Cells(rows, content, header))


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
    counts = np.zeros(int(max(line[-1].x1 for line in several) - left) + 3, np.int32)
    for line in several:
        for run in runs(line, 0.4):
            counts[int(run[0].x0 - left) : int(run[-1].x1 - left) + 1] += 1
    found: list[float] = []
    start: int | None = None
    for x, count in enumerate(counts.tolist()):
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


def split_rows(cells: Cells) -> Cells:
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
