"""Ruling lines of a page: what its drawings say about where rows, columns and boxes begin and end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

_THIN = 2.6
"""A filled rectangle up to this thick (points) is a drawn line."""
_SHORT = 6.0
_TOO_MANY = 2500
"""More lines than any table has: a map or a chart."""
_APART = 2.0
_GAP = 4.0
"""Pieces of one line may lie this far apart: dashes, borders drawn cell by cell."""
_WHITE = 0.985
_FLUSH = 0.35


class Rule(NamedTuple):
    """A straight line along the axis it belongs to, in points: at `at`, from `start` to `end`."""

    at: float
    start: float
    end: float


class Rules(NamedTuple):
    """Lines of a page, each direction sorted by position; collinear pieces are one."""

    across: list[Rule]
    down: list[Rule]


def rules_of(drawings: Iterable[Mapping[str, Any]], width: float, height: float) -> Rules:
    """The rules among a page's vector paths (PyMuPDF's `get_cdrawings()`), in the coordinates of the paths.

    Edges of shaded boxes count as lines; white fills and what covers the whole page do not. A page of a map or a
    chart (thousands of lines) has none.
    """
    across: list[Rule] = []
    down: list[Rule] = []
    shades: dict[tuple[Any, ...], list[Rule]] = {}
    for path in drawings:
        shade = path.get("fill") if path["type"] == "f" else None
        for box, outline in _boxes(path):
            x0, y0, x1, y1 = box
            if x1 - x0 > 0.97 * width and y1 - y0 > 0.9 * height:
                continue
            if y1 - y0 <= _THIN and x1 - x0 >= _SHORT:
                across.append(Rule((y0 + y1) / 2, x0, x1))
            elif x1 - x0 <= _THIN and y1 - y0 >= _SHORT:
                down.append(Rule((x0 + x1) / 2, y0, y1))
            elif outline and x1 - x0 >= _SHORT and y1 - y0 >= _SHORT:
                edges = [Rule(y0, x0, x1), Rule(y1, x0, x1)]
                if shade is None:
                    across += edges
                else:
                    shades.setdefault((tuple(shade), round(x0), round(x1)), []).extend(edges)
                down += [Rule(x0, y0, y1), Rule(x1, y0, y1)]
        if len(across) + len(down) > 4 * _TOO_MANY:
            return Rules([], [])
    across += [rule for edges in shades.values() for rule in _outer(edges)]
    found = Rules(_joined(across), _joined(down))
    return Rules([], []) if len(found.across) + len(found.down) > _TOO_MANY else found


Box = tuple[float, float, float, float]


def _boxes(path: Mapping[str, Any]) -> Iterable[tuple[Box, bool]]:
    """(box, whether its outline counts) of each straight part of a path."""
    stroked = "s" in path["type"] and _visible(path.get("color"))
    filled = "f" in path["type"] and _visible(path.get("fill"))
    if not (stroked or filled):
        return
    items = path["items"]
    if filled and not stroked and 3 <= len(items) <= 5 and all(item[0] == "l" for item in items):
        points = [point for item in items for point in item[1:3]]
        xs, ys = {round(x, 1) for x, _ in points}, {round(y, 1) for _, y in points}
        if len(xs) <= 2 and len(ys) <= 2:
            yield (min(xs), min(ys), max(xs), max(ys)), True
        return
    for item in items:
        if item[0] == "re":
            x0, y0, x1, y1 = item[1][:4]
            yield (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), True
        elif item[0] == "l" and stroked:
            (x0, y0), (x1, y1) = item[1], item[2]
            if abs(x1 - x0) < 1 or abs(y1 - y0) < 1:
                yield (min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)), False
        elif item[0] == "qu":
            corners = item[1]
            xs2, ys2 = [p[0] for p in corners], [p[1] for p in corners]
            if len({round(x) for x in xs2}) == 2 == len({round(y) for y in ys2}):
                yield (min(xs2), min(ys2), max(xs2), max(ys2)), True


def _outer(edges: list[Rule]) -> Iterable[Rule]:
    """The upper and lower ends of shaded stripes: where one ends as the next of its colour begins there is no line."""
    ordered = sorted(edges)
    position = 0
    while position < len(ordered):
        if position + 1 < len(ordered) and ordered[position + 1].at - ordered[position].at < _FLUSH:
            position += 2
        else:
            yield ordered[position]
            position += 1


def _visible(colour: Any) -> bool:
    return colour is not None and min(colour, default=1.0) < _WHITE


def _joined(rules: list[Rule]) -> list[Rule]:
    """Rules on one line, at most a little apart, become one."""
    levels: list[list[Rule]] = []
    for rule in sorted(rules):
        if levels and rule.at - levels[-1][0].at <= _APART:
            levels[-1].append(rule)
        else:
            levels.append([rule])
    joined: list[Rule] = []
    for level in levels:
        at = sum(rule.at for rule in level) / len(level)
        start, end = None, 0.0
        for rule in sorted(level, key=lambda one: one.start):
            if start is None:
                start, end = rule.start, rule.end
            elif rule.start - end <= _GAP:
                end = max(end, rule.end)
            else:
                joined.append(Rule(at, start, end))
                start, end = rule.start, rule.end
        if start is not None:
            joined.append(Rule(at, start, end))
    return joined
