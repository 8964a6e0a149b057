"""Timing: one bar per stage on a common axis, and one row per call of a model."""

from __future__ import annotations

import altair as alt
import streamlit as st

from crag.schema import Trace
from crag.ui import safe
from crag.ui.colours import NEUTRAL, QUIET
from crag.ui.money import cost_of, money
from crag.ui.panels import calls
from crag.ui.texts import CATALOG, Texts

ROW = 26
"""Pixels per stage."""
FOR_A_PERSON = "wait"
"""The stage in which a query waits to be allowed: no work, so it is told apart."""


def draw(trace: Trace, texts: Texts) -> None:
    if trace.timings:
        _draw_stages(trace, texts)
    else:
        st.caption(texts("no_timings"))
    if trace.calls:
        calls.draw(trace, texts)


def spent(trace: Trace, texts: Texts) -> str:
    """Seconds of work, calls of models, and what they cost as far as it is known."""
    parts = [texts("seconds", n=sum(_worked(trace).values()))]
    if trace.calls:
        parts.append(texts("n_calls", n=len(trace.calls)))
    if known := cost_of(trace):
        cost, whole = known
        parts.append(money(cost, trace.currency) if whole else texts("at_least", cost=money(cost, trace.currency)))
    return " · ".join(parts)


def _worked(trace: Trace) -> dict[str, float]:
    return {stage: seconds for stage, seconds in trace.timings.items() if stage != FOR_A_PERSON}


def _draw_stages(trace: Trace, texts: Texts) -> None:
    worked = _worked(trace)
    rows = [
        {"stage": stage_name(stage, texts), "ms": seconds * 1000, "text": milliseconds(seconds * 1000)}
        for stage, seconds in worked.items()
    ]
    longest = max((seconds * 1000 for seconds in worked.values()), default=1.0)
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
    said = texts("timing_total", n=sum(worked.values()), evaluator=trace.evaluator.name, generator=trace.generator)
    if FOR_A_PERSON in trace.timings:
        said += " · " + texts("timing_waited", n=trace.timings[FOR_A_PERSON])
    st.caption(safe.in_markdown(said))


def milliseconds(ms: float) -> str:
    return f"{ms:,.0f} ms" if ms >= 1 else f"{ms:.2f} ms"


def stage_name(stage: str, texts: Texts) -> str:
    """The stage's name in the page's language; the second look's stages say so."""
    if stage.startswith("second_"):
        return texts("stage_again", stage=texts(f"timing_{stage.removeprefix('second_')}"))
    return texts(f"timing_{stage}") if f"timing_{stage}" in CATALOG else stage
