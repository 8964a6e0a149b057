"""A table as Markdown: every word of a cell can be found on the page, pipes and line breaks stand for no word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crag.knowledge_base.clean import clean_word, is_leader, is_unspaced, joint
from crag.knowledge_base.raw_page import RawPage, RawTable

Part = tuple[str, npt.NDArray[np.float32] | None]
"""A stretch of text, with the box of the word that it is, or None for what the table's form adds."""


class Markdown(NamedTuple):
    """The lines of a table; those of `head` (caption, column names, separator) come before the rows."""

    caption: list[Part]
    head: list[Part]
    rows: list[list[Part]]


def markdown(page: RawPage, table: RawTable, known: Counter[str]) -> Markdown:
    """The table in canonical form; words are cleaned, hyphens at line ends joined where `known` words say so."""
    rows = [list(_row(page, row, known)) for row in table.rows]
    caption = list(_cell(page, table.caption, known, escape=False))
    if not table.header or not rows:
        return Markdown(caption, [], rows)
    separator: Part = ("\n" + "|---" * len(table.rows[0]) + "|", None)
    return Markdown(caption, [*rows[0], separator], rows[1:])


def header_of(page: RawPage, table: RawTable) -> str:
    """The column names as one string, for comparison with those of another page; "" where there are none."""
    return "|".join(" ".join(page.words[p] for p in cell) for cell in table.rows[0]) if table.header else ""


def _row(page: RawPage, cells: Sequence[Sequence[int]], known: Counter[str]) -> Iterator[Part]:
    yield "|", None
    for cell in cells:
        parts = list(_cell(page, cell, known, escape=True))
        yield from [(" ", None), *parts] if parts else []
        yield " |", None


def _cell(page: RawPage, positions: Sequence[int], known: Counter[str], *, escape: bool) -> Iterator[Part]:
    kept: list[tuple[str, npt.NDArray[np.float32]]] = []
    for p in positions:
        word, box = clean_word(page.words[p]), page.boxes[p]
        leads = is_leader(word) and (len(word) > 3 or "…" in word)
        twice = any(word == other and float(np.abs(box - at).max()) < 3 for other, at in kept[-3:])
        if word and not leads and not twice:
            kept.append((word, box))
    for number, (word, box) in enumerate(kept):
        drop, glue = False, " "
        if number + 1 < len(kept):
            after, below = kept[number + 1]
            glue = "" if is_unspaced(word[-1]) and is_unspaced(after[0]) else " "
            if min(abs(box[1] - below[1]), abs(box[3] - below[3])) > 4:
                drop, glue = joint(word, after, known)
        text = word[:-1] if drop else word
        yield (text.replace("|", "\\|") if escape else text), box
        if glue and number + 1 < len(kept):
            yield glue, None
