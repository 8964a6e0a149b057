"""The waterfall says when each stage ran, what was called in it, and what came from before."""

from __future__ import annotations

import re

from ui_stage import CORRECT, Stage, action_of, answered, events, html, open_panel

from crag.events import Finished
from crag.schema import EvaluatorName, ModelCall, Reused, StageRun, Thresholds, Trace, WebSearched
from crag.ui.panels.waterfall import as_html, runs_of
from crag.ui.texts import Texts


def trace(*runs: StageRun, **changed: object) -> Trace:
    fields: dict[str, object] = {
        "turn_id": "t",
        "created": "",
        "question": "q",
        "k": 8,
        "thresholds": Thresholds(),
        "generator": "g",
        "evaluator": EvaluatorName(name="e", version="1"),
        "timings": {run.stage: run.seconds for run in runs},
        "runs": runs,
    }
    return Trace.model_validate(fields | changed)


def bars(shown: str) -> list[tuple[float, float]]:
    return [(float(a), float(b)) for a, b in re.findall(r"left: ([\d.]+)%; width: ([\d.]+)%", shown)]


def test_each_bar_begins_where_its_stage_began() -> None:
    shown = as_html(
        trace(StageRun(stage="embed", started=0, seconds=1), StageRun(stage="grade", started=1, seconds=3)), Texts("en")
    )
    assert bars(shown) == [(0, 25), (25, 75)]
    assert "began after 1,000 ms" in shown


def test_the_time_of_a_person_takes_no_room_on_the_axis() -> None:
    made = trace(
        StageRun(stage="rewrite", started=0, seconds=1),
        StageRun(stage="wait", started=1, seconds=60),
        StageRun(stage="search", started=61, seconds=1),
    )
    assert [(run.stage, run.started) for run in runs_of(made)] == [("rewrite", 0), ("search", 1)]
    assert bars(as_html(made, Texts("en"))) == [(0, 50), (50, 50)]


def test_a_trace_of_before_has_a_bar_per_stage_from_zero() -> None:
    shown = as_html(trace(timings={"embed": 1, "wait": 9, "grade": 4}), Texts("en"))
    assert bars(shown) == [(0, 25), (0, 100)]
    assert "began after" not in shown


def test_calls_tokens_cost_and_what_came_from_before_stand_in_the_row_of_their_stage() -> None:
    calls = (
        ModelCall(role="grade", model="m", seconds=1, tokens_in=1200, tokens_out=34, cost=0.002),
        ModelCall(role="generate", model="<b>m</b>", seconds=1),
    )
    made = trace(
        StageRun(
            stage="grade", started=0, seconds=1, calls=(0,), reused=(Reused(what="grades", n=5, of=8),)
        ),
        StageRun(stage="search", started=1, seconds=1),
        StageRun(stage="second_grade", started=2, seconds=1, reused=(Reused(what="vectors", n=9, of=9),)),
        StageRun(stage="generate", started=3, seconds=1, calls=(1, 7)),
        calls=calls,
        web=WebSearched(provider="p", query="q", time="", results=1, cached=True, cost=0.5),
    )  # fmt: skip
    rows = re.findall(r"<li>.*?</li>", as_html(made, Texts("en")))
    for part in ("1 call", "1,234 tokens", "0.0020 USD", "5 of 8 grades kept from an earlier question"):
        assert part in rows[0]
    assert "results kept from an earlier search" in rows[1]
    assert "0.5" not in rows[1], "what was kept costs nothing"
    assert "second look: grade" in rows[2]
    assert "9 of 9 vectors were there already" in rows[2]
    assert "1 call<" in rows[3]
    assert "token" not in rows[3], "the server did not say"


def test_the_timing_panel_shows_it(stage: Stage) -> None:
    stage.turn = events(CORRECT)
    assert action_of(stage.turn) is not None
    last = stage.turn[-1]
    assert isinstance(last, Finished)
    run = StageRun(stage="retrieve", started=0.5, seconds=0.5)
    stage.turn[-1] = Finished(trace=last.trace.model_copy(update={"runs": (run,)}))
    shown = html(open_panel(answered(stage), "timing"))
    assert "left: 50.00%; width: 50.00%" in shown
