"""Rows of a table become strips and passages: its caption and column names go with each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crag.schema import Span

TABLE_MAX = 1200
"""A table up to this size, with caption and column names, is one passage."""
TABLE_STRIP, TABLE_ROWS = 240, 5
"""Size and number of the rows in one strip."""
CAPTION_MAX = 150
"""A longer caption is a strip of its own, and its first sentence goes with each; a shorter one goes as a whole."""


@dataclass(slots=True)
class Unit:
    """A sentence, a row of a table or a heading kept as text: what strips are made of."""

    text: str
    spans: tuple[Span, ...]
    paragraph: int
    glue: str
    """What stands before it: " " or "" inside a paragraph, a line break where one starts."""
    size: int
    head: Head | None = None
    """Of a row of a table: what has to be read with it."""


@dataclass(frozen=True, slots=True)
class Head:
    """Caption and column names of a table: they go with each of its rows."""

    caption: tuple[Unit, ...]
    names: Unit | None
    separator: str


@dataclass(frozen=True, slots=True)
class TablePart:
    """Rows of a table that make a passage, with what goes with them; `strips`: text and spans of each."""

    units: list[Unit]
    rows: list[Unit]
    text: str
    strips: list[tuple[str, list[Span]]]


def table_parts(rows: Sequence[Unit]) -> Iterator[TablePart]:
    """A table as one passage, or several runs of rows where it is long: caption and column names are repeated."""
    run: list[Unit] = []
    for row in rows:
        if run and (row.head != run[0].head or _size([*_heads(run[0]), *run, row]) > TABLE_MAX):
            yield _part(run)
            run = []
        run.append(row)
    if run:
        yield _part(run)


def _part(rows: list[Unit]) -> TablePart:
    head = rows[0].head
    assert head is not None
    caption = joined(head.caption, " ") if head.caption else ""
    lines = [caption] if caption else []
    if head.names:
        lines += [head.names.text, head.separator]
    strips = [(unit.text, list(unit.spans)) for unit in head.caption] if _long(head) else []
    group: list[Unit] = []
    for row in rows:
        if group and (_size([*group, row]) > TABLE_STRIP or len(group) >= TABLE_ROWS):
            strips.append(_rows_strip(group))
            group = []
        group.append(row)
    strips.append(_rows_strip(group))
    text = "\n".join([*lines, *(row.text for row in rows)])
    return TablePart([*_near(_heads(rows[0]), rows[0]), *rows], rows, text, strips)


def _rows_strip(rows: Sequence[Unit]) -> tuple[str, list[Span]]:
    """Rows below their column names, and below the caption, of a long one below its first sentence."""
    head = rows[0].head
    assert head is not None
    caption = head.caption[: 1 if _long(head) else None]
    names = (head.names,) if head.names else ()
    lines = [*([joined(caption, " ")] if caption else []), *(unit.text for unit in (*names, *rows))]
    return "\n".join(lines), [span for unit in (*_near((*caption, *names), rows[0]), *rows) for span in unit.spans]


def _near(heads: Sequence[Unit], row: Unit) -> list[Unit]:
    """Those that stand on the row's page: a citation names one page, the one with the figures."""
    return [unit for unit in heads if unit.spans[0].page == row.spans[0].page]


def _heads(row: Unit) -> list[Unit]:
    head = row.head
    return [*head.caption, *([head.names] if head.names else [])] if head else []


def _long(head: Head) -> bool:
    return _size(head.caption) > CAPTION_MAX


def _size(units: Sequence[Unit]) -> int:
    return sum(unit.size for unit in units)


def joined(units: Sequence[Unit], glue: str | None = None) -> str:
    return units[0].text + "".join((unit.glue if glue is None else glue) + unit.text for unit in units[1:])
