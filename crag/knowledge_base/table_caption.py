"""The caption of a table: the line above or below it that is numbered as one, or that gives its unit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from crag.knowledge_base.raw_page import RawLine
from crag.knowledge_base.table_shape import Table
from crag.knowledge_base.table_words import Word

_NAMED = re.compile(
    r"(?:(?:supplementary|extended data|suppl\.|appendix) )?"
    r"(?:table|tab\.?|exhibit|schedule|tableau|tabelle|tabla|tabella|tabell?|tabela|tabulka|cuadro|quadro|taulukko"
    r"|таблица|табл\.?|표|(?:ال)?جدول|טבלה)\s*(?:no\.?\s*|№\s*|n[º°]\s*)?"
    r"[(（]?(?:[A-Z]{0,2}[.\-–]?[\d۰-۹٠-٩]|[IVXLC]+\b)|"
    r"(?:附|续|続|图|圖)?(?:表格?)\s*[(（]?(?:[A-Z]?[\d]|[一二三四五六七八九十]+[、：:\s])",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"[(（]?(?:单位|單位|単位|in (?:thousands|millions|billions)|\$ in|amounts? in|unit:)", re.IGNORECASE
)
_NEAR = 2.2
"""A caption stands within this many times its size of the table."""
_LINES = 8


def is_caption(words: Sequence[str]) -> bool:
    """Whether a line that begins with these words is numbered as a table's caption."""
    return bool(_NAMED.match(" ".join(words).strip()))


def with_caption(
    table: Table,
    lines: Sequence[tuple[RawLine, Sequence[int]]],
    places: Mapping[int, Word],
    texts: Sequence[str],
) -> Table:
    """The table with the words of the caption next to it, if there is one among the lines (those not in tables)."""
    x0, top, x1, bottom = table.box
    near: list[tuple[float, int]] = []
    for number, (_, positions) in enumerate(lines):
        if not positions or positions[0] not in places:
            continue
        words = [places[p] for p in positions if p in places]
        size = words[0].size
        if words[-1].x1 < x0 or words[0].x0 > x1:
            continue
        head = [texts[p] for p in positions[:4]]
        if is_caption(head) or _UNIT.match(" ".join(head)):
            block = _block(lines, number)
            last = places[lines[block[-1]][1][-1]]
            gap = top - last.y1 if last.y1 <= top + size else words[0].y0 - bottom
            if -0.5 * size <= gap <= _NEAR * size:
                near.append((gap if gap > 0 else 0.0, number))
    if not near:
        return table
    chosen = {n for _, number in sorted(near)[:1] for n in _block(lines, number)}
    chosen |= {n for _, number in near for n in _block(lines, number) if _UNIT.match(texts[lines[number][1][0]])}
    return replace(table, caption=(*(p for n in sorted(chosen) for p in lines[n][1]), *table.caption))


def _block(lines: Sequence[tuple[RawLine, Sequence[int]]], number: int) -> list[int]:
    """The line and those after it in its block."""
    block = lines[number][0].block
    found = [number]
    for n in range(number + 1, min(len(lines), number + _LINES)):
        if lines[n][0].block != block or not lines[n][1]:
            break
        found.append(n)
    return found
