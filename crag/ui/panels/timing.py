"""Timing: one bar per stage on a common axis, with the numbers."""

from __future__ import annotations

import altair as alt
import streamlit as st

from crag.schema import Trace
from crag.ui.colours import NEUTRAL, QUIET
from crag.ui.texts import CATALOG, Texts

ROW = 26
"""Pixels per stage."""


def draw(trace: Trace, texts: Texts) -> None:
    if not trace.timings:
        st.caption(texts("no_timings"))
        return
    rows = [
        {"stage": stage_name(stage, texts), "ms": seconds * 1000, "text": milliseconds(seconds * 1000)}
        for stage, seconds in trace.timings.items()
    ]
    longest = max(seconds * 1000 for seconds in trace.timings.values())
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y(
            "stage:N",
            sort=None,
            title=None,
            axis=alt.Axis(labelLimit=200, labelOverlap=False, ticks=False, domain=False),
        ),
        x=alt.X(
            "ms:Q", title=texts("milliseconds"), axis=alt.Axis(tickCount=4), scale=alt.Scale(domain=[0, longest * 1.18])
        ),
    )
    bars = base.mark_bar(color=NEUTRAL, height=12, cornerRadiusEnd=3)
    numbers = base.mark_text(align="left", dx=5, color=QUIET, fontSize=12).encode(text="text:N")
    st.altair_chart((bars + numbers).properties(height=ROW * len(rows) + 70), alt=texts("timing_alt"))
    st.caption(
        texts("timing_total", n=sum(trace.timings.values()), evaluator=trace.evaluator.name, generator=trace.generator)
    )


def milliseconds(ms: float) -> str:
    return f"{ms:,.0f} ms" if ms >= 1 else f"{ms:.2f} ms"


def stage_name(stage: str, texts: Texts) -> str:
    """The stage's name in the page's language; the second look's stages say so."""
    if stage.startswith("second_"):
        return texts("stage_again", stage=texts(f"timing_{stage.removeprefix('second_')}"))
    return texts(f"timing_{stage}") if f"timing_{stage}" in CATALOG else stage
