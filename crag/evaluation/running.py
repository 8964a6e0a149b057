"""Puts questions to the real pipeline, one after the other, and keeps every trace."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from config import Settings
from crag.assembly import House
from crag.evaluation.question_sets import Question
from crag.events import Finished
from crag.pipeline import answer
from crag.runtime import in_pool, sentence
from crag.schema import EvaluatorName, Trace

Progress = Callable[[int, int], None]
"""Is told how many questions are done, and of how many."""


@dataclass(frozen=True)
class Outcome:
    """What became of one question. A failure is in the trace's `error`, with no action."""

    question: Question
    trace: Trace


async def run(
    house: House, settings: Settings, questions: Sequence[Question], on_progress: Progress | None = None
) -> list[Outcome]:
    """One outcome per question, in their order; a question that fails becomes an outcome with its error.

    Raises KnowledgeBaseError where the index cannot be asked at all.
    """
    await in_pool(opened, house)
    outcomes: list[Outcome] = []
    for question in questions:
        outcomes.append(await ask_one(house, settings, question))
        if on_progress is not None:
            on_progress(len(outcomes), len(questions))
    return outcomes


def opened(house: House) -> None:
    """An index that cannot be asked is told once, and not with every question. Raises KnowledgeBaseError."""
    with house.knowledge_base.snapshot():
        return


async def ask_one(
    house: House, settings: Settings, question: Question, stopping: threading.Event | None = None
) -> Outcome:
    """Its outcome, whatever goes wrong; where `stopping` is set on the way, its trace is marked as stopped."""
    return Outcome(question, await _trace(house, settings, question, stopping or threading.Event()))


async def _trace(house: House, settings: Settings, question: Question, stopping: threading.Event) -> Trace:
    try:
        async for event in answer(house.parts(settings), question.question, question.id, stopping):
            if isinstance(event, Finished):
                return event.trace
    except Exception as error:  # whatever it is, the other questions are asked
        return _failed(house, settings, question, sentence(error))
    raise AssertionError("a turn always ends with its trace")


def _failed(house: House, settings: Settings, question: Question, error: str) -> Trace:
    parts = house.parts(settings)
    return Trace(
        turn_id=question.id,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        question=question.question,
        language=question.language,
        k=parts.k,
        thresholds=parts.thresholds,
        evaluator=EvaluatorName(name=parts.evaluator.name, version=parts.evaluator.version),
        generator=parts.generator.name,
        error=error,
    )
