"""Finds the tables of a page: by ruling lines, by rules above and below, or by columns that line up without any.

Works on words and lines alone, so that pages read by OCR or by another parser can pass through it as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from crag.knowledge_base.boxed_form import Form, form_in
from crag.knowledge_base.raw_page import RawLine, RawPage, RawTable
from crag.knowledge_base.rulings import Rule, Rules
from crag.knowledge_base.table_caption import with_caption
from crag.knowledge_base.table_grid import table_in
from crag.knowledge_base.table_open import open_regions, ruled_bands
from crag.knowledge_base.table_shape import Table
from crag.knowledge_base.table_words import Region, Word, turn, words_of

_TOUCH = 4.0
_MAX_WORDS = 20_000
_FIELDS = 3

Box = tuple[float, float, float, float]
Boxes = npt.NDArray[np.float32]


def with_tables(page: RawPage, rules: Rules, fields: Sequence[Box] = ()) -> RawPage:
    """The page with its tables: their words stand together, row by row, one `RawLine` for each row.

    `rules` are in the coordinates of the page's boxes, and so are `fields`, the boxes of form fields: the frame of a
    form that waits to be filled in is no table. Words are neither added nor lost.
    """
    direction = _direction(page)
    if direction is None or len(page.words) > _MAX_WORDS:
        return page
    flat = page if page.straight is None else replace(page, boxes=page.straight)
    words = list(words_of(flat, direction))
    across, down = _turned(rules, direction)
    blanks = turn(np.array(fields, np.float32).reshape(-1, 4), direction)
    tables: list[Table] = []
    for region in _ruled_regions(across, down):
        tables += _taken(region, words, tables)
    for region in ruled_bands(across, words, [table.box for table in tables]):
        tables += _taken(region, words, tables)
    for region in open_regions(words, [table.box for table in tables]):
        tables += _taken(region, words, tables)
    tables = [table for table in tables if _inside(blanks, table.box) < _FIELDS]
    forms = list(_forms(across, down, words, tables, blanks, [line.block for line in page.lines]))
    if not tables and not forms:
        return page
    free = {word.position for word in words} - {p for table in tables for p in table.positions}
    lines = [(line, [p for p in range(line.start, line.end) if p in free]) for line in page.lines]
    places = {word.position: word for word in words}
    captioned = []
    for table in sorted(tables, key=lambda one: one.box[1]):
        table = with_caption(table, lines, places, page.words)
        caption = set(table.caption)
        lines = [(line, [p for p in kept if p not in caption]) for line, kept in lines]
        captioned.append(table)
    return _laid_out(page, captioned, forms)


def _forms(
    across: Sequence[Rule],
    down: Sequence[Rule],
    words: Sequence[Word],
    tables: Sequence[Table],
    blanks: Boxes,
    blocks: Sequence[int],
) -> Iterator[Form]:
    """Printed forms outside the tables; those with form fields have their labels from there."""
    used = {position for table in tables for position in table.positions}
    for region in _ruled_regions(across, down):
        held = [word for word in region.held(words) if word.position not in used]
        form = form_in(region, held, blocks) if _inside(blanks, region.sides) < _FIELDS else None
        if form:
            used.update(position for block in form for line in block for position in line)
            yield form


def _taken(region: Region, words: Sequence[Word], before: Sequence[Table]) -> list[Table]:
    used = {position for table in before for position in table.positions}
    table = table_in(region, [word for word in region.held(words) if word.position not in used])
    return [table] if table else []


def _inside(boxes: Boxes, box: Box) -> int:
    x, y = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
    return int(((box[0] < x) & (x < box[2]) & (box[1] < y) & (y < box[3])).sum())


def _direction(page: RawPage) -> tuple[int, int] | None:
    """The writing direction of most words, None where it is none of the four or the page has next to no text."""
    counts: Counter[tuple[int, int]] = Counter()
    for line in page.lines:
        counts[(round(line.direction[0]), round(line.direction[1]))] += line.end - line.start
    found, number = counts.most_common(1)[0] if counts else ((1, 0), 0)
    return found if number >= 4 and abs(found[0]) + abs(found[1]) == 1 else None


def _turned(rules: Rules, direction: tuple[int, int]) -> tuple[list[Rule], list[Rule]]:
    across, down = rules
    if direction == (-1, 0):
        return [_mirrored(rule) for rule in reversed(across)], [_mirrored(rule) for rule in reversed(down)]
    if direction == (0, 1):  # x' = y, y' = -x
        return [Rule(-r.at, r.start, r.end) for r in reversed(down)], [Rule(r.at, -r.end, -r.start) for r in across]
    if direction == (0, -1):  # x' = -y, y' = x
        return [Rule(r.at, -r.end, -r.start) for r in down], [Rule(-r.at, r.start, r.end) for r in reversed(across)]
    return across, down


def _mirrored(rule: Rule) -> Rule:
    return Rule(-rule.at, -rule.end, -rule.start)


def _ruled_regions(across: Sequence[Rule], down: Sequence[Rule]) -> list[Region]:
    """Groups of lines that touch each other, smallest first: a table may stand in a frame."""
    if not across or not down:
        return []
    a, d = np.array(across), np.array(down)
    touch = (
        (a[:, None, 1] - _TOUCH <= d[None, :, 0])
        & (d[None, :, 0] <= a[:, None, 2] + _TOUCH)
        & (d[None, :, 1] - _TOUCH <= a[:, None, 0])
        & (a[:, None, 0] <= d[None, :, 2] + _TOUCH)
    )
    group = np.arange(len(across))
    for column in range(len(down)):
        members = np.flatnonzero(touch[:, column])
        if len(members) > 1:
            old = np.unique(group[members])
            group[np.isin(group, old)] = old[0]
    regions = []
    for name in np.unique(group):
        rows = np.flatnonzero(group == name)
        columns = np.flatnonzero(touch[rows].any(axis=0))
        if len(rows) >= 2 and len(columns) >= 1:
            regions.append(Region([across[int(i)] for i in rows], [down[int(i)] for i in columns]))
    return sorted(regions, key=lambda region: region.area)


def _laid_out(page: RawPage, tables: Sequence[Table], forms: Sequence[Form]) -> RawPage:
    """The page with its words in an order in which those of each table, and of each box of a form, are neighbours."""
    owner = {p: number for number, table in enumerate(tables) for p in (*table.caption, *table.positions)}
    owner |= {
        p: len(tables) + number for number, form in enumerate(forms) for box in form for line in box for p in line
    }
    order: list[int] = []
    lines: list[RawLine] = []
    done: set[int] = set()
    block = 1 + max((line.block for line in page.lines), default=0)

    free = block + len(tables)
    line_of = {p: line for line in page.lines for p in range(line.start, line.end)}

    def add(like: RawLine, positions: Sequence[int]) -> None:
        if positions:
            start = len(order)
            order.extend(positions)
            lines.append(like._replace(start=start, end=len(order)))

    for line in page.lines:
        for p in range(line.start, line.end):
            number = owner.get(p)
            if number is not None and number not in done:
                done.add(number)
                if number >= len(tables):
                    for box in forms[number - len(tables)]:
                        free += 1
                        for group in box:
                            add(line_of[group[0]]._replace(block=free), group)
                    continue
                shape = line._replace(block=block + number, table=number, bold=False)
                for group in _in_rows(tables[number]):
                    add(shape, group)
        add(line, [p for p in range(line.start, line.end) if p not in owner])
    place = {old: new for new, old in enumerate(order)}
    moved = tuple(
        RawTable(
            tuple(tuple(tuple(place[p] for p in cell) for cell in row) for row in table.rows),
            table.header,
            tuple(place[p] for p in table.caption),
        )
        for table in tables
    )
    words = [page.words[p] for p in order]
    straight = None if page.straight is None else page.straight[order]
    return replace(page, words=words, boxes=page.boxes[order], straight=straight, lines=lines, tables=moved)


def _in_rows(table: Table) -> Iterator[list[int]]:
    """The positions of the caption and of each row; a word that stands in several cells is given once."""
    seen: set[int] = set()
    for cells in ([table.caption], *table.rows):
        fresh = [p for p in dict.fromkeys(p for cell in cells for p in cell) if p not in seen]
        seen.update(fresh)
        yield fresh
