"""Tables of MinerU: their HTML becomes rows of cells, and each cell gets its place on the page.

MinerU gives one box for a whole table. Cells whose text stands in the file's own text layer take the boxes of its
words; the others are placed between them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from statistics import median
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crag.knowledge_base.table_words import NUMBER

Box = tuple[float, float, float, float]
_MOST_CELLS = 20_000
_MOST_SPAN = 1000


class Placed(NamedTuple):
    """A word and where it stands."""

    text: str
    box: Box


@dataclass(slots=True)
class Cell:
    """A cell of the HTML: its text, the rows and columns that it covers, and its words once they are placed."""

    text: str
    row: int
    column: int
    rows: int = 1
    columns: int = 1
    words: list[Placed] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Grid:
    """`cells[r][c]` is the cell that covers this place, the same object for each place of a wide one."""

    cells: list[list[Cell | None]]
    header: int
    """1 if the first row names the columns, else 0."""

    @property
    def all(self) -> list[Cell]:
        return list({id(cell): cell for row in self.cells for cell in row if cell}.values())


def squashed(text: str) -> str:
    """Text without what tells words and forms of characters apart."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def grid_of(html: str) -> Grid | None:
    """The cells of an HTML table; None where there are none, or far too many."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    if not reader.rows or sum(map(len, reader.rows)) > _MOST_CELLS:
        return None
    places: dict[tuple[int, int], Cell] = {}
    headed = False
    for number, row in enumerate(reader.rows):
        column = 0
        for text, rows, columns, is_name in row:
            while (number, column) in places:
                column += 1
            cell = Cell(text, number, column, min(rows, len(reader.rows) - number), columns)
            headed |= is_name and number == 0
            for r in range(number, number + cell.rows):
                for c in range(column, column + columns):
                    places.setdefault((r, c), cell)
            column += columns
            if len(places) > _MOST_CELLS:
                return None
    width = 1 + max((c for _, c in places), default=-1)
    if width < 1:
        return None
    cells = [[places.get((r, c)) for c in range(width)] for r in range(len(reader.rows))]
    return Grid(cells, int(headed or _names_columns(cells)))


def _names_columns(cells: Sequence[Sequence[Cell | None]]) -> bool:
    """MinerU marks no header: a first row without numbers and without gaps above others is one."""
    first = [cell.text if cell else "" for cell in cells[0]]
    return len(cells) > 1 and len(first) > 1 and all(first) and not any(NUMBER.fullmatch(text) for text in first)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[tuple[str, int, int, bool]]] = []
        self._open: tuple[int, int, bool] | None = None
        self._text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._end_cell()
            self.rows.append([])
        elif tag in ("td", "th"):
            self._end_cell()
            given = dict(attrs)
            self._open = (_span(given.get("rowspan")), _span(given.get("colspan")), tag == "th")
        elif tag == "br":
            self._text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._end_cell()

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._text.append(data)

    def close(self) -> None:
        super().close()
        self._end_cell()

    def _end_cell(self) -> None:
        if self._open is not None:
            if not self.rows:
                self.rows.append([])
            rows, columns, is_name = self._open
            self.rows[-1].append((" ".join("".join(self._text).split()), rows, columns, is_name))
        self._open, self._text = None, []


def _span(value: str | None) -> int:
    return min(_MOST_SPAN, max(1, int(value))) if value and value.isascii() and value.isdigit() else 1


# --- places -----------------------------------------------------------------------------------------------------


def place(grid: Grid, box: Box, layer: Sequence[Placed]) -> None:
    """Gives the cells their words. `box` is the table's, `layer` the words of the text layer in it, in their order;
    both as the page is displayed."""
    spots = _Spots(layer)
    cells = [cell for cell in grid.all if cell.text]
    found = {id(cell): spots.of(cell.text) for cell in cells}
    sure = [cell for cell in cells if len(found[id(cell)]) == 1]
    taken: set[int] = set()
    for cell in sure:
        _take(cell, layer, found[id(cell)][0], taken)
    rows, columns = len(grid.cells), len(grid.cells[0])
    down = _edges(rows, box[1], box[3], [(c.row, c.rows, 1, c) for c in sure if c.words])
    across = _edges(columns, box[0], box[2], [(c.column, c.columns, 0, c) for c in sure if c.words])
    for cell in cells:
        if cell.words:
            continue
        here = (across[cell.column], down[cell.row], across[cell.column + cell.columns], down[cell.row + cell.rows])
        free = [spot for spot in found[id(cell)] if not taken & set(range(*spot))]
        near = min(free, key=lambda spot: _far(_around(layer[slice(*spot)]), here), default=None)
        if near is not None:
            _take(cell, layer, near, taken)
        else:
            cell.words = sliced(cell.text, _inset(here))


class _Spots:
    """Where texts stand in the text layer, as stretches of whole words."""

    def __init__(self, layer: Sequence[Placed]) -> None:
        self._starts: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        parts, end = [], 0
        for number, word in enumerate(layer):
            part = squashed(word.text)
            if part:
                self._starts[end] = number
                end += len(part)
                self._ends[end] = number + 1
                parts.append(part)
        self._text = "".join(parts)

    def of(self, text: str) -> list[tuple[int, int]]:
        """[start, end) of the layer's words that spell `text`."""
        wanted, found = squashed(text), []
        at = self._text.find(wanted) if wanted else -1
        while at >= 0:
            start, end = self._starts.get(at), self._ends.get(at + len(wanted))
            if start is not None and end is not None:
                found.append((start, end))
            at = self._text.find(wanted, at + 1)
        return found


def _take(cell: Cell, layer: Sequence[Placed], spot: tuple[int, int], taken: set[int]) -> None:
    if not taken & set(range(*spot)):
        cell.words = list(layer[slice(*spot)])
        taken.update(range(*spot))


def _edges(count: int, start: float, end: float, known: Sequence[tuple[int, int, int, Cell]]) -> list[float]:
    """The borders of `count` rows or columns from `start` to `end`: half way between the middles of those whose words
    are placed, the others spread evenly between them."""
    middles: dict[int, list[float]] = {}
    for first, span, axis, cell in known:
        if span == 1:
            middles.setdefault(first, []).append(median((w.box[axis] + w.box[axis + 2]) / 2 for w in cell.words))
    places, values = [-0.5], [start]
    for number, found in sorted(middles.items()):
        if values[-1] < median(found) < end:
            places.append(number)
            values.append(median(found))
    places.append(count - 0.5)
    values.append(end)
    return [float(np.interp(number - 0.5, places, values)) for number in range(count + 1)]


def _around(words: Sequence[Placed]) -> Box:
    boxes = np.array([word.box for word in words])
    x0, y0 = boxes[:, :2].min(axis=0).tolist()
    x1, y1 = boxes[:, 2:].max(axis=0).tolist()
    return x0, y0, x1, y1


def _far(one: Box, other: Box) -> float:
    return abs(one[0] + one[2] - other[0] - other[2]) + abs(one[1] + one[3] - other[1] - other[3])


def _inset(box: Box) -> Box:
    """A cell's words do not touch its borders."""
    x0, y0, x1, y1 = box
    return x0 + 0.05 * (x1 - x0), y0 + 0.1 * (y1 - y0), x1 - 0.05 * (x1 - x0), y1 - 0.1 * (y1 - y0)


def sliced(text: str, box: Box) -> list[Placed]:
    """The words of one line in their shares of its box; a tall narrow box is written downwards."""
    words = text.split()
    total = sum(map(_wide, text)) or 1
    x0, y0, x1, y1 = box
    downwards = len(text) > 1 and y1 - y0 > 2 * (x1 - x0)
    placed, at = [], 0
    for word, width in zip(words, _widths(words), strict=True):
        a, b = at / total, (at + width) / total
        at += width + 1
        if downwards:
            placed.append(Placed(word, (x0, y0 + a * (y1 - y0), x1, y0 + min(b, 1.0) * (y1 - y0))))
        else:
            placed.append(Placed(word, (x0 + a * (x1 - x0), y0, x0 + min(b, 1.0) * (x1 - x0), y1)))
    return placed


def _widths(words: Sequence[str]) -> Iterator[int]:
    for word in words:
        yield sum(map(_wide, word))


def _wide(char: str) -> int:
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def within(boxes: npt.NDArray[np.float64], box: Box) -> list[int]:
    """Positions of the boxes whose middles stand in `box`."""
    if not len(boxes):
        return []
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    inside = (box[0] <= x) & (x <= box[2]) & (box[1] <= y) & (y <= box[3])
    return [int(i) for i in np.flatnonzero(inside)]
