"""The text of an answer as inert HTML: lines as they are, rows of a table that was quoted as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from crag.ui import safe

_ROW = re.compile(r"(?P<before>“?)\|(?P<cells>.*)\|(?P<after>[^|]*)")
_CELL = re.compile(r"(?<!\\)\|")


def as_html(text: str) -> str:
    """Everything in it is escaped; two and more rows (`| a | b |`) that follow each other become a table.

    A table that is a whole quote has no quotation marks; its citation stands behind it.
    """
    return "".join(_blocks(text.split("\n")))


def _blocks(lines: list[str]) -> Iterator[str]:
    first = True
    for is_row, group in groupby(lines, key=lambda line: _ROW.fullmatch(line) is not None):
        block = list(group)
        if is_row and len(block) > 1:
            yield _table(block)
            first = True  # a table breaks the line by itself
        else:
            yield ("" if first else "\n") + safe.in_html("\n".join(block))
            first = False


def _table(lines: list[str]) -> str:
    rows = [match for line in lines if (match := _ROW.fullmatch(line))]
    before, after = rows[0]["before"], rows[-1]["after"].strip()
    if before and after.startswith("”"):  # the table shows by itself what is quoted
        before, after = "", after[1:].strip()
    cells = [[cell.strip().replace("\\|", "|") for cell in _CELL.split(row["cells"])] for row in rows]
    shown = [row for row in cells if any(row) and not all(set(cell) <= {"-"} for cell in row)]
    body = "".join(f"<tr>{''.join(f'<td>{safe.in_html(cell)}</td>' for cell in row)}</tr>" for row in shown)
    return f"{safe.in_html(before)}<table class='crag-quoted'>{body}</table>{safe.in_html(after)}"
