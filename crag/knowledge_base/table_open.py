"""Where tables without side lines may be: between rules across, or where short cells line up in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from crag.knowledge_base.rulings import Rule
from crag.knowledge_base.table_aligned import gutters
from crag.knowledge_base.table_caption import is_caption
from crag.knowledge_base.table_shape import lines_up
from crag.knowledge_base.table_words import Region, Word, rows_of_words, runs

_ALIKE = 5.0
_PITCH = 2.6
"""Rows of one table follow each other within this many times their size."""
_MIN_ROWS = 3
_APART = 5.0
"""A gap of so many times the size ends a table."""
_LONGEST_RULE = 40.0

Box = tuple[float, float, float, float]


def ruled_bands(across: Sequence[Rule], words: Sequence[Word], taken: Sequence[Box]) -> Iterator[Region]:
    """Stretches between rules of one length, as books and papers set their tables, that are no running text."""
    rules = [r for r in across if r.end - r.start >= _LONGEST_RULE and not any(_on(r, box) for box in taken)]
    groups: list[list[Rule]] = []
    for rule in rules:
        for group in groups:
            if abs(group[0].start - rule.start) < _ALIKE and abs(group[0].end - rule.end) < _ALIKE:
                group.append(rule)
                break
        else:
            groups.append([rule])
    for group in sorted(groups, key=lambda one: one[0].start - one[0].end):
        run: list[Rule] = group[:1]
        for above, below in pairwise(group):
            if _is_tabular(_between(words, above, below)):
                run.append(below)
                continue
            yield from _regions(run, rules, words)
            run = [below]
        yield from _regions(run, rules, words)


def _regions(run: Sequence[Rule], rules: Sequence[Rule], words: Sequence[Word]) -> Iterator[Region]:
    """All that stands between the rules, then without its first or last part: that may belong to something else."""
    for part in (run, run[1:], run[:-1]) if len(run) > 2 else (run,):
        yield from _region(part, rules, words)


def _region(run: Sequence[Rule], rules: Sequence[Rule], words: Sequence[Word]) -> Iterator[Region]:
    if len(run) >= 2:
        x0, x1 = min(r.start for r in run), max(r.end for r in run)
        top, bottom = run[0].at, run[-1].at
        inner = [r for r in rules if top - 1 <= r.at <= bottom + 1 and x0 - 3 <= r.start and r.end <= x1 + 3]
        if len(run) > 2:
            top, bottom = _end(words, x0, top, x1, -1), _end(words, x0, bottom, x1, 1)
        yield Region(inner, [], (x0, top, x1, bottom))


def _end(words: Sequence[Word], x0: float, edge: float, x1: float, step: int) -> float:
    """Where a table ends whose first or last rows stand beyond its rules, as where every other row is shaded.

    `step`: 1 looks downwards, -1 upwards. A short line, as of a cell with several, may stand between two rows.
    """
    rows = rows_of_words([w for w in words if (w.y - edge) * step > 0 and x0 - 3 <= w.x <= x1 + 3])
    end = edge
    for line in rows if step > 0 else reversed(rows):
        near, far = (line[0].y0, max(w.y1 for w in line)) if step > 0 else (line[0].y1, min(w.y0 for w in line))
        if (near - edge) * step > 0.8 * line[0].size:
            break
        edge = far
        if len(runs(line)) >= 3:
            end = far
    return end


def _on(rule: Rule, box: Box) -> bool:
    return box[1] - 3 <= rule.at <= box[3] + 3 and box[0] - 5 <= rule.start and rule.end <= box[2] + 5


def _between(words: Sequence[Word], above: Rule, below: Rule) -> list[list[Word]]:
    x0, x1 = above.start - 3, above.end + 3
    return rows_of_words([w for w in words if above.at - 1 < w.y < below.at + 1 and x0 <= w.x <= x1])


def _is_tabular(lines: Sequence[Sequence[Word]]) -> bool:
    """Whether lines between two rules belong to a table; a few lines of one piece (section titles) may."""
    if not lines:
        return True
    if any(is_caption([word.text for word in line[:4]]) for line in lines):
        return False
    if any(b[0].y0 - a[0].y1 > _APART * a[0].size for a, b in pairwise(lines)):
        return False
    several = sum(len(runs(line)) > 1 for line in lines)
    prose = sum(len(runs(line)) < 3 and any(_is_sentence(run) for run in runs(line)) for line in lines)
    if several and not prose and len(lines) <= 4:
        return True
    return (several * 2 >= len(lines) and prose * 2 < len(lines)) or (len(lines) == 1 and len(lines[0]) < 8)


def _is_sentence(run: Sequence[Word]) -> bool:
    return sum(word.text.strip(".,;:()").isalpha() for word in run) > 6


def open_regions(words: Sequence[Word], taken: Sequence[Box]) -> Iterator[Region]:
    """Runs of lines whose cells line up, at least three rows; strict, since no line on the page says so."""
    free = [w for w in words if not any(b[0] - 2 <= w.x <= b[2] + 2 and b[1] - 2 <= w.y <= b[3] + 2 for b in taken)]
    yield from _aligned(rows_of_words(free), 0)


def _aligned(lines: Sequence[list[Word]], depth: int) -> Iterator[Region]:
    for run in _candidates(lines):
        several = [line for line in run if len(runs(line, 1.2)) > 1]
        cuts = gutters(run)
        if not cuts or len(several) < _MIN_ROWS:
            continue
        if lines_up(run, cuts):
            yield _around(run)
        elif depth < 2:  # columns of a page side by side: each on its own
            widest = _widest(run, cuts)
            for side in (True, False):
                part = [[word for word in line if (word.x < widest) is side] for line in run]
                yield from _aligned([line for line in part if line], depth + 1)


def _widest(lines: Sequence[Sequence[Word]], cuts: Sequence[float]) -> float:
    """The cut with the widest gap around it."""

    def gap(cut: float) -> float:
        left = max((w.x1 for line in lines for w in line if w.x < cut), default=cut)
        right = min((w.x0 for line in lines for w in line if w.x >= cut), default=cut)
        return right - left

    return max(cuts, key=gap)


def _candidates(lines: Sequence[list[Word]]) -> Iterator[list[list[Word]]]:
    """Runs of lines near each other, most of several pieces; a single line of one piece may stand between them."""
    run: list[list[Word]] = []
    several = False
    for line in lines:
        near = not run or line[0].y0 - run[-1][0].y1 < _PITCH * line[0].size
        before, several = several, len(runs(line, 1.2)) > 1
        if run and not (near and (several or before)):
            yield from _trimmed(run)
            run = []
        if several or run:
            run.append(line)
    yield from _trimmed(run)


def _trimmed(run: list[list[Word]]) -> Iterator[list[list[Word]]]:
    while run and len(runs(run[-1], 1.2)) == 1:
        run = run[:-1]
    if len(run) >= _MIN_ROWS:
        yield run


def _around(lines: Sequence[Sequence[Word]]) -> Region:
    words = [word for line in lines for word in line]
    box = (min(w.x0 for w in words), min(w.y0 for w in words), max(w.x1 for w in words), max(w.y1 for w in words))
    return Region([], [], box)
