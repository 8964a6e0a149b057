"""The scores of strips on a line, with the strip threshold: kept ones as dots, dropped ones as strokes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from crag.schema import GradedStrip
from crag.ui.colours import KEPT, QUIET, WEB
from crag.ui.texts import Texts

LONGEST = 90
"""Characters of a strip that its tooltip shows."""


def plot(strips: Sequence[GradedStrip], threshold: float, t: Texts) -> alt.LayerChart | alt.FacetChart:
    """`threshold` in [0, 1]; strips without a score are left out."""
    axis = alt.Axis(values=[0, threshold, 1], format=".2f", grid=False, domain=False, labelOverlap="greedy")
    across: dict[str, Any] = {"scale": alt.Scale(domain=[0, 1], nice=False), "axis": axis, "title": None}
    names = [t("filter_kept"), t("filter_dropped")]
    kinds = alt.Y("kind:N", sort=names, title=None, axis=None, scale=alt.Scale(domain=names))
    base = alt.Chart(alt.InlineData(values=[_row(strip, t) for strip in strips if strip.score is not None])).encode(
        x=alt.X("score:Q", **across),
        y=kinds,
        color=alt.Color("colour:N", scale=None),
        tooltip=[
            alt.Tooltip("strip:N", title=t("strip")),
            alt.Tooltip("place:N", title=t("source")),
            alt.Tooltip("score:Q", title=t("score"), format=".3f"),
        ],
    )
    rule = (
        alt.Chart(alt.InlineData(values=[{"at": threshold}]))
        .mark_rule(strokeDash=[4, 3], color=QUIET, strokeWidth=1.5)
        .encode(x=alt.X("at:Q", **across))
    )
    kept = base.transform_filter("datum.kept").mark_point(filled=True, size=80, opacity=0.85)
    dropped = base.transform_filter("!datum.kept").mark_tick(thickness=2, size=16, opacity=0.7)
    words = (  # in the plot, so that its scale stands below that of the documents
        alt.Chart(alt.InlineData(values=[{"kind": name} for name in names]))
        .mark_text(align="left", dy=-17, color=QUIET, fontSize=12)
        .encode(x=alt.value(0), y=kinds, text="kind:N")
    )
    return alt.layer(rule, words, dropped, kept).properties(height=140)


def _row(strip: GradedStrip, t: Texts) -> dict[str, Any]:
    text = strip.text if len(strip.text) <= LONGEST else f"{strip.text[: LONGEST - 1]}…"
    return {
        "score": strip.score,
        "kept": strip.kept,
        "kind": t("filter_kept" if strip.kept else "filter_dropped"),
        "colour": (WEB if strip.url else KEPT) if strip.kept else QUIET,
        "strip": text,
        "place": t("place", file=strip.file, page=strip.page) if not strip.url else strip.title or strip.url,
    }
