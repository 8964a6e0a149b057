"""What `ask` prints below an answer."""

from __future__ import annotations

import pytest

from crag.cli.ask import print_trace
from crag.schema import Action, Citation, EvaluatorName, Source, Thresholds, Trace


def source(n: int, page: int) -> Source:
    return Source(n=n, file="pump.pdf", files=("pump.pdf",), content="c", page=page, text="t", strips=())


def test_the_sources_that_the_answer_cites_are_listed_and_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    trace = Trace(
        turn_id="t",
        created="2026-01-01T00:00:00+00:00",
        question="q",
        k=8,
        thresholds=Thresholds(),
        evaluator=EvaluatorName(name="lightweight", version="1"),
        generator="extractive",
        action=Action.CORRECT,
        decision="Best 0.90 reaches 0.70",
        sources=(source(1, 3), source(2, 7)),
        citations=(Citation(n=2, file="pump.pdf", page=7),),
        answer="“It pumps.” [2]",
    )
    print_trace(trace, ())
    said = capsys.readouterr().out
    assert "CORRECT: Best 0.90 reaches 0.70" in said
    assert "[2] pump.pdf, page 7" in said
    assert "[1]" not in said
