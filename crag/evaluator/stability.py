"""How firmly a judge stands by a grade: the same document graded again and again, in other company each time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from statistics import fmean
from typing import Final, Protocol

from crag.schema import Document, DocumentGrade, Frozen, Thresholds, Unit

TIMES: Final = 5
COMPANY: Final = 3
"""Other documents that are shown beside the one in question."""


class Judge(Protocol):
    """An evaluator of which a document can be asked past everything that is kept (`LlmJudge`)."""

    async def grade_as_ordered(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]: ...


class Stability(Frozen):
    """The scores of one document, and the causes of the gradings that gave none."""

    scores: tuple[Unit, ...] = ()
    causes: tuple[str, ...] = ()

    @property
    def mean(self) -> float | None:
        """None where no grading gave a score."""
        return fmean(self.scores) if self.scores else None

    @property
    def spread(self) -> float | None:
        """The highest score less the lowest, in [0, 1]; None where no grading gave a score."""
        return max(self.scores) - min(self.scores) if self.scores else None

    def differing(self, score: float, thresholds: Thresholds) -> int:
        """How many of the scores have another verdict than `score` has. Pure, so a threshold can be moved."""
        return sum(thresholds.verdict(other) is not thresholds.verdict(score) for other in self.scores)


async def stability(
    judge: Judge, question: str, document: Document, others: Sequence[Document] = (), times: int = TIMES
) -> Stability:
    """Grades `document` `times` more times, side by side; nothing of it is kept.

    Temperature stays 0, as in use: what moves a grade there is the company that a document is shown in and its place
    in it. So each time others of `others` (the turn's documents) stand around it, and it stands elsewhere among them.
    For the view of a second model, pass a judge over that model.
    """
    company = [other for other in others if other.id != document.id]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_once(judge, question, document, _turned(company, n), n)) for n in range(times)]
    grades = [task.result().document for task in tasks]
    return Stability(
        scores=tuple(grade.score for grade in grades if grade.score is not None),
        causes=tuple(grade.cause for grade in grades if grade.cause is not None),
    )


async def _once(judge: Judge, question: str, document: Document, company: Sequence[Document], n: int) -> DocumentGrade:
    place = n % (len(company) + 1)
    grades = await judge.grade_as_ordered(question, [*company[:place], document, *company[place:]])
    return grades[place]


def _turned(company: Sequence[Document], n: int) -> list[Document]:
    """At most `COMPANY` of them, others each time as far as there are others."""
    start = n * COMPANY % len(company) if company else 0
    return [*company[start:], *company[:start]][:COMPANY]
