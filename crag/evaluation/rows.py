"""What one question gives to the figures: its outcome reduced to a row of numbers, marks and flags."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from crag.evaluation.labels import document_label, holds_answer, in_file
from crag.evaluation.question_sets import Question
from crag.evaluation.running import Outcome
from crag.refinement import label
from crag.schema import Action, Fate, Frozen, GradedDocument, Trace

Mark = bool | None
"""Whether something holds of a question; None where its row does not tell."""


class Failure(StrEnum):
    """What went wrong with a question, the gravest first; a question is listed under the first that fits."""

    ERROR = "the question failed"
    FALSE_ANSWER = "answered although not covered"
    NOT_RETRIEVED = "the answer was not retrieved"
    NOT_COVERED = "judged not covered"
    LOST = "the answer was lost in refinement"
    NOT_IN_ANSWER = "the answer does not hold it"
    OTHER_ACTION = "another action than expected"


class LabelledDocument(Frozen):
    """A document of the first look, in rank order."""

    file: str
    page: int
    score: float | None
    label: Mark


class Row(Frozen):
    """One question as the report keeps it."""

    id: str
    set: str
    language: str
    question: str
    expected: Action | None
    answerable: Mark
    action: Action | None
    best: float | None
    """Highest document score of the last look."""
    hit_rank: int | None
    """1-based rank, in the first look, of the first document that answers."""
    labelled: bool
    """Whether a hit can be recognised: answers, or a page, are given for an answerable question."""
    k: int
    documents: tuple[LabelledDocument, ...]
    context_holds: Mark
    """Whether the knowledge holds an answer string, in a source of the right file or of the web."""
    answer_holds: Mark
    dropped: float | None
    """Share of the first look's characters that refinement dropped; None where nothing was kept at all."""
    covered: bool
    """Whether evidence was answered from; False: "not covered"."""
    from_web: bool
    """Whether all of that evidence was the web's: it says nothing about what the files cover."""
    cited: tuple[str, ...]
    milliseconds: dict[str, float]
    flags: tuple[str, ...]
    error: str | None
    failure: Failure | None = None


def row_of(outcome: Outcome) -> Row:
    """The row of one outcome."""
    question, trace = outcome.question, outcome.trace
    first = _first_look(trace)
    labels = [document_label(question, document) for document in first]
    labelled = question.answerable is True and bool(question.answers or question.page)
    expects_string = bool(question.answers) and question.answerable is True and trace.error is None
    row = Row(
        **{name: getattr(question, name) for name in ("id", "set", "language", "question", "expected", "answerable")},
        action=trace.action,
        best=trace.decisions[-1].best if trace.decisions else None,
        hit_rank=labels.index(True) + 1 if labelled and True in labels else None,
        labelled=labelled,
        k=trace.k,
        documents=tuple(
            LabelledDocument(file=document.file, page=document.page, score=document.score, label=label)
            for document, label in zip(first, labels, strict=True)
        ),
        context_holds=_context_holds(question, trace) if expects_string else None,
        answer_holds=trace.covered and holds_answer(question, trace.answer) if expects_string else None,
        dropped=_dropped(first, trace),
        covered=trace.covered,
        from_web=trace.covered and all(source.url for source in trace.sources),
        cited=tuple(dict.fromkeys(label(citation) for citation in trace.citations)),
        milliseconds={stage: round(1000 * seconds, 3) for stage, seconds in trace.timings.items()},
        flags=_flags(trace),
        error=trace.error,
    )
    return row.model_copy(update={"failure": failure_of(row)})


def _first_look(trace: Trace) -> list[GradedDocument]:
    if not trace.decisions:
        return list(trace.documents)
    known = {document.id: document for document in trace.documents}
    return [known[id_] for id_ in trace.decisions[0].documents if id_ in known]


def _context_holds(question: Question, trace: Trace) -> bool:
    sources = (s for s in trace.sources if s.url or question.file is None or in_file(question, s.files))
    return any(holds_answer(question, source.text) for source in sources)


def _dropped(first: list[GradedDocument], trace: Trace) -> float | None:
    """Strips of a second look can make the kept text longer than what the first one found: then nothing is dropped."""
    retrieved = sum(len(document.text) for document in first)
    kept = sum(len(strip.text) for strip in trace.strips if strip.kept and strip.url is None)
    return max(0.0, 1.0 - kept / retrieved) if retrieved and trace.covered else None


def _flags(trace: Trace) -> tuple[str, ...]:
    found = {
        "second look": len(trace.decisions) > 1,
        "web searched": trace.web is not None,
        "fallback strip": any(strip.fate is Fate.FALLBACK for strip in trace.strips),
        "ungraded documents": any(document.score is None for document in trace.documents),
        "unknown citation": bool(trace.check.unknown),
    }
    return tuple(name for name, there in found.items() if there)


# --- the marks that shares are counted from, and two reports compared by -------------------------------------------


def _recall(depth: int | None) -> Callable[[Row], Mark]:
    def mark(row: Row) -> Mark:
        if not row.labelled or row.error or (depth or 1) > row.k:
            return None
        return row.hit_rank is not None and row.hit_rank <= (depth or row.k)

    return mark


def _judged(answerable: bool, action: Action) -> Callable[[Row], Mark]:
    return lambda row: row.action is action if row.answerable is answerable and not row.error else None


def _if_uncovered(row: Row, mark: bool) -> Mark:
    return mark if row.answerable is False and not row.error and not row.from_web else None


MARKS: Mapping[str, Callable[[Row], Mark]] = {
    "recall_at_1": _recall(1),
    "recall_at_3": _recall(3),
    "recall_at_5": _recall(5),
    "recall_at_k": _recall(None),
    "action_as_expected": lambda row: row.action is row.expected if row.expected and not row.error else None,
    "answerable_correct": _judged(True, Action.CORRECT),
    "answerable_ambiguous": _judged(True, Action.AMBIGUOUS),
    "answerable_incorrect": _judged(True, Action.INCORRECT),
    "uncovered_correct": _judged(False, Action.CORRECT),
    "uncovered_ambiguous": _judged(False, Action.AMBIGUOUS),
    "uncovered_incorrect": _judged(False, Action.INCORRECT),
    "context_holds_answer": lambda row: row.context_holds,
    "retrieved_answer_kept": lambda row: row.context_holds if row.hit_rank else None,
    "answer_match": lambda row: row.answer_holds,
    "refused_uncovered": lambda row: _if_uncovered(row, not row.covered),
    "false_answers": lambda row: _if_uncovered(row, row.covered),
}
"""Name -> what holds of a row. Each share of a report is the share of True among the rows where the mark is known."""


def failure_of(row: Row) -> Failure | None:
    """The gravest failure of a row; None where everything that its set tells of came true."""
    checks: dict[Failure, Any] = {
        Failure.ERROR: row.error,
        Failure.FALSE_ANSWER: MARKS["false_answers"](row),
        Failure.NOT_RETRIEVED: row.labelled and row.hit_rank is None and not row.answer_holds,
        Failure.NOT_COVERED: row.answerable and row.action is Action.INCORRECT,
        Failure.LOST: row.context_holds is False,
        Failure.NOT_IN_ANSWER: row.answer_holds is False,
        Failure.OTHER_ACTION: row.expected and row.action is not row.expected,
    }
    return next((failure for failure, there in checks.items() if there), None)


def failures_of(rows: Sequence[Row]) -> list[Row]:
    """The rows that failed, the gravest kind first, in each kind the surest evaluator first."""
    order = {failure: number for number, failure in enumerate(Failure)}
    failed = [row for row in rows if row.failure is not None]
    return sorted(failed, key=lambda row: (order[row.failure], -(row.best or 0.0)) if row.failure else (99, 0.0))
