"""A printed form: ruling lines enclose boxes that make no table, but what stands in a box belongs together.

Files write such forms in any order, often all labels first and the values at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

from crag.knowledge_base.table_grid import ruled_cells_in
from crag.knowledge_base.table_shape import Cells
from crag.knowledge_base.table_words import Region, Word, rows_of_words

Form = list[list[list[int]]]
"""The blocks of a form, each the word positions of its lines."""

_BOXES = 4
"""So many filled boxes make a form; fewer are frames."""
_WORDS = 3
"""So many words a box has on average; pictures of boxes and arrows have fewer."""
_LABEL, _VALUE = 12, 8
"""Words at most."""
_TOUCH = 1.0


def form_in(region: Region, words: Sequence[Word], blocks: Sequence[int]) -> Form | None:
    """The blocks of the form in a region, box by box; None where there are too few boxes, or next to nothing in them.

    A value goes with its label, in the box beside it or below it. `blocks` are those of the page's lines: what the file
    parts inside a box stays parted, unless it stands on one height.
    """
    cells = ruled_cells_in(region, words)
    if cells is None:
        return None
    content = _beside(cells, _whole_lines(region, words, cells))
    order = list(dict.fromkeys(name for row in cells.rows for name in row if name in content))
    if len(order) < _BOXES or sum(len(line) for name in order for line in content[name]) < _WORDS * len(order):
        return None
    follows = _below(cells, content)
    values = set(follows.values())
    form: Form = []
    for name in order:
        if name not in values:
            block = list(content[name])
            seen = {name}
            while (name := follows.get(name, name)) not in seen:
                seen.add(name)
                block += content[name]
            form += _parts(block, blocks)
    return form


def _parts(lines: Sequence[list[Word]], blocks: Sequence[int]) -> Form:
    """The lines of a box, as the file parts them; lines side by side are never parted."""
    parts: Form = []
    last: list[Word] | None = None
    for line in lines:
        below = last is None or line[0].y0 >= last[0].y
        if last is None or (below and blocks[line[0].line] != blocks[last[0].line]):
            parts.append([])
        parts[-1].append([word.position for word in line])
        last = line
    return parts


def _whole_lines(region: Region, words: Sequence[Word], cells: Cells) -> dict[int, list[list[Word]]]:
    """The lines of each box; a line that no rule parts stays whole, in the box that it begins in."""
    box_of = {word.position: name for name, rows in cells.content.items() for row in rows for word in row}
    found: dict[int, list[list[Word]]] = {}
    known = sorted((word for word in words if word.position in box_of), key=lambda word: word.position)
    for _, line in groupby(known, key=lambda word: word.line):
        run: list[Word] = []
        for word in line:
            if run and _parted(region, run[-1], word):
                found.setdefault(box_of[run[0].position], []).append(run)
                run = []
            run.append(word)
        found.setdefault(box_of[run[0].position], []).append(run)
    return {name: _sorted(runs) for name, runs in found.items()}


def _parted(region: Region, one: Word, other: Word) -> bool:
    left, right = (one, other) if one.x <= other.x else (other, one)
    y = (left.y + right.y) / 2
    return any(left.x1 - _TOUCH <= rule.at <= right.x0 + _TOUCH and rule.start <= y <= rule.end for rule in region.down)


def _sorted(runs: Sequence[list[Word]]) -> list[list[Word]]:
    """Line by line, and along each line."""
    run_of = {word.position: number for number, run in enumerate(runs) for word in run}
    rows = rows_of_words([word for run in runs for word in run])
    return [runs[number] for number in dict.fromkeys(run_of[word.position] for row in rows for word in row)]


def _beside(cells: Cells, content: dict[int, list[list[Word]]]) -> dict[int, list[list[Word]]]:
    """The content, in which a figure or code alone in its box has gone to its label on the same height in the box on
    its left."""
    found = dict(content)
    for row in cells.rows:
        for left, right in pairwise(dict.fromkeys(row)):
            value = found.get(right, [])
            if len(value) != 1 or not _is_value(value):
                continue
            label = next(
                (line for line in found.get(left, []) if _is_label([line]) and _level(line[-1], value[0][0])), None
            )
            if label is not None:
                found[left] = [one for line in found[left] for one in ((line, *value) if line is label else (line,))]
                del found[right]
    return found


def _level(one: Word, other: Word) -> bool:
    return one.y0 < other.y < one.y1 or other.y0 < one.y < other.y1


def _below(cells: Cells, content: dict[int, list[list[Word]]]) -> dict[int, int]:
    """Label box -> the box below it, where a row of labels stands over a row of boxes that hold figures."""
    found: dict[int, int] = {}
    for above, row in pairwise(cells.rows):
        pairs = list(dict.fromkeys(pair for pair in zip(above, row, strict=True) if pair[0] != pair[1]))
        as_wide = len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs) >= 2
        filled = [pair for pair in pairs if pair[1] in content]
        if not as_wide or not filled or not all(_is_label(content.get(label, [])) for label, _ in pairs):
            continue
        figures = sum(_has(content[value], str.isdigit) for _, value in filled)
        if figures * 2 > len(filled) or (figures and len(filled) <= 2):
            found.update(filled)
    return found


def _is_label(lines: Sequence[Sequence[Word]]) -> bool:
    return bool(lines) and sum(map(len, lines)) <= _LABEL and not _has(lines, str.isdigit)


def _is_value(lines: Sequence[Sequence[Word]]) -> bool:
    return sum(map(len, lines)) <= _VALUE and _has(lines, str.isdigit)


def _has(lines: Sequence[Sequence[Word]], test: Callable[[str], bool]) -> bool:
    return any(test(char) for line in lines for word in line for char in word.text)
