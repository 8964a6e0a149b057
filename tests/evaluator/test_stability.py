"""The stability check: the same document in other company, and whether its verdict would stand."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from judging import ReadingModel, a_document, documents_in, read

from crag.agent_model.base import Ledger
from crag.errors import ModelError
from crag.evaluator.grade_cache import GradeCache
from crag.evaluator.llm import LlmJudge
from crag.evaluator.stability import Stability, stability
from crag.schema import Thresholds

TODAY = date(2026, 12, 1)
QUESTION = "In which year?"
MOON = a_document("moon", "The answer is 1969.")
OTHERS = [MOON, *(a_document(f"o{n}", f"Other {n}.") for n in range(7))]


def place_of_moon(prompt: str) -> int:
    return next(n for n, text in enumerate(documents_in(prompt).values()) if "1969" in text)


def swayed_by_place(prompt: str) -> dict[str, Any]:
    """Scores 9 for whatever stands first, 6 further down."""
    given = read(prompt)
    for n, grade in enumerate(given["grades"]):
        grade["score"] = 9 if n == 0 else 6
    return given


async def test_each_time_the_document_stands_elsewhere_among_others() -> None:
    model = ReadingModel()
    found = await stability(LlmJudge(model, Ledger(), None, TODAY), QUESTION, MOON, OTHERS, times=5)
    assert found.scores == (0.9,) * 5
    assert (found.mean, found.spread, found.causes) == (pytest.approx(0.9), 0.0, ())
    assert [place_of_moon(prompt) for prompt in model.prompts] == [0, 1, 2, 3, 0]
    assert [len(documents_in(prompt)) for prompt in model.prompts] == [4] * 5
    assert len(set(model.prompts)) == 5


async def test_a_grade_that_hangs_on_its_place_is_found_out_and_a_threshold_can_be_moved_without_a_call() -> None:
    model = ReadingModel(says=swayed_by_place)
    found = await stability(LlmJudge(model, Ledger(), None, TODAY), QUESTION, MOON, OTHERS, times=4)
    assert sorted(found.scores) == [0.6, 0.6, 0.6, 0.9]
    assert found.mean == pytest.approx(0.675)
    assert found.spread == pytest.approx(0.3)
    assert found.differing(0.9, Thresholds(upper=0.7, lower=0.3)) == 3
    assert found.differing(0.6, Thresholds(upper=0.7, lower=0.3)) == 1
    assert found.differing(0.9, Thresholds(upper=0.6, lower=0.3)) == 0
    assert len(model.prompts) == 4


async def test_alone_it_is_graded_alone_and_nothing_is_kept(tmp_path: Any) -> None:
    model, cache = ReadingModel(), GradeCache(tmp_path / "grades.db")
    judge = LlmJudge(model, Ledger(), cache, TODAY)
    await judge.grade(QUESTION, [MOON])
    await stability(judge, QUESTION, MOON, times=3)
    assert len(model.prompts) == 4
    second = ReadingModel(name="test:second")
    found = await stability(LlmJudge(second, Ledger(), cache, TODAY), QUESTION, MOON, times=2)
    assert len(found.scores) == len(second.prompts) == 2
    await LlmJudge(second, Ledger(), cache, TODAY).grade(QUESTION, [MOON])
    assert len(second.prompts) == 3, "what the check said was not kept"


async def test_gradings_that_fail_are_told_and_count_as_none() -> None:
    def says(prompt: str) -> dict[str, Any]:
        if place_of_moon(prompt) % 2:
            raise ModelError("Too much at once.")
        return read(prompt)

    found = await stability(LlmJudge(ReadingModel(says=says), Ledger(), None, TODAY), QUESTION, MOON, OTHERS, times=4)
    assert found.scores == (0.9, 0.9)
    assert found.causes == ("Too much at once.",) * 2
    assert (Stability().mean, Stability().spread) == (None, None)
