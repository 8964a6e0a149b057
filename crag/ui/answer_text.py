"""The text of an answer as inert HTML: lines as they are, rows of a table that was quoted as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from crag.ui import marks, safe
from crag.ui.marks import Look

_ROW = re.compile(r"(?P<before>“?)\|(?P<cells>.*)\|(?P<after>[^|]*)")
_CELL = re.compile(r"(?<!\\)\|")
_BEHIND = re.compile(r"(?<=”)\s*\[\d{1,3}\]")
"""The marker of a quote. What stands in brackets inside of it belongs to the document."""


def as_html(text: str, look: Look | None = None) -> str:
    """Everything in it is escaped; two and more rows (`| a | b |`) that follow each other become a table.

    A table that is a whole quote has no quotation marks; its citation stands behind it. With `look` the markers of
    quotes lead to their sources, and sentences that are not held are marked.
    """
    return "".join(_blocks(marks.shown(text).split("\n"), look))


def _blocks(lines: list[str], look: Look | None) -> Iterator[str]:
    first, at = True, 0
    for is_row, group in groupby(lines, key=lambda line: _ROW.fullmatch(line) is not None):
        block = list(group)
        said = "\n".join(block)
        if is_row and len(block) > 1:
            table = _table(block, look)
            yield table
            first = table.endswith("</table>")  # a table breaks the line by itself, what stands behind it does not
        else:
            yield ("" if first else "\n") + _run(said, at, look)
            first = False
        at += len(said) + 1


def _run(text: str, at: int, look: Look | None) -> str:
    """Lines that stand at `at` in the answer."""
    if look is None:
        return safe.in_html(text)
    made, done = [], 0
    for behind in _BEHIND.finditer(text):
        made.append(_marked(text[done : behind.start()], at + done, look))
        marker = behind[0].lstrip()
        made += [behind[0][: -len(marker)], marks.marker_html(marker, look)]
        ended = range(at + behind.start() + 1, at + behind.end() + 1)  # sentences end with their marker
        made += [marks.word(mark, look) for mark in look.marks if mark.end in ended]
        done = behind.end()
    return "".join([*made, _marked(text[done:], at + done, look)])


def _marked(text: str, at: int, look: Look) -> str:
    return marks.as_html(marks.pieces(text, at, look.marks), look, linked=False)


def _table(lines: list[str], look: Look | None) -> str:
    rows = [match for line in lines if (match := _ROW.fullmatch(line))]
    before, after = rows[0]["before"], rows[-1]["after"].strip()
    if before and after.startswith("”"):  # the table shows by itself what is quoted
        before, after = "", after[1:].strip()
    cells = [[cell.strip().replace("\\|", "|") for cell in _CELL.split(row["cells"])] for row in rows]
    kept = [row for row in cells if any(row) and not all(set(cell) <= {"-"} for cell in row)]
    body = "".join(f"<tr>{''.join(f'<td>{safe.in_html(cell)}</td>' for cell in row)}</tr>" for row in kept)
    ended = re.fullmatch(r"(?P<quote>”?)\s*(?P<marker>\[\d{1,3}\])", after)  # the quote may have begun above the table
    if look is not None and ended:
        behind = f"{ended['quote']} {marks.marker_html(ended['marker'], look)}".lstrip()
    else:
        behind = safe.in_html(after)
    return f"{safe.in_html(before)}<table class='crag-quoted'>{body}</table>{behind}"
