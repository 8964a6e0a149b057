"""Layout of plain text: lines become rows, rows become paragraphs, and each is text, heading, table or margin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise

from crag.knowledge_base.clean import is_unspaced
from crag.knowledge_base.lines import Line

_FINISHED = re.compile(r"[.!?。！？…:：;；][\"'”’」』）)\]]*$")
_BULLET = re.compile(r"[•●▪■◦‣·○◆➢✓□*–—-]|[(（]?[\da-zA-Z]{1,3}[)）]|[(（][一二三四五六七八九十]{1,3}[)）]")
NUMBERED = re.compile(
    r"\d{1,3}(?:\.\d{1,3})*[.、．]?|[一二三四五六七八九十]{1,3}、\S*|第[\d一二三四五六七八九十百]{1,5}[条章节]\S*"
)


class Kind(StrEnum):
    TEXT = "text"
    HEADING = "heading"
    TABLE = "table"
    MARGIN = "margin"


@dataclass(slots=True)
class Row:
    """Lines that stand side by side."""

    lines: list[Line]
    margin: bool = False

    @property
    def words(self) -> list[str]:
        return [word for line in self.lines for word in line.words]

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def start(self) -> float:
        return min(line.start for line in self.lines)

    @property
    def end(self) -> float:
        return max(line.end for line in self.lines)

    @property
    def width(self) -> float:
        return self.end - self.start

    @property
    def bold(self) -> bool:
        """Whether all of it is bold: a bold lead-in belongs to the sentence behind it."""
        return all(line.bold for line in self.lines)

    @property
    def main(self) -> Line:
        """The line that holds most of its text: it speaks for size and weight."""
        return max(self.lines, key=lambda line: sum(map(len, line.words)))


@dataclass(slots=True)
class Paragraph:
    """Rows of one page that belong together. `continues`: its text goes on from the paragraph of text before it."""

    page: int
    kind: Kind
    rows: list[Row] = field(default_factory=list)
    continues: bool = False
    level: int = 0
    """Of a heading: how many others it stands below; 0 is the document's title."""
    table: int = -1
    """Which of the page's tables it is; -1: none that was recognised as such."""
    cut: int = 0
    """Last rows of the table that are none of it: a running footer set in the same columns."""

    @property
    def text(self) -> str:
        return " ".join(row.text for row in self.rows)


def rows_of(lines: Sequence[Line]) -> list[Row]:
    """Consecutive lines of one block on one height make one row."""
    rows: list[Row] = []
    for line in lines:
        last = rows[-1].lines[-1] if rows else None
        if last and last.block == line.block and last.direction == line.direction and line.start >= last.start:
            shared = min(last.bottom, line.bottom) - max(last.top, line.top)
            if shared > 0.5 * min(last.bottom - last.top, line.bottom - line.top):
                rows[-1].lines.append(line)
                continue
        rows.append(Row([line]))
    return rows


def paragraphs_of(page: int, rows: Sequence[Row]) -> list[Paragraph]:
    """The page's rows as paragraphs in file order; kinds are text, table and margin (headings are found later)."""
    edges: dict[int, float] = {}
    cells: dict[int, list[int]] = {}
    for row in rows:
        block = row.lines[0].block
        edges[block] = max(edges.get(block, row.end), row.end)
        cells.setdefault(block, []).append(_cells(row))
    tabular = {block for block, counts in cells.items() if _is_tabular(counts)}
    found: list[Paragraph] = []
    tables: dict[int, Paragraph] = {}
    for row in rows:
        number = row.lines[0].table
        if number in tables:
            tables[number].rows.append(row)
            continue
        if number >= 0:
            tables[number] = Paragraph(page, Kind.TABLE, [row], table=number)
            found.append(tables[number])
            continue
        kind = Kind.MARGIN if row.margin else Kind.TABLE if row.lines[0].block in tabular else Kind.TEXT
        last = found[-1] if found else None
        if last and last.table < 0 and last.kind == kind and (kind == Kind.TABLE or _joins(last, row, edges)):
            last.rows.append(row)
        else:
            found.append(Paragraph(page, kind, [row]))
    for table in tables.values():
        _part_from_margins(table, found)
    return found


def _part_from_margins(table: Paragraph, found: list[Paragraph]) -> None:
    """A letterhead in a frame is no table; a footer in its columns stands below it; repeated column names stay."""
    if all(row.margin for row in table.rows):
        table.kind = Kind.MARGIN
        return
    while table.rows[-1].margin:
        found.append(Paragraph(table.page, Kind.MARGIN, [table.rows.pop()]))
        table.cut += 1


def _cells(row: Row) -> int:
    """Lines of a row that are set apart by a gap wider than a word space."""
    lines = sorted(row.lines, key=lambda line: line.start)
    return 1 + sum(b.start - a.end > 0.8 * a.size for a, b in pairwise(lines))


def _is_tabular(cells: Sequence[int]) -> bool:
    several = sum(count >= 2 for count in cells)
    return (several >= 2 and several * 2 >= len(cells)) or (len(cells) <= 2 and max(cells) >= 3)


def _joins(paragraph: Paragraph, row: Row, edges: dict[int, float]) -> bool:
    """Whether `row` goes on with the paragraph that ends just above it on the same page."""
    last = paragraph.rows[-1]
    a, b = last.main, row.main
    if a.direction != b.direction or not 0.88 < b.size / a.size < 1.14 or last.bold != row.bold:
        return False
    if is_item(row, last) or min(a.block, b.block) < 0:  # a form field, a note: each stands for itself
        return False
    if row.lines[0].block != last.lines[0].block:
        return _follows_below(last, row)
    if b.top - a.bottom > 1.2 * a.size:
        return False
    short = edges[row.lines[0].block] - last.end > 0.15 * max(last.width, row.width)
    return not (short and _FINISHED.search(last.words[-1]))


def _follows_below(last: Row, row: Row) -> bool:
    """Whether a row of the next block is the next line of the same column (files that make every line a block)."""
    a, b = last.main, row.main
    gap = b.top - a.bottom
    below = -0.5 * a.size < gap < 0.9 * a.size and b.top > a.top
    aligned = abs(row.start - last.start) < 3 * a.size and last.end >= row.end - 1.5 * a.size
    return below and aligned and last.width > 12 * a.size and not _FINISHED.search(last.words[-1])


def is_bullet(word: str) -> bool:
    """Whether the word is, or starts with, the sign of a list item: a bullet, "(a)", "2)"."""
    return bool(_BULLET.fullmatch(word)) or word[0] in "•●▪■◦‣○◆➢✓□①②③④⑤⑥⑦⑧⑨⑩"


def is_item(row: Row, before: Row | None = None) -> bool:
    """Whether the row starts a list item or a numbered clause."""
    first = row.words[0]
    if is_bullet(first):
        return len(row.words) > 1 or len(first) > 1
    finished = before is None or bool(_FINISHED.search(before.words[-1])) or before.width < 0.8 * row.width
    return bool(NUMBERED.fullmatch(first)) and finished and first[0] != "0" and len(row.words) > 1


def may_continue(before: Paragraph, after: Paragraph) -> bool:
    """Whether `after`, in another column or on the next page, goes on with the unfinished sentence of `before`."""
    last, row = before.rows[-1], after.rows[0]
    a, b = last.main, row.main
    if not 0.94 < b.size / a.size < 1.06 or last.bold != row.bold or a.direction != b.direction or is_item(row):
        return False
    if min(a.block, b.block) < 0:
        return False
    if _FINISHED.search(last.words[-1]):
        return False
    first = row.words[0][0]
    if is_unspaced(first):
        return last.width > 10 * a.size and last.width > 0.85 * max(r.width for r in (*before.rows, row))
    return first.islower() and len(last.words) >= 3 and last.width > 0.5 * row.width
