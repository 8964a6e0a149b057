"""What an answer claims: its sentences, each with the numbers of the sources that it cites."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crag.text import sentences, tokens

_BETWEEN = r"\s*[,，、;；~～–—-]\s*"
MARKER = re.compile(
    rf"[\[［【〔]\s*(?:sources?|refs?|来源|出处|\^)?\s*(\d{{1,3}}(?:{_BETWEEN}\d{{1,3}})*)\s*[\]］】〕]", re.IGNORECASE
)
"""Source numbers as models write them: [1], [1, 3], [1-3], 【1】, ［１］, [Source 1]."""
_CITED = re.compile(r"(\d+)(?:\s*[~～–—-]\s*(\d+))?")
LONGEST_RANGE = 20
"""Sources that "[1-20]" may cite; of a longer range its ends are."""
_ALL_ROUND = str.maketrans("[［【〔]］】〕", "(((())))")
_BULLET = re.compile(r"\s*(?:[-*•·]|\d{1,2}[.)、．])\s+")
_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*[:：]?\s*)")
_ABOUT = r"\b(?:knowledge|documents?|excerpts?|sources?|evidence|context|information|text)\b"
_NOT = r"\b(?:not|nothing|never|no|cannot)\b|n['’]t\b"
_TELLS = (
    r"\b(?:say|tell|mention|state|cover|contain|specif|includ|provid|giv|answer|describ|explain|address|show|list|name)"
)
_GAPS = [
    [re.compile(part, re.IGNORECASE) for part in parts]
    for parts in (
        [_ABOUT, _NOT, _TELLS],
        [_ABOUT, _TELLS, r"\b(?:nothing|no)\b"],
        [r"\bno (?:information|mention|evidence)\b"],
        [
            r"(?:知识|文档|资料|来源|材料|摘录|原文|信息|证据).{0,20}(?:没有|未|无|不)"
            r".{0,6}(?:提|说|告|涉|涵|包|给|描|列|回答|记载|找到|相关|足够|信息)"
        ],
    )
]
"""Of each, one part behind the other: a sentence that says what the knowledge does not tell."""

_HEADED = re.compile(r"^[^\S\n]*\|.*\|[^\S\n]*\n(?=[^\S\n]*\|[\s:|-]*-[\s:|-]*\|[^\S\n]*$)", re.MULTILINE)
"""The row of column names of a table in Markdown."""


@dataclass(frozen=True)
class Claim:
    """One sentence of an answer that states something."""

    start: int
    end: int
    """Where it stands in the answer, its markers included."""
    text: str
    """It without its markers."""
    cites: tuple[int, ...]


def claims(answer: str) -> Iterator[Claim]:
    """The sentences that state something, in order.

    A sentence without a marker cites what the next one of its paragraph does, an item of a list without one what the
    line before the list does. Headings, column names, the lead-in of what follows, and sentences that say what the
    knowledge does not tell, claim nothing.
    """
    names = {match.start() for match in _HEADED.finditer(answer)}
    led: tuple[int, ...] = ()  # what the line before a list cites
    for start, end in _lines(answer):
        if start in names or _HEADING.fullmatch(answer[start:end].rstrip()):
            continue
        item = _BULLET.match(answer, start, end)
        start = item.end() if item else start
        ranges = _with_their_markers(answer, [(start + a, start + b) for a, b in sentences(answer[start:end])])
        own = [tuple(dict.fromkeys(markers(answer[a:b]))) for a, b in ranges]
        cites = own[:]
        for i in range(len(cites) - 2, -1, -1):
            cites[i] = cites[i] or cites[i + 1]
        if item:
            cites = [numbers or led for numbers in cites]
        elif answer[start:end].strip():
            led = cites[-1] if cites and answer[start:end].rstrip().endswith((":", "：")) else ()
        for (a, b), marked, numbers in zip(ranges, own, cites, strict=True):
            claim = MARKER.sub("", answer[a:b]).strip()
            leads = not numbers and claim.endswith((":", "："))
            if tokens(claim) and not leads and (marked or not _is_gap(claim)):
                yield Claim(a, b, claim, numbers)


def markers(text: str) -> list[int]:
    """The source numbers that `text` cites, in order."""
    return [n for match in MARKER.finditer(text) for first, last in _CITED.findall(match[1]) for n in _run(first, last)]


def rounded(text: str) -> str:
    """`text` with "[12]" of its own, which no answer should take for a source number, as "(12)"."""
    return MARKER.sub(lambda match: match[0].translate(_ALL_ROUND), text)


def _run(first: str, last: str) -> list[int]:
    """The numbers of "3" or "3-5"."""
    low, high = int(first), int(last or first)
    return [*range(low, high + 1)] if low <= high < low + LONGEST_RANGE else [low, high]


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of the lines; a quotation of several lines, whose marker stands behind its last, is one."""
    start = position = open_quotes = 0
    for line in text.splitlines(keepends=True):
        position += len(line)
        open_quotes = max(0, open_quotes + line.count("“") - line.count("”"))
        if not open_quotes or not line.strip():
            yield start, position
            start, open_quotes = position, 0
    if start < position:
        yield start, position


def _with_their_markers(answer: str, ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sentence ranges in which a marker that stands after the full stop belongs to the sentence before it."""
    joined: list[tuple[int, int]] = []
    for start, end in ranges:
        leading = start
        while joined and (match := MARKER.match(answer, leading)) and match.end() <= end:
            leading = match.end()
            while leading < end and answer[leading].isspace():
                leading += 1
        if leading > start:
            joined[-1] = (joined[-1][0], leading)
        if leading < end:
            joined.append((leading, end))
    return joined


def _is_gap(claim: str) -> bool:
    return any(_in_order(parts, claim) for parts in _GAPS)


def _in_order(parts: Sequence[re.Pattern[str]], text: str) -> bool:
    position = 0
    for part in parts:
        if (match := part.search(text, position)) is None:
            return False
        position = match.end()
    return True
