"""Timing: the waterfall of the stages, and one row per call of a model."""

from __future__ import annotations

import streamlit as st

from crag.schema import Trace
from crag.ui import safe
from crag.ui.money import cost_of, money
from crag.ui.panels import calls, waterfall
from crag.ui.panels.waterfall import FOR_A_PERSON
from crag.ui.texts import Texts


def draw(trace: Trace, texts: Texts) -> None:
    if trace.timings:
        _draw_stages(trace, texts)
    else:
        st.caption(texts("no_timings"))
    if trace.calls:
        calls.draw(trace, texts)


def spent(trace: Trace, texts: Texts) -> str:
    """Seconds of work, calls of models, and what they cost as far as it is known."""
    parts = [texts("seconds", n=_worked(trace))]
    if trace.calls:
        parts.append(texts("n_calls", n=len(trace.calls)))
    if known := cost_of(trace):
        cost, whole = known
        parts.append(money(cost, trace.currency) if whole else texts("at_least", cost=money(cost, trace.currency)))
    return " · ".join(parts)


def _worked(trace: Trace) -> float:
    return sum(seconds for stage, seconds in trace.timings.items() if stage != FOR_A_PERSON)


def _draw_stages(trace: Trace, texts: Texts) -> None:
    st.html(waterfall.as_html(trace, texts))
    said = texts("timing_total", n=_worked(trace), evaluator=trace.evaluator.name, generator=trace.generator)
    if FOR_A_PERSON in trace.timings:
        said += " · " + texts("timing_waited", n=trace.timings[FOR_A_PERSON])
    st.caption(safe.in_markdown(said))
