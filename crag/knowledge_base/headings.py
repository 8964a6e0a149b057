"""Headings: which paragraphs head a section, and below which others they stand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from crag.knowledge_base.clean import is_unspaced
from crag.knowledge_base.paragraphs import NUMBERED, Kind, Paragraph, is_bullet
from crag.text import tokens

_LARGER = 1.15
_REPEATED = 4
"""A text that would head so many sections is a label or a running head."""
_LABEL = 60
_RIVALS = 5
_COVER = 500
"""A page with fewer characters may be a cover; its title is often as large as the chapters'."""
_CONTENTS = re.compile(
    r"(?:table of )?contents?|index|inhalt(?:sverzeichnis)?|sommaire|índice|目\s*[录錄次]|목\s*차", re.I
)
_BLANK = re.compile(r"page (?:is |was )?(?:intentionally |deliberately )?(?:left )?blank|[此本]页.{0,4}空白", re.I)
_NUMBER = re.compile(
    r"(?:(?:appendix|anhang|annexe?|chapter|part|section)\s+)?((?:\d{1,3}|[A-Z])(?:\.\d{1,3})*)\.?\s", re.I
)
_CHINESE = (
    re.compile(r"第[\d一二三四五六七八九十百]{1,5}[编篇部]"),
    re.compile(r"第[\d一二三四五六七八九十百]{1,5}章|[一二三四五六七八九十]{1,3}、"),
    re.compile(r"第[\d一二三四五六七八九十百]{1,5}[节節]|[(（][一二三四五六七八九十]{1,3}[)）]"),
)

Outline = Sequence[tuple[int, str, int]]
"""The file's own table of contents: page, title, level (1 is the top)."""


@dataclass(frozen=True, slots=True)
class _Rank:
    """What tells how deep a heading stands; None where it does not say."""

    size: float
    bold: bool
    number: tuple[str, ...]
    chinese: int | None
    outline: int | None


def mark_headings(paragraphs: Sequence[Paragraph], outline: Outline) -> None:
    """Marks short paragraphs that are larger than the body, bold where the body is not, or named by the outline.

    Each gets its level: 0 the document's title (the largest heading on its first page), then 1, 2, ...
    """
    body, light = _body(paragraphs)
    levels = {(page, _key(title)): level for page, title, level in outline if _key(title)}
    beside = _beside_others(paragraphs)
    for paragraph in paragraphs:
        if paragraph.kind == Kind.TEXT and _heads(paragraph, body, light, levels, id(paragraph) in beside):
            paragraph.kind = Kind.HEADING
    counts = Counter(_key(paragraph.text) for paragraph in paragraphs if paragraph.kind == Kind.HEADING)
    for paragraph in paragraphs:
        if paragraph.kind == Kind.HEADING and counts[_key(paragraph.text)] >= _REPEATED:
            paragraph.kind = Kind.TEXT
    length: Counter[int] = Counter()
    for paragraph in paragraphs:
        length[paragraph.page] += len(paragraph.text)
    covers = {page for page, chars in length.items() if chars < _COVER}
    _set_levels([paragraph for paragraph in paragraphs if paragraph.kind == Kind.HEADING], levels, body, covers)


def _body(paragraphs: Sequence[Paragraph]) -> tuple[float, bool]:
    """Size of most of the text, and whether most of it is not bold."""
    sizes: Counter[float] = Counter()
    weights: Counter[bool] = Counter()
    for paragraph in paragraphs:
        for row in paragraph.rows:
            length = len(row.text)
            sizes[round(row.main.size)] += length
            weights[row.bold] += length
    return (sizes.most_common(1)[0][0] if sizes else 0.0), weights[False] >= weights[True]


def _heads(paragraph: Paragraph, body: float, light: bool, titles: Collection[tuple[int, str]], beside: bool) -> bool:
    text = paragraph.text
    if len(paragraph.rows) > 3 or not _may_head(text):
        return False
    if (paragraph.page, _key(text)) in titles:
        return True
    main = paragraph.rows[0].main
    first = text.split()[0]
    numbered = bool(NUMBERED.fullmatch(first))
    if is_bullet(first) or beside or (not numbered and _parted(paragraph)):
        return False  # an item of a list, cells of a table
    labelled = ": " in text and not numbered  # "Answer: yes" is no title
    short = len(paragraph.rows) == 1 or (numbered and len(paragraph.rows) == 2)
    bold = paragraph.rows[0].bold and light and short and len(text) <= 80 and not labelled
    return main.size >= _LARGER * body or bold


def _parted(paragraph: Paragraph) -> bool:
    """Whether a row of it has a gap wider than between words: the head of a table."""
    return any(b.start - a.end > 2 * a.size for row in paragraph.rows for a, b in pairwise(row.lines))


def _beside_others(paragraphs: Sequence[Paragraph]) -> set[int]:
    """Identities of short paragraphs that are cells of a table: read next to another one on their height, or with
    at least two others there (two headings of neighbouring columns may share a height by chance)."""
    short: dict[int, list[tuple[int, Paragraph]]] = {}
    for place, paragraph in enumerate(paragraphs):
        if len(paragraph.rows) == 1 and len(paragraph.text) <= _LABEL and paragraph.kind == Kind.TEXT:
            short.setdefault(paragraph.page, []).append((place, paragraph))
    found: set[int] = set()
    for group in short.values():
        group.sort(key=lambda entry: entry[1].rows[0].main.top)
        for position, (place, paragraph) in enumerate(group):
            near = [other for other in group[max(0, position - 6) : position + 7] if _level(paragraph, other[1])]
            if len(near) >= 3 or any(abs(other - place) == 1 for other, _ in near):
                found.add(id(paragraph))
    return found


def _level(a: Paragraph, b: Paragraph) -> bool:
    one, two = a.rows[0].main, b.rows[0].main
    shared = min(one.bottom, two.bottom) - max(one.top, two.top)
    same = one.direction == two.direction and 0.9 < one.size / two.size < 1.1
    return same and shared > 0.6 * min(one.bottom - one.top, two.bottom - two.top)


def _set_levels(
    headings: Sequence[Paragraph], outline: dict[tuple[int, str], int], body: float, covers: Collection[int]
) -> None:
    """A heading stands below the last one that outranks it; the title stands above all."""
    title = _title(headings, body, covers)
    stack: list[_Rank] = []
    for heading in headings:
        if heading is title:
            heading.level = 0
            continue
        rank = _rank(heading, outline)
        while stack and not _outranks(stack[-1], rank):
            stack.pop()
        heading.level = len(stack) + 1
        if not _CONTENTS.fullmatch(heading.text):  # nothing stands below a list of contents
            stack.append(rank)


def _title(headings: Sequence[Paragraph], body: float, covers: Collection[int]) -> Paragraph | None:
    """The largest heading of the first page that has one, if no other is as large (of a cover: few)."""
    first = [heading for heading in headings if heading.page == headings[0].page] if headings else []
    if not first or first[0].page > 2:
        return None
    best = max(first, key=lambda heading: heading.rows[0].main.size)
    size = best.rows[0].main.size
    numbered = _NUMBER.match(best.text + " ")
    as_large = [heading for heading in headings if heading.rows[0].main.size >= 0.97 * size]
    alone = len({_key(heading.text) for heading in as_large if heading.page == best.page}) == 1
    few = len({_key(heading.text) for heading in as_large}) <= (_RIVALS if best.page in covers else 1)
    return best if size >= _LARGER * body and alone and few and not numbered else None


def _rank(heading: Paragraph, outline: dict[tuple[int, str], int]) -> _Rank:
    text, main = heading.text, heading.rows[0].main
    number = _NUMBER.match(text)
    parts = tuple(number.group(1).upper().split(".")) if number else ()
    chinese = next((depth for depth, pattern in enumerate(_CHINESE) if pattern.match(text)), None)
    return _Rank(main.size, main.bold, parts, chinese, outline.get((heading.page, _key(text))))


def _outranks(above: _Rank, below: _Rank) -> bool:
    """Whether the heading `above` holds the heading `below`: by the outline, by numbers, then by looks."""
    if above.outline is not None and below.outline is not None:
        return above.outline < below.outline
    if above.number and below.number:
        return len(above.number) < len(below.number)
    if above.chinese is not None and below.chinese is not None:
        return above.chinese < below.chinese
    if abs(above.size - below.size) > 0.04 * above.size:
        return above.size > below.size
    return above.bold and not below.bold


def _may_head(text: str) -> bool:
    letters = sum(char.isalpha() for char in text)
    limit = 50 if any(is_unspaced(char) for char in text) else 120
    data = sum(char.isdigit() for char in text) > 4  # a telephone number, an address: to be found as text
    return (
        not data
        and letters >= 2
        and letters * 2 >= len(text)
        and not _BLANK.search(text)
        and len(text) <= limit
        and text[-1] not in ".,;:。，；、："
    )


def _key(title: str) -> str:
    return " ".join(tokens(title))
