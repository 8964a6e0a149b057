"""Labelled questions made by hand: traces of given scores, as the pipeline leaves them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crag.action_trigger import decide
from crag.evaluation.labelled import Labelled
from crag.refinement import ledger, select
from crag.schema import (
    Action,
    Document,
    DocumentGrade,
    EvaluatorName,
    Grade,
    GradedDocument,
    Span,
    Strip,
    Thresholds,
    Trace,
)

OPEN = Thresholds(upper=1.0, lower=1.0)
"""What a calibration asks with, so that both looks are taken."""


def grade(score: float | None) -> Grade:
    return Grade(score=score, cause="it failed" if score is None else None)


def labelled(
    *looks: Sequence[float | None],
    expected: Action | None = None,
    strips: Sequence[float] = (),
    answering: Mapping[int, bool] | None = None,
    documents: Mapping[int, bool] | None = None,
    question: str = "q",
) -> Labelled:
    """A question whose looks found documents of these scores; the first document has strips of the given scores.

    `answering` and `documents` are labels by position.
    """
    found: list[Document] = []
    grades: list[DocumentGrade] = []
    decisions = []
    for number, look in enumerate(looks):
        fresh = []
        for score in look:
            id_ = f"d{len(found)}"
            own = strips if not found else ()
            spans = (Span(page=1, start=0, end=9),)
            made = tuple(
                Strip(id=f"s{i}", text="ten signs.", spans=(Span(page=1, start=20 * i, end=20 * i + 10),))
                for i in range(len(own))
            )
            document = Document(
                id=id_, content=id_, files=(f"{id_}.pdf",), text=f"Text {id_}", spans=spans, strips=made
            )
            found.append(document)
            grades.append(DocumentGrade(document=grade(score), strips=tuple(grade(s) for s in own)))
            fresh.append(GradedDocument.of(document, grade(score), OPEN))
        decision = decide(fresh, OPEN, f"q{number}", second_look=number > 0)
        if decision is not None:
            decisions.append(decision)
    graded = [GradedDocument.of(d, g.document, OPEN) for d, g in zip(found, grades, strict=True)]
    trace = Trace(
        turn_id="t",
        created="",
        question=question,
        k=8,
        thresholds=OPEN,
        evaluator=EvaluatorName(name="e", version="1"),
        generator="g",
        action=decisions[-1].action if decisions else None,
        decisions=tuple(decisions),
        documents=tuple(graded),
        strips=select(graded, ledger(found, grades), OPEN, Action.INCORRECT),
    )
    return Labelled(
        trace,
        expected,
        {f"d{i}": label for i, label in (documents or {}).items()},
        {f"s{i}": label for i, label in (answering or {}).items()},
    )
