"""The figures of five questions, computed by hand."""

import pytest
from traces import document, five, outcome, question

from crag.evaluation.rows import MARKS, Failure, row_of
from crag.evaluation.summary import TO_CONTEXT, TOTAL, groups_of, metrics_of
from crag.schema import Action

ROWS = [row_of(made) for made in five()]


@pytest.mark.parametrize(
    ("name", "hits", "n"),
    [
        ("recall_at_1", 1, 3),
        ("recall_at_3", 2, 3),
        ("recall_at_k", 2, 3),
        ("document_accuracy", 5, 8),
        ("action_as_expected", 3, 5),
        ("answerable_correct", 2, 3),
        ("answerable_ambiguous", 0, 3),
        ("answerable_incorrect", 1, 3),
        ("uncovered_correct", 1, 2),
        ("uncovered_ambiguous", 0, 2),
        ("uncovered_incorrect", 1, 2),
        ("context_holds_answer", 1, 3),
        ("retrieved_answer_kept", 1, 2),
        ("answer_match", 1, 3),
        ("refused_uncovered", 1, 2),
        ("false_answers", 1, 2),
    ],
)
def test_each_share_counts_what_its_name_says(name: str, hits: int, n: int) -> None:
    found = metrics_of(ROWS).shares[name]
    assert (found.hits, found.n) == (hits, n)


def test_recall_beyond_k_is_not_claimed() -> None:
    assert "recall_at_5" not in metrics_of(ROWS).shares


def test_the_estimates_and_counts() -> None:
    metrics = metrics_of(ROWS)
    assert metrics.estimates["mrr"].value == pytest.approx((1 + 1 / 2 + 0) / 3)
    kept = (1 - 9 / 22, 1 - 13 / 22, 1 - 16 / 29)
    assert metrics.estimates["text_dropped"].value == pytest.approx(sum(kept) / 3)
    # answering documents score 0.9 and 0.1; the others 0.2, 0.8, 0.1, 0.2, 0.1 and 0.75: 6 + 1 of 12 pairs, ties half
    assert metrics.estimates["document_auc"].value == pytest.approx(7 / 12)
    squares = (0.1, 0.9, 0.2, 0.8, 0.1, 0.2, 0.1, 0.75)
    assert metrics.estimates["document_brier"].value == pytest.approx(sum(x * x for x in squares) / 8)
    assert (metrics.documents_labelled, metrics.documents_ungraded) == (9, 1)
    assert sum(bin_.n for bin_ in metrics.calibration) == 8
    assert metrics.confusion == {"CORRECT": {"CORRECT": 2, "INCORRECT": 1}, "INCORRECT": {"INCORRECT": 1, "CORRECT": 1}}


def test_latency_is_in_milliseconds_and_multiples_of_the_embedding() -> None:
    latency = metrics_of(ROWS).latency
    assert latency["grade"].median_ms == 20.0
    assert latency["grade"].embeddings == 2.0
    assert latency[TO_CONTEXT].median_ms == 36.0
    assert latency[TOTAL].median_ms == 40.0
    assert list(latency)[-2:] == [TO_CONTEXT, TOTAL]


def test_what_no_question_gives_a_label_for_is_absent_and_not_zero() -> None:
    metrics = metrics_of([row_of(outcome(question("q"), [(document("x"), 0.9)]))])
    assert metrics.shares == {}
    assert set(metrics.estimates) == {"text_dropped"}
    assert metrics.calibration == ()
    assert metrics.confusion == {}


def test_each_failure_is_listed_under_its_gravest_kind() -> None:
    assert [row.failure for row in ROWS] == [
        None,
        Failure.LOST,
        Failure.NOT_RETRIEVED,
        None,
        Failure.FALSE_ANSWER,
    ]
    gold = {"answers": ("42",), "expected": Action.AMBIGUOUS}
    right = document("It is 42.")
    assert row_of(outcome(question("q", **gold), [(right, 0.9)])).failure is Failure.OTHER_ACTION
    assert row_of(outcome(question("q", **gold), [(right, 0.2)])).failure is Failure.NOT_COVERED
    assert row_of(outcome(question("q", **gold), [(right, 0.9)], answer="?")).failure is Failure.NOT_IN_ANSWER
    assert row_of(outcome(question("q", **gold), [(right, None)])).failure is Failure.ERROR


def test_a_failed_question_counts_as_failed_and_in_no_share_of_answers() -> None:
    asked = question("q", answers=("42",), expected=Action.CORRECT)
    row = row_of(outcome(asked, [(document("It is 42."), None)]))
    assert row.action is None
    assert metrics_of([row]).failed == 1
    assert [name for name, mark in MARKS.items() if mark(row) is not None] == []
    uncovered = row_of(outcome(question("q", expected=Action.INCORRECT), [(document("x"), None)]))
    late = ROWS[0].model_copy(update={"error": "the generator failed"})  # after its decision
    assert [name for name, mark in MARKS.items() if mark(uncovered) is not None] == []
    shares = metrics_of([*ROWS[1:], late, row, uncovered]).shares
    assert [shares[name].n for name in ("action_as_expected", "answerable_correct", "uncovered_correct")] == [4, 2, 2]


def test_an_answer_from_the_web_alone_is_neither_refusal_nor_false_answer() -> None:
    made = outcome(question("q", expected=Action.INCORRECT), [(document("x"), 0.9)])
    sources = tuple(source.model_copy(update={"url": "https://example.org"}) for source in made.trace.sources)
    row = row_of(type(made)(made.question, made.trace.model_copy(update={"sources": sources})))
    assert MARKS["refused_uncovered"](row) is None
    assert MARKS["false_answers"](row) is None
    assert row.failure is Failure.OTHER_ACTION


def test_groups_are_the_whole_the_languages_and_the_sets_without_repeats() -> None:
    assert [(group.set, group.language) for group in groups_of(ROWS)] == [(None, None), (None, "en"), (None, "zh")]
    moved = [row.model_copy(update={"set": "other"} if row.language == "zh" else {}) for row in ROWS]
    names = [(group.set, group.language) for group in groups_of(moved)]
    assert names == [(None, None), (None, "en"), (None, "zh")]
    mixed = [row.model_copy(update={"set": "other"} if row.id in ("one", "five") else {}) for row in ROWS]
    assert ("other", "zh") in [(group.set, group.language) for group in groups_of(mixed)]
    assert groups_of(mixed)[0].metrics.questions == 5
