"""Whether a text holds an answer string: words compared without case, width, white space and punctuation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from crag.text import is_cjk, normalise

_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:[,'’\u00a0\u2009\u202f]\d{2,3})*[,'’\u00a0\u2009\u202f]\d{3}(?![\d,])")
_DECIMAL = re.compile(r"(?<![\d.])\d+\.\d+(?!\.?\d)")
_APART = "\x1f"
"""Stands between two numbers, so that 5 and 10 never read as 510."""


class _Folded(NamedTuple):
    text: str
    """Letters and digits alone, lower case, NFKC; `.` inside a decimal number; `_APART` between two numbers."""
    gaps: frozenset[int]
    """Offsets into `text` before which something was left out: where words end and begin."""


def searchable(answer: str) -> bool:
    """Whether anything of `answer` remains to be looked for."""
    return bool(_fold(answer).text)


def holds(answer: str, text: str) -> bool:
    """Whether `answer` stands in `text` as whole words; in Chinese anywhere. A number never inside a longer one."""
    wanted = _fold(answer).text
    if not wanted:
        return False
    folded = _fold(text)
    return any(
        _boundary(folded, start) and _boundary(folded, start + len(wanted)) for start in _starts(wanted, folded.text)
    )


def _starts(wanted: str, text: str) -> Iterator[int]:
    start = text.find(wanted)
    while start >= 0:
        yield start
        start = text.find(wanted, start + 1)


def _boundary(folded: _Folded, at: int) -> bool:
    """Whether a word can end or begin at offset `at`."""
    if at in (0, len(folded.text)) or at in folded.gaps:
        return True
    before, after = folded.text[at - 1], folded.text[at]
    if _APART in (before, after) or is_cjk(before) or is_cjk(after):
        return True
    return _numeric(before) != _numeric(after)  # "42litres", as some PDFs have it, holds 42


def _numeric(char: str) -> bool:
    return char == "." or char.isdecimal()


@lru_cache(maxsize=4096)
def _fold(text: str) -> _Folded:
    text = _THOUSANDS.sub(lambda number: re.sub(r"\D", "", number.group()), unicodedata.normalize("NFC", text))
    text = _THOUSANDS.sub(lambda number: re.sub(r"\D", "", number.group()), normalise(text))  # "１，２３４" by now
    points = {match.start() + match.group().index(".") for match in _DECIMAL.finditer(text)}
    kept: list[str] = []
    gaps: set[int] = set()
    apart = False
    for at, char in enumerate(text):
        category = unicodedata.category(char)
        if category == "Cf":
            continue
        if category[0] not in "LMN" and at not in points:
            apart = True
            continue
        if apart and kept:
            if _numeric(kept[-1]) and _numeric(char):
                kept.append(_APART)
            gaps.add(len(kept))
        apart = False
        kept.append(char)
    return _Folded("".join(kept), frozenset(gaps))
