"""What every pair of thresholds is worth, as a map; the pair in force and the suggested one stand on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt
import numpy as np

from crag.ui.colours import KEPT
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from crag.evaluation.calibration import Suggestion, Surface

CELL: Final = 0.02
"""Side of a cell on either axis; the step of the sweep."""
SEAM: Final = 0.0008
"""By which cells overlap, so that no line is seen between them."""
ROUNDED: Final = 0.0006
"""Suggestions are rounded to three digits."""
SHADES: Final = ["#f3e3c4", "#a9b98c", "#4d8f7b", "#215a6d", "#10304f"]
"""From worth least to worth most: light to dark, so that it holds without colour."""
NOW: Final = "#d2504a"
INK, HALO = "#15171b", "#ffffff"
FLOOR: Final = 10
"""Per cent of the pairs that are all drawn as worth least: the worst ones would leave no shades for the rest."""


def plot(found: Suggestion, t: Texts) -> alt.LayerChart | alt.FacetChart:
    """Upper threshold across, lower one up; where lower > upper there is nothing."""
    surface = found.surface
    worths = _cells(surface)
    floor = float(np.percentile([cell["worth"] for cell in worths], FLOOR))
    top = max(cell["worth"] for cell in worths)
    across: dict[str, Any] = {"scale": alt.Scale(domain=[0, 1], nice=False), "axis": alt.Axis(format=".1f", grid=False)}
    x = alt.X("from:Q", title=t("golden_upper"), **across)
    y = alt.Y("low:Q", title=t("golden_lower"), **across)
    cells = (
        alt.Chart(alt.InlineData(values=worths))
        .mark_rect()
        .encode(
            x=x,
            x2="to:Q",
            y=y,
            y2="high:Q",
            color=alt.Color(
                "worth:Q",
                scale=alt.Scale(range=SHADES, domain=[floor, max(top, floor + 1e-6)], clamp=True),
                legend=alt.Legend(title=t("golden_utility"), orient="top", gradientLength=160, format=".2f"),
            ),
            tooltip=[
                alt.Tooltip("upper:Q", title=t("golden_upper"), format=".2f"),
                alt.Tooltip("lower:Q", title=t("golden_lower"), format=".2f"),
                alt.Tooltip("worth:Q", title=t("golden_utility"), format=".3f"),
            ],
        )
    )
    points = alt.Chart(alt.InlineData(values=_points(found, t))).encode(
        x=alt.X("upper:Q", **across), y=alt.Y("lower:Q", **across)
    )
    marks = points.mark_point(filled=True, size=190, stroke=HALO, strokeWidth=2, opacity=1).encode(
        shape=alt.Shape("shape:N", scale=None),
        color=alt.Color("colour:N", scale=None),
        tooltip=[alt.Tooltip("name:N", title=" ")],
    )
    return alt.layer(cells, marks, *_words(points)).properties(height=340)


def _words(points: alt.Chart) -> list[alt.Chart]:
    """The names beside their points, with a halo: they are read on every shade."""
    look: dict[str, Any] = {"align": "right", "dx": -14, "fontSize": 12, "fontWeight": 600}
    halo = points.mark_text(**look, stroke=HALO, strokeWidth=4, strokeJoin="round", opacity=0.9)
    return [halo.encode(text="name:N"), points.mark_text(**look, color=INK).encode(text="name:N")]


def _cells(surface: Surface) -> list[dict[str, float]]:
    """One for each pair on the grid; the pair in force lies between its lines and is a point of its own."""
    half = CELL / 2 + SEAM
    return [
        {
            "from": max(0.0, upper - half),
            "to": min(1.0, upper + half),
            "low": max(0.0, lower - half),
            "high": min(1.0, lower + half),
            "upper": upper,
            "lower": lower,
            "worth": round(float(surface.worth[i, j]), 4),
        }
        for i, upper in enumerate(surface.uppers)
        for j, lower in enumerate(surface.lowers)
        if lower <= upper and _on_grid(upper) and _on_grid(lower)
    ]


def _on_grid(value: float) -> bool:
    return abs(value / CELL - round(value / CELL)) < 1e-6


def _points(found: Suggestion, t: Texts) -> list[dict[str, Any]]:
    """In force; and the suggestion, where it is another pair."""
    upper, lower = found.surface.now
    points = [{"upper": upper, "lower": lower, "name": t("golden_in_force"), "shape": "diamond", "colour": NOW}]
    after = found.after.upper, found.after.lower
    if max(abs(after[0] - upper), abs(after[1] - lower)) > ROUNDED:
        shown = {"upper": after[0], "lower": after[1], "name": t("golden_suggested")}
        points.append({**shown, "shape": "circle", "colour": KEPT})
    return points
