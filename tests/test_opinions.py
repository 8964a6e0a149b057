"""Second opinions: which models can give one, what they are shown, and that nothing of the answer changes."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer, Reply, said_to, serving
from pipeline_stage import QUESTION, Flat, a_document
from test_calibrations import a_calibration

from config import Settings, load_settings
from crag import calibrations
from crag.agent_model.base import Ledger
from crag.agent_model.registry import Models
from crag.agent_model.specs import grading_spec
from crag.assembly import House
from crag.evaluator.grade_cache import GradeCache
from crag.evaluator.llm import LlmJudge
from crag.opinions import TIMES, Opinion, Way, opinion, ways
from crag.schema import EvaluatorName

ANVIL = a_document("anvil")
OTHERS = [ANVIL, *(a_document(name) for name in ("saw", "file", "hammer", "nail", "pliers"))]
LIGHT = EvaluatorName(name="lightweight", version="1")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as state:
        yield state


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    kept = GradeCache(tmp_path / "grades.db")
    made = House(Flat(), None, None, models=Models(), kept_grades=kept, calibrations_dir=tmp_path)  # type: ignore[arg-type]
    yield made
    made.models.close()
    kept.close()


def settings_at(server: ModelServer, **more: object) -> Settings:
    chosen = {"llm_provider": "openai", "llm_model": "writer", "openai_api_base": server.base, "llm_retries": 0}
    return load_settings(**{**chosen, **more})


def judging(*scores: int) -> Any:
    """Replies that give the scores to the anvil in turn, and 1 to all else."""
    left = list(scores)

    def reply(body: dict[str, Any]) -> Reply:
        mine = left.pop(0) if len(left) > 1 else left[0]
        shown = re.findall(r'<document id="(d\d+)">\n(.*?)</document>', said_to(body), re.DOTALL)
        grades = [
            {"id": id_, "score": mine if "anvil" in text else 1, "reason": "so it is", "strips": []}
            for id_, text in shown
        ]
        return Reply(json.dumps({"grades": grades, "query": "q"}))

    return reply


def judge_of(house: House, settings: Settings) -> LlmJudge:
    spec = grading_spec(settings)
    assert spec is not None
    return LlmJudge(house.models.get(spec), Ledger(), house.kept_grades, date.today())


def graded_by(house: House, settings: Settings) -> EvaluatorName:
    evaluator = house.calibrated(judge_of(house, settings)).evaluator
    return EvaluatorName(name=evaluator.name, version=evaluator.version)


def asked(way: Way, house: House) -> Opinion:
    async def run() -> Opinion:
        try:
            return await opinion(way, house, QUESTION, ANVIL, OTHERS)
        finally:
            await house.models.get(way.spec).aclose()

    return asyncio.run(run())


def test_only_a_model_can_say_something_new_to_a_grade_that_is_always_the_same(
    server: ModelServer, house: House
) -> None:
    assert ways(load_settings(), house, LIGHT) == ()
    (way,) = ways(settings_at(server), house, LIGHT)
    assert (way.kind, way.spec.name) == ("other", "openai:writer")


def test_the_judge_can_be_asked_again_and_another_model_beside_it(server: ModelServer, house: House) -> None:
    alone = settings_at(server, evaluator="llm")
    assert [way.kind for way in ways(alone, house, graded_by(house, alone))] == ["again", "stable"]
    two = settings_at(server, evaluator="llm", grader_model="grader")
    found = ways(two, house, graded_by(house, two))
    assert [(way.kind, way.spec.model) for way in found] == [
        ("again", "grader"),
        ("stable", "grader"),
        ("other", "writer"),
    ]
    assert [way.kind for way in ways(two, house, graded_by(house, alone))] == ["other", "other"], (
        "it is another judge now"
    )


def test_graded_again_the_document_is_asked_for_past_what_is_kept_and_kept_anew(
    server: ModelServer, house: House
) -> None:
    settings = settings_at(server, evaluator="llm", price_in=1.0, price_out=1.0)
    server.script = judging(6, 8)

    async def first() -> float | None:
        judge = judge_of(house, settings)
        (grade,) = await judge.grade(QUESTION, [ANVIL])
        await house.models.get(grading_spec(settings)).aclose()  # type: ignore[arg-type]
        return grade.document.score

    assert asyncio.run(first()) == 0.6
    (again, *_) = ways(settings, house, graded_by(house, settings))
    found = asked(again, house)
    assert (found.found.scores, found.found.causes) == ((0.8,), ())
    assert [call.role for call in found.calls] == ["grade"]
    assert found.calls[0].cost is not None
    assert asyncio.run(first()) == 0.8, "the question asked anew uses it"
    assert len(server.chats) == 2, "without a call"


@pytest.mark.parametrize("kind", ["stable", "other"])
def test_several_gradings_show_the_document_in_other_company_and_keep_nothing(
    server: ModelServer, house: House, kind: Any
) -> None:
    settings = settings_at(server, evaluator="llm")
    server.script = judging(6, 7, 9)
    spec = grading_spec(settings)
    assert spec is not None
    found = asked(Way(kind, spec), house)
    assert sorted(found.found.scores) == [0.6, 0.7, 0.9]
    assert found.found.spread == pytest.approx(0.3)
    assert len(found.calls) == len(server.chats) == TIMES
    assert len({said_to(body) for body in server.chats}) == TIMES
    assert all("The anvil weighs" in said_to(body) for body in server.chats)
    asyncio.run(judge_of(house, settings).grade(QUESTION, [ANVIL]))
    assert len(server.chats) == TIMES + 1, "what the check said was not kept"


def test_gradings_that_fail_are_told(server: ModelServer, house: House) -> None:
    server.script = [Reply(status=401)]
    (way,) = ways(settings_at(server), house, LIGHT)
    found = asked(way, house)
    assert found.found.scores == ()
    assert len(found.found.causes) == TIMES
    assert all("refused the key" in cause for cause in found.found.causes)


def test_the_judges_scores_pass_the_calibration_that_its_grades_passed(
    server: ModelServer, house: House, tmp_path: Path
) -> None:
    settings = settings_at(server, evaluator="llm")
    own = graded_by(house, settings)
    made = a_calibration().model_copy(update={"evaluator": own, "embedding": Flat.fingerprint})
    calibrations.apply(tmp_path, made)
    server.script = judging(6)
    (again, stable) = ways(settings, house, graded_by(house, settings))
    mapped = made.after.document_map(0.6)
    assert mapped != pytest.approx(0.6)
    assert asked(again, house).found.scores == (pytest.approx(mapped),)
    assert asked(Way("other", stable.spec), house).found.scores == (0.6,) * TIMES
