"""What question sets and corrected grades say of a run."""

from __future__ import annotations

from labelled_runs import labelled

from crag.calibrations import Counts, LogitMap, Numbers
from crag.evaluation.labelled import (
    Labelled,
    counts,
    document_pairs,
    fingerprint_of,
    first_look,
    from_corrections,
    from_questions,
    mapped,
    questions_of,
    strip_pairs,
)
from crag.evaluation.question_sets import Question
from crag.evaluation.running import Outcome
from crag.history.labels import Label
from crag.replay import replay
from crag.schema import Action, Thresholds


def asked(**fields: object) -> Question:
    return Question.model_validate({"id": "1", "question": "q", "language": "en", "set": "s", **fields})


def run_of(*scores: float) -> Labelled:
    return labelled(list(scores), strips=[0.5])


def label(document: int, answers: bool, question: str = "q") -> Label:
    text = f"Text d{document}"
    return Label(question=question, document="x", content="c", file="a.pdf", page=1, text=text, answers=answers)


def test_answers_and_files_make_a_question_answerable_and_label_documents_and_strips() -> None:
    trace = run_of(0.9, 0.2).trace
    [row] = from_questions([Outcome(asked(answers=("ten signs",), file="d0.pdf"), trace)])
    assert row.expected is Action.CORRECT
    assert row.strips == {"s0": True}
    assert row.documents == {"d0": False, "d1": False}, "the answer stands in a strip alone in this trace"
    [row] = from_questions([Outcome(asked(expected="INCORRECT"), trace)])
    assert (row.expected, row.documents, row.strips) == (
        Action.INCORRECT,
        {"d0": False, "d1": False},
        {"s0": False},
    )
    [row] = from_questions([Outcome(asked(), trace)])
    assert (row.expected, row.documents, row.strips) == (None, {}, {})


def test_a_document_said_to_answer_makes_its_question_answerable() -> None:
    [row] = from_corrections([Outcome(asked(), run_of(0.9, 0.2).trace)], [label(0, False), label(1, True)])
    assert row.expected is Action.CORRECT
    assert row.documents == {"d0": False, "d1": True}
    assert row.strips == {}


def test_a_question_is_uncovered_only_where_its_best_document_was_said_not_to_answer() -> None:
    trace = run_of(0.9, 0.2).trace
    [row] = from_corrections([Outcome(asked(), trace)], [label(0, False)])
    assert row.expected is Action.INCORRECT
    [row] = from_corrections([Outcome(asked(), trace)], [label(1, False)])
    assert row.expected is None, "the best one may answer"
    assert row.documents == {"d1": False}


def test_a_document_that_is_no_longer_found_labels_its_question_but_no_document() -> None:
    [row] = from_corrections([Outcome(asked(), run_of(0.9).trace)], [label(7, True), label(0, True, "another")])
    assert row.expected is Action.CORRECT
    assert row.documents == {}


def test_corrected_questions_are_asked_once_each() -> None:
    given = [label(0, True), label(1, False), label(0, True, "问题")]
    assert [(question.question, question.language) for question in questions_of(given)] == [("q", "en"), ("问题", "zh")]
    assert fingerprint_of(given) == fingerprint_of(given[::-1])
    assert fingerprint_of(given) != fingerprint_of([label(0, False), *given[1:]])


def test_a_decision_can_be_left_to_the_first_look() -> None:
    trace = labelled([0.1], [0.9]).trace
    decision, _, _ = replay(trace, Thresholds())
    assert decision is not None
    assert decision.action is Action.CORRECT
    decision, _, _ = replay(first_look(trace), Thresholds())
    assert decision is not None
    assert decision.action is Action.INCORRECT


def test_labels_are_counted_by_kind() -> None:
    rows = [
        labelled([0.9], expected=Action.CORRECT, documents={0: True}, strips=[0.5, 0.4], answering={0: True, 1: False}),
        labelled([0.9], expected=Action.AMBIGUOUS, documents={0: False}),
        labelled([None], expected=Action.CORRECT, documents={0: True}),
        labelled([0.1]),
    ]
    assert counts(rows) == Counts(
        answerable=1,
        uncertain=1,
        unlabelled=1,
        failed=1,
        documents_relevant=1,
        documents_irrelevant=1,
        strips_relevant=1,
        strips_irrelevant=1,
    )


def test_heads_are_refitted_on_the_first_look_alone() -> None:
    row = labelled([0.9], [0.1, 0.2], documents={0: True, 1: False}, strips=[0.5], answering={0: True})
    assert document_pairs([row]) == [[(0.9, True)]]
    assert strip_pairs([row]) == [[(0.5, True)]]


def test_maps_move_the_scores_and_nothing_else() -> None:
    row = labelled([0.5, None], strips=[0.5], documents={0: True})
    moved = mapped(row, Numbers(upper=0.7, lower=0.3, strip=0.5, document_map=LogitMap(offset=-1.0)))
    assert moved.trace.documents[0].score == LogitMap(offset=-1.0)(0.5)
    assert moved.trace.documents[1].score is None
    assert moved.trace.strips[0].score == 0.5
    assert moved.documents == row.documents
    assert mapped(row, Numbers(upper=0.7, lower=0.3, strip=0.5)) is row
