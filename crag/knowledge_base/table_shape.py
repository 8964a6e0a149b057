"""Whether cells make a table, where its header ends, and which words each cell of each row has."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from crag.knowledge_base.clean import is_leader
from crag.knowledge_base.table_words import NUMBER, Word

_REPEATED = 10
"""Words of a cell over several rows that are repeated in each of them."""
_FORM_CELL = 15
"""Words a cell of a form has at most, on average."""
_RTL = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_COUNT = re.compile(r"[ivxl]+|\d{1,4}")
_MARK = re.compile(r"[•●▪■◦‣·○◆➢✓□*–—-]|[(（\[]?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)）\]、．]|\(\d+\)")


@dataclass(frozen=True, slots=True)
class Cells:
    """`rows[j][i]` names the cell there, one name for a cell over several rows or columns; `content` its lines."""

    rows: list[list[int]]
    content: dict[int, list[list[Word]]]
    header: bool
    """Whether lines set the first row apart."""


@dataclass(frozen=True, slots=True)
class Table:
    """Word positions of each cell, row by row; rows of an irregular form may differ in length."""

    box: tuple[float, float, float, float]
    rows: tuple[tuple[tuple[int, ...], ...], ...]
    header: int
    """0 or 1: whether the first row names the columns."""
    caption: tuple[int, ...] = ()

    @property
    def positions(self) -> set[int]:
        return {p for row in self.rows for cell in row for p in cell} | set(self.caption)


def judged(cells: Cells, sides: tuple[float, float, float, float]) -> Table | None:
    """The table that the cells make, or None: a chart, a box, prose in columns, a list, a table of contents."""
    filled = {name for row in cells.rows for name in row if cells.content.get(name)}
    width = max((len(row) for row in cells.rows), default=0)
    if len(filled) < 4 or width < 2 or len(cells.rows) < 2:
        return None
    words = [word for name in filled for line in cells.content[name] for word in line]
    longest = max(sum(map(len, cells.content[name])) for name in filled)
    if longest > 150 and longest > 0.5 * len(words):
        return None
    per_row = [len({name for name in row if name in filled}) for row in cells.rows]
    if sum(count >= 2 for count in per_row) * 2 < len(per_row) or max(per_row) < 2:
        return None
    distinct = Counter(len(set(row)) for row in cells.rows)
    regular = 2 * sum(n for count, n in distinct.items() if count >= 0.7 * width) >= len(cells.rows)
    if sum(map(len, cells.rows)) * 0.15 > len(filled) and regular:
        return None  # a chart: a grid with labels beside it
    box = (min(w.x0 for w in words), min(w.y0 for w in words), max(w.x1 for w in words), max(w.y1 for w in words))
    table = _regular(cells, filled) if regular else _form(cells, filled)
    if table is None:
        return None
    if sum(bool(_RTL.search(word.text)) for word in words) * 2 > len(words):
        table = replace(table, rows=tuple(row[::-1] for row in table.rows))
    return replace(
        table, box=(min(box[0], sides[0]), min(box[1], sides[1]), max(box[2], sides[2]), max(box[3], sides[3]))
    )


def _flat(lines: Sequence[Sequence[Word]]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(word.position for line in lines for word in _logical(line)))


def _logical(line: Sequence[Word]) -> Sequence[Word]:
    """The words of a line as they are read: from the right in Arabic or Hebrew, figures and Latin words in between
    from the left."""
    if sum(bool(_RTL.search(word.text)) for word in line) * 2 <= len(line):
        return line
    ordered: list[Word] = []
    latin: list[Word] = []
    for word in reversed(line):
        if _RTL.search(word.text):
            ordered += [*reversed(latin), word]
            latin = []
        else:
            latin.append(word)
    return [*ordered, *reversed(latin)]


def _form(cells: Cells, filled: set[int]) -> Table | None:
    """Rows of an irregular grid: each cell once, where it begins, empty ones left out."""
    sizes = [sum(map(len, cells.content[name])) for name in filled]
    if max(sizes) > 0.25 * sum(sizes) or sum(sizes) > _FORM_CELL * len(sizes):
        return None
    seen: set[int] = set()
    rows = []
    for row in cells.rows:
        names = [name for name in dict.fromkeys(row) if name in filled and name not in seen]
        seen.update(names)
        if names:
            rows.append(tuple(_flat(cells.content[name]) for name in names))
    return Table((0, 0, 0, 0), tuple(rows), 0) if len(rows) >= 2 else None


def _regular(cells: Cells, filled: set[int]) -> Table | None:
    """Every row has every column; headings over columns and labels beside rows are repeated where they hold."""
    title: tuple[int, ...] = ()
    while len(cells.rows) > 2 and len({name for name in cells.rows[0] if name in filled}) == 1 and not title:
        name = next(name for name in cells.rows[0] if name in filled)
        title = _flat(cells.content[name])
        cells = replace(cells, rows=cells.rows[1:])
    head = _header_rows(cells, filled)
    rows: list[tuple[tuple[int, ...], ...]] = []
    if head:
        names = [
            list(dict.fromkeys(row[i] for row in cells.rows[:head] if row[i] in filled))
            for i in range(len(cells.rows[0]))
        ]
        rows.append(tuple(tuple(p for name in column for p in _flat(cells.content[name])) for column in names))
    begun: set[int] = {name for row in cells.rows[:head] for name in row}
    for row in cells.rows[head:]:
        found: list[tuple[int, ...]] = []
        for i, name in enumerate(row):
            positions = _flat(cells.content[name]) if name in filled else ()
            across = i > 0 and row[i - 1] == name
            again = name in begun and (len(positions) > _REPEATED or i * 2 > len(row))
            found.append(() if across or again else positions)
        fresh = (set(row) & filled) - begun
        begun.update(row)
        if fresh and any(found):
            rows.append(tuple(found))
    kept = [i for i in range(len(rows[0])) if any(row[i] for row in rows)]
    rows = [tuple(row[i] for i in kept) for row in rows]
    if len(rows) < 2 or len(kept) < 2:
        return None
    return Table((0, 0, 0, 0), tuple(rows), int(head > 0), title)


def _header_rows(cells: Cells, filled: set[int]) -> int:
    """How many rows name the columns: 0 where the first row is data like the others."""
    if not _is_header(cells, filled):
        return 0
    rows = 1
    while rows < min(3, len(cells.rows) - 1):
        above, row = cells.rows[rows - 1], cells.rows[rows]
        flat = [_flat(cells.content[name]) if name in filled else () for name in above]
        spans = any(a == b != () for a, b in pairwise(flat))  # a heading over columns
        hangs = any(a == b for a, b in zip(above, row, strict=True))  # a heading over two rows
        if not (spans or hangs) or len(set(above) & filled) < 2 or _numbers(cells, row, filled) > 0:
            break
        rows += 1
    return rows


def _is_header(cells: Cells, filled: set[int]) -> bool:
    first = [name for name in dict.fromkeys(cells.rows[0]) if name in filled]
    if not first or _numbers(cells, cells.rows[0], filled) > (0.5 if _years(cells, first) else 0.0):
        return False
    body = cells.rows[1:]
    if sum(_numbers(cells, row, filled) for row in body) >= 0.25 * len(body):
        return True
    bold = [word.bold for name in first for line in cells.content[name] for word in line]
    later = [
        word.bold for row in body for name in row if name in filled for line in cells.content[name] for word in line
    ]
    if all(bold) and sum(later) * 2 < len(later):
        return True
    return len(first) >= 3 and len(first) >= 0.7 * len(set(cells.rows[0]))


def _years(cells: Cells, names: Sequence[int]) -> bool:
    texts = [" ".join(word.text for line in cells.content[name] for word in line) for name in names]
    return all(re.fullmatch(r"(?:19|20)\d\d", text) for text in texts if any(char.isdigit() for char in text))


def _numbers(cells: Cells, row: Sequence[int], filled: set[int]) -> float:
    """Share of a row's filled cells, the first left out, that are figures."""
    names = [name for name in dict.fromkeys(row[1:]) if name in filled]
    figures = sum(all(NUMBER.fullmatch(word.text) for line in cells.content[name] for word in line) for name in names)
    return figures / len(names) if names else 0.0


def in_columns(lines: Sequence[Sequence[Word]], cuts: Sequence[float]) -> list[list[list[Word]]]:
    """The cells of each column, each the words of one line."""
    edges = [-1e9, *cuts, 1e9]
    columns: list[list[list[Word]]] = [[] for _ in edges[1:]]
    for line in lines:
        cells: dict[int, list[Word]] = {}
        for word in line:
            cells.setdefault(bisect_right(edges, word.x) - 1, []).append(word)
        for column, cell in cells.items():
            columns[column].append(cell)
    return columns


def _is_figure(word: Word) -> bool:
    return bool(NUMBER.fullmatch(word.text)) and not _MARK.fullmatch(word.text)


def lines_up(lines: Sequence[Sequence[Word]], cuts: Sequence[float]) -> bool:
    """Whether lines with these cuts are a table though no rule says so: short cells, well filled, with figures."""
    columns = in_columns(lines, cuts)
    if any(not column for column in columns) or is_prose(columns):
        return False
    fill = sum(map(len, columns)) / (len(columns) * len(lines))
    figures = [
        sum(len(cell) <= 3 and any(map(_is_figure, cell)) for cell in column) / len(column) for column in columns[1:]
    ]
    lengths = [sum(map(len, column)) / len(column) for column in columns]
    if max(lengths) > 7 or sum(length > 4 for length in lengths) > 1 or fill < (0.8 if len(columns) == 2 else 0.6):
        return False
    return max(figures) >= (0.7 if len(columns) == 2 else 0.5)


def is_prose(columns: Sequence[Sequence[Sequence[Word]]]) -> bool:
    """Whether columns (each its cells, each the words of one line) read as running text, a list or contents."""
    long = sum(sum(len(cell) >= 5 for cell in column) * 2 > len(column) for column in columns)
    marks = sum(bool(_MARK.fullmatch(cell[0].text)) and len(cell) == 1 for cell in columns[0])
    if long >= 2 or (long and len(columns) == 2) or marks * 2 > len(columns[0]):
        return True
    words = [word for column in columns for cell in column for word in cell]
    if sum(is_leader(word.text) and len(word.text) > 2 for word in words) * 4 > len(columns[-1]):
        return True
    counts = [cell[0].text for cell in columns[-1] if len(cell) == 1 and _COUNT.fullmatch(cell[0].text)]
    numbers = [int(text) for text in counts if text.isdigit()]
    rising = numbers == sorted(numbers) and len(set(numbers)) > 0.5 * len(numbers)
    return len(columns) <= 3 and len(counts) >= 0.9 * len(columns[-1]) and len(counts) >= 4 and rising
