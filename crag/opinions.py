"""A second opinion on a document's grade: of the same judge again, or of another model. The answer stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from config import Settings
from crag.agent_model.base import Ledger, ModelSpec
from crag.agent_model.specs import grading_spec, writing_spec
from crag.assembly import House
from crag.evaluator.llm import LlmJudge
from crag.evaluator.stability import Stability, stability
from crag.schema import Document, EvaluatorName, ModelCall

Kind = Literal["again", "stable", "other"]
"""The judge once more, alone; the judge several times, in other company; another model, likewise."""
TIMES: Final = 3
"""Gradings of a check of stability, and of another model."""


@dataclass(frozen=True)
class Way:
    """How an opinion can be had, and of which model."""

    kind: Kind
    spec: ModelSpec


@dataclass(frozen=True)
class Opinion:
    """What was said, and the calls that it took."""

    way: Way
    found: Stability
    calls: tuple[ModelCall, ...]


def ways(settings: Settings, house: House, graded_by: EvaluatorName) -> tuple[Way, ...]:
    """How the grades of an evaluator can be checked with the models of `settings`; none: no model is there.

    Only a model can say something new: every other evaluator gives a text the same score each time.
    """
    grader, writer = grading_spec(settings), writing_spec(settings)
    found: list[Way] = []
    if grader is not None:
        same = house.calibrated(_judge(house, grader, Ledger())).evaluator.version == graded_by.version
        found += [Way("again", grader), Way("stable", grader)] if same else [Way("other", grader)]
    if writer is not None and (grader is None or writer.name != grader.name):
        found.append(Way("other", writer))
    return tuple(found)


async def opinion(way: Way, house: House, question: str, document: Document, others: Sequence[Document]) -> Opinion:
    """Asks for it; `others` are the documents of the turn. Gradings that fail are told in it, none raises.

    What is graded again takes the place of the kept grade, so that the question asked anew uses it.
    """
    ledger = Ledger()
    judge = _judge(house, way.spec, ledger, keeps=way.kind == "again")
    if way.kind == "again":
        grade = (await judge.grade_again(question, document)).document
        scores = (grade.score,) if grade.score is not None else ()
        found = Stability(scores=scores, causes=(grade.cause,) if grade.cause is not None else ())
    else:
        found = await stability(judge, question, document, others, TIMES)
    calibration = house.calibrated(judge).calibration if way.kind != "other" else None
    if calibration is not None and calibration.after.maps_scores:
        found = found.model_copy(update={"scores": tuple(map(calibration.after.document_map, found.scores))})
    return Opinion(way, found, tuple(ledger.calls))


def _judge(house: House, spec: ModelSpec, ledger: Ledger, *, keeps: bool = False) -> LlmJudge:
    return LlmJudge(house.models.get(spec), ledger, house.kept_grades if keeps else None, date.today())
