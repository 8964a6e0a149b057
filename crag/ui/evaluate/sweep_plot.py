"""What every pair of thresholds is worth, as a map; the pair in force and the suggested one stand on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import altair as alt

from crag.ui.colours import KEPT, QUIET
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from crag.evaluation.calibration import Suggestion, Surface

CELL: Final = 0.02
"""Side of a cell on either axis; the step of the sweep."""
SHADES: Final = ["#f3e3c4", "#a9b98c", "#4d8f7b", "#215a6d", "#10304f"]
"""From worth least to worth most: light to dark, so that it holds without colour."""
NOW, THEN = "#d2504a", "#ffffff"


def plot(found: Suggestion, t: Texts) -> alt.LayerChart | alt.FacetChart:
    """Upper threshold across, lower one up; where lower > upper there is nothing."""
    surface = found.surface
    across: dict[str, Any] = {"scale": alt.Scale(domain=[0, 1], nice=False), "axis": alt.Axis(format=".1f", grid=False)}
    x = alt.X("from:Q", title=t("golden_upper"), **across)
    y = alt.Y("low:Q", title=t("golden_lower"), **across)
    cells = (
        alt.Chart(alt.InlineData(values=_cells(surface)))
        .mark_rect()
        .encode(
            x=x,
            x2="to:Q",
            y=y,
            y2="high:Q",
            color=alt.Color(
                "worth:Q",
                scale=alt.Scale(range=SHADES),
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
    marks = points.mark_point(filled=True, size=190, stroke="#15171b", strokeWidth=1.5, opacity=1).encode(
        shape=alt.Shape("shape:N", scale=None),
        color=alt.Color("colour:N", scale=None),
        tooltip=[alt.Tooltip("name:N", title=" ")],
    )
    words = points.mark_text(align="right", dx=-13, fontSize=12, fontWeight=600, color=QUIET).encode(
        text="name:N", y=alt.Y("lower:Q", **across)
    )
    return alt.layer(cells, marks, words).properties(height=340)


def _cells(surface: Surface) -> list[dict[str, float]]:
    """One for each pair on the grid; the pair in force lies between its lines and is a point of its own."""
    half = CELL / 2
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
    if after != (found.before.upper, found.before.lower):
        shown = {"upper": after[0], "lower": after[1], "name": t("golden_suggested")}
        points.append({**shown, "shape": "circle", "colour": KEPT})
    return points
