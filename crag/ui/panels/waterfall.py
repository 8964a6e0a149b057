"""The waterfall of a turn: when each stage began and how long it took, with its calls and what it need not do again."""

from __future__ import annotations

from collections.abc import Sequence

from crag.schema import StageRun, Trace
from crag.ui import safe
from crag.ui.money import money
from crag.ui.texts import CATALOG, Texts

FOR_A_PERSON = "wait"
"""The stage in which a query waits to be allowed: no work, so it takes no room."""


def runs_of(trace: Trace) -> list[StageRun]:
    """The stretches of work as if nobody had waited for a person; of a trace without them a bar per stage from zero."""
    if not trace.runs:
        worked = ((stage, seconds) for stage, seconds in trace.timings.items() if stage != FOR_A_PERSON)
        return [StageRun(stage=stage, started=0.0, seconds=seconds) for stage, seconds in worked]
    waits = [run for run in trace.runs if run.stage == FOR_A_PERSON]
    return [
        run.model_copy(update={"started": run.started - sum(w.seconds for w in waits if w.started < run.started)})
        for run in trace.runs
        if run.stage != FOR_A_PERSON
    ]


def as_html(trace: Trace, t: Texts) -> str:
    """A list with one row per stretch; the bars share one axis."""
    runs = runs_of(trace)
    rows = "".join(_row(trace, run, _whole(runs), t) for run in runs)
    return f"<ol class='crag-waterfall' aria-label='{safe.in_html(t('timing_alt'))}'>{rows}</ol>"


def _whole(runs: Sequence[StageRun]) -> float:
    """Seconds that the axis spans; never 0."""
    return max((run.started + run.seconds for run in runs), default=0.0) or 1.0


def _row(trace: Trace, run: StageRun, whole: float, t: Texts) -> str:
    left, width = 100 * run.started / whole, 100 * run.seconds / whole
    began = t("run_began", time=milliseconds(run.started * 1000)) if trace.runs else ""
    notes = "".join(f"<span>{safe.in_html(note)}</span>" for note in _notes(trace, run, t))
    return (
        f"<li><span class='crag-run-name'>{safe.in_html(stage_name(run.stage, t))}</span>"
        f"<span class='crag-run-bar' title='{safe.in_html(began)}' aria-hidden='true'>"
        f"<i style='left: {left:.2f}%; width: {width:.2f}%'></i></span>"
        f"<span class='crag-run-time'>{milliseconds(run.seconds * 1000)}</span>"
        f"<span class='crag-spoken'>{safe.in_html(began)}</span>"
        + (f"<span class='crag-run-notes'>{notes}</span>" if notes else "")
        + "</li>"
    )


def _notes(trace: Trace, run: StageRun, t: Texts) -> list[str]:
    """Calls with their tokens and cost, and what was there from before; unescaped."""
    calls = [trace.calls[i] for i in run.calls if i < len(trace.calls)]
    said = [t("n_calls", n=len(calls))] if calls else []
    tokens = [call.tokens_in + (call.tokens_out or 0) for call in calls if call.tokens_in is not None]
    if tokens:
        said.append(t("run_tokens", n=sum(tokens)))
    costs = [call.cost for call in calls if call.cost is not None]
    if run.stage == "search" and trace.web is not None:
        costs += [trace.web.cost] if trace.web.cost and not trace.web.cached else []
        said += [t("reused_web")] if trace.web.cached else []
    if costs:
        said.append(money(sum(costs), trace.currency))
    return said + [t(f"reused_{one.what}", n=one.n, of=one.of) for one in run.reused]


def milliseconds(ms: float) -> str:
    return f"{ms:,.0f} ms" if ms >= 1 else f"{ms:.2f} ms"


def stage_name(stage: str, texts: Texts) -> str:
    """The stage's name in the page's language; the second look's stages say so."""
    if stage.startswith("second_"):
        return texts("stage_again", stage=texts(f"timing_{stage.removeprefix('second_')}"))
    return texts(f"timing_{stage}") if f"timing_{stage}" in CATALOG else stage
