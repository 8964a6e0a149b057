"""Scores pass a map, and nothing else of a grade changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from pydantic import ValidationError

from crag.calibrations import LogitMap
from crag.evaluator.recalibrated import RecalibratedEvaluator
from crag.schema import Document, DocumentGrade, Grade, Span, Strip

DOWN, STEEP = LogitMap(offset=-1.0), LogitMap(offset=0.5, slope=2.0)
SPANS = (Span(page=1, start=0, end=4),)
DOCUMENT = Document(
    id="d", content="c", files=("a.pdf",), text="text", spans=SPANS, strips=(Strip(id="s", text="text", spans=SPANS),)
)


class Says:
    """An evaluator that gives every document the same grade."""

    name, version = "says", "7"

    def __init__(self, grade: DocumentGrade) -> None:
        self.given = grade

    async def grade(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
        return [self.given for _ in documents]


async def test_documents_and_strips_pass_their_own_map_and_keep_their_reasons() -> None:
    strips = (Grade(score=0.5, reason="half"), Grade(score=None, cause="it failed"))
    given = DocumentGrade(document=Grade(score=0.5, reason="why", features={"cosine": 0.3}), strips=strips)
    grades = await RecalibratedEvaluator(Says(given), DOWN, STEEP).grade("q", [DOCUMENT, DOCUMENT])
    assert len(grades) == 2
    assert grades[0].document.score == pytest.approx(1 / (1 + np.exp(1.0)))
    assert (grades[0].document.reason, grades[0].document.features) == ("why", {"cosine": 0.3})
    assert grades[0].strips[0].score == pytest.approx(1 / (1 + np.exp(-0.5)))
    assert grades[0].strips[1] == strips[1], "what is ungraded stays ungraded"


def test_the_version_tells_evaluators_and_maps_apart() -> None:
    grade = DocumentGrade(document=Grade(score=0.5), strips=())
    one, same = (RecalibratedEvaluator(Says(grade), DOWN, STEEP) for _ in range(2))
    swapped = RecalibratedEvaluator(Says(grade), STEEP, DOWN)
    other = Says(grade)
    other.version = "8"
    assert one.name == "says"
    assert one.version == same.version
    assert len({one.version, swapped.version, RecalibratedEvaluator(other, DOWN, STEEP).version, "7"}) == 4


@pytest.mark.parametrize("by", [DOWN, STEEP, LogitMap(offset=9.0, slope=0.1)])
def test_a_map_keeps_order_and_ends_and_can_be_turned_round(by: LogitMap) -> None:
    scores = [0.0, 1e-9, 0.001, 0.3, 0.5, 0.7, 0.999, 1.0]
    mapped = [by(score) for score in scores]
    assert mapped == sorted(mapped)
    assert (mapped[0], mapped[-1]) == (0.0, 1.0)
    assert all(0 <= score <= 1 for score in mapped)
    assert [by.inverse(score) for score in mapped] == pytest.approx(scores, abs=1e-6)
    assert LogitMap()(0.3) == pytest.approx(0.3)


def test_a_map_that_turns_the_order_round_is_refused() -> None:
    with pytest.raises(ValidationError):
        LogitMap(slope=-1.0)
