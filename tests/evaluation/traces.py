"""Outcomes as the pipeline leaves them, from hand-given scores, for tests that compute figures by hand."""

from __future__ import annotations

from collections.abc import Sequence

from crag.action_trigger import decide
from crag.evaluation.question_sets import Question
from crag.evaluation.running import Outcome
from crag.refinement import ledger, recompose, select
from crag.schema import (
    Action,
    Citation,
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

LIMITS = Thresholds()
TIMINGS = {"embed": 0.010, "retrieve": 0.005, "grade": 0.020, "refine": 0.001, "generate": 0.004}


def question(id_: str, **fields: object) -> Question:
    given = {"question": f"What is {id_}?", "language": "en", "set": "hand"} | fields
    return Question(id=id_, **given)  # type: ignore[arg-type]


def document(text: str, file: str = "a.pdf", page: int = 1, id_: str = "") -> Document:
    span = Span(page=page, start=0, end=len(text))
    strip = Strip(id=f"strip {file} {text}", text=text, spans=(span,))
    return Document(id=id_ or text, content=file, files=(file,), text=text, spans=(span,), strips=(strip,))


def outcome(
    asked: Question, found: Sequence[tuple[Document, float | None]], answer: str | None = None, k: int = 4
) -> Outcome:
    """The outcome of one look that found these documents with these scores, in rank order; the answer is k itself."""
    grades = [Grade(score=score) if score is not None else Grade(score=None, cause="none") for _, score in found]
    graded = [GradedDocument.of(doc, grade, LIMITS) for (doc, _), grade in zip(found, grades, strict=True)]
    decision = decide(graded, LIMITS, asked.question)
    marks = [DocumentGrade(document=grade, strips=(grade,)) for grade in grades]
    action = decision.action if decision else None
    strips = select(graded, ledger([doc for doc, _ in found], marks), LIMITS, action)
    knowledge = recompose(strips)
    sources = knowledge.sources
    trace = Trace(
        turn_id=asked.id,
        created="2026-01-01T00:00:00+00:00",
        question=asked.question,
        k=k,
        thresholds=LIMITS,
        evaluator=EvaluatorName(name="hand", version="1"),
        generator="hand",
        action=action,
        decisions=(decision,) if decision else (),
        documents=tuple(graded),
        strips=strips,
        knowledge=knowledge.text,
        sources=sources,
        answer=knowledge.text if answer is None else answer,
        covered=bool(sources),
        citations=tuple(Citation(n=s.n, file=s.file, page=s.page, pages=s.pages) for s in sources),
        timings=TIMINGS,
        error=None if decision else "nothing could be graded",
    )
    return Outcome(asked, trace)


def five() -> list[Outcome]:
    """Right at rank 1; right at rank 2 but kept away from the answer; missed; not covered, refused; not covered,
    answered."""
    gold = {"answers": ("42",), "file": "a.pdf", "expected": Action.CORRECT}
    right, other, more = document("It is 42."), document("Nothing here."), document("More of nothing.", "b.pdf")
    return [
        outcome(question("one", **gold), [(right, 0.9), (other, 0.2)]),
        outcome(question("two", **gold), [(other, 0.8), (right, 0.1)]),
        outcome(question("three", **gold, language="zh"), [(other, 0.1), (more, 0.2)]),
        outcome(question("four", expected=Action.INCORRECT), [(other, 0.1)]),
        outcome(question("five", expected=Action.INCORRECT, language="zh"), [(more, 0.75), (other, None)]),
    ]
