"""The decision, at every boundary, and the sentence that explains it."""

from dataclasses import dataclass

import pytest

from crag.action_trigger import decide
from crag.schema import Action, Thresholds

DEFAULT = Thresholds()


@dataclass(frozen=True)
class Doc:
    id: str
    score: float | None


def docs(*scores: float | None) -> list[Doc]:
    return [Doc(f"d{n}", score) for n, score in enumerate(scores)]


@pytest.mark.parametrize(
    ("scores", "action"),
    [
        ((0.7,), Action.CORRECT),
        ((0.6999999,), Action.AMBIGUOUS),
        ((0.3,), Action.AMBIGUOUS),
        ((0.2999999,), Action.INCORRECT),
        ((0.0, 0.0, 1.0), Action.CORRECT),
        ((0.1, 0.69, 0.2), Action.AMBIGUOUS),
        ((0.1, 0.29, 0.2), Action.INCORRECT),
        ((), Action.INCORRECT),
        ((None, 0.8), Action.CORRECT),
        ((None, 0.5), Action.AMBIGUOUS),
        ((None, 0.1), Action.AMBIGUOUS),
        ((0.1, None, None), Action.AMBIGUOUS),
    ],
)
def test_action_follows_from_the_scores(scores: tuple[float | None, ...], action: Action) -> None:
    decision = decide(docs(*scores), DEFAULT, "q")
    assert decision is not None
    assert decision.action is action


@pytest.mark.parametrize("scores", [(None,), (None, None, None)])
def test_no_action_is_taken_when_nothing_could_be_graded(scores: tuple[None, ...]) -> None:
    assert decide(docs(*scores), DEFAULT, "q") is None


def test_decision_keeps_query_documents_and_best_score() -> None:
    decision = decide(docs(0.2, None, 0.62), DEFAULT, "panthers points")
    assert decision is not None
    assert (decision.query, decision.best, decision.documents) == ("panthers points", 0.62, ("d0", "d1", "d2"))


def test_thresholds_that_meet_leave_no_room_for_ambiguous() -> None:
    equal = Thresholds(upper=0.5, lower=0.5)
    assert [decide(docs(s), equal, "q").action for s in (0.5, 0.49)] == [Action.CORRECT, Action.INCORRECT]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("scores", "second", "expected"),
    [
        ((0.62,), False, "Best 0.62 is below 0.70 and not below 0.30, so the evidence is uncertain: "),
        ((0.7,), False, "Best 0.70 reaches 0.70"),
        ((0.699,), False, "Best 0.699 is below 0.700"),
        ((0.6999,), False, "Best 0.6999 is below 0.7000"),
        (
            (0.29999,),
            False,
            "Best 0.29999 is below 0.30000: taking a second look",
        ),
        ((0.3,), False, "Best 0.30 is below 0.70 and not below 0.30"),
        (
            (0.1,),
            True,
            "Second look: best 0.10 is below 0.30: your documents do not cover the question",
        ),
        ((0.9,), True, "Second look: best 0.90 reaches 0.70"),
        ((), False, "Nothing was retrieved: taking a second look with a rewritten query"),
        ((0.1, None), False, "Best 0.10 is below 0.30, but 1 of 2 documents could not be graded"),
    ],
)
def test_sentence_explains_the_action_by_its_numbers(
    scores: tuple[float | None, ...], second: bool, expected: str
) -> None:
    decision = decide(docs(*scores), DEFAULT, "q", second_look=second)
    assert decision is not None
    assert decision.sentence.startswith(expected)


def test_uncertain_evidence_says_that_the_web_was_not_asked() -> None:
    decision = decide(docs(0.5), DEFAULT, "q")
    assert decision is not None
    assert decision.sentence.endswith("answered from your documents; web search is off")


@pytest.mark.parametrize(
    ("scores", "second", "expected"),
    [
        ((0.62,), False, "最高分 0.62 低于 0.70 但不低于 0.30，证据不确定"),
        ((0.7,), False, "最高分 0.70 达到 0.70：根据您的文档回答"),
        ((0.1,), False, "最高分 0.10 低于 0.30：改写查询后再检索一次"),
        ((0.1,), True, "再次检索：最高分 0.10 低于 0.30：您的文档没有涵盖这个问题"),
        ((), True, "再次检索：没有检索到任何文档"),
        ((0.1, None), False, "最高分 0.10 低于 0.30，但 2 篇文档中有 1 篇未能评分"),
    ],
)
def test_sentence_is_chinese_for_a_chinese_question(
    scores: tuple[float | None, ...], second: bool, expected: str
) -> None:
    decision = decide(docs(*scores), DEFAULT, "q", lang="zh", second_look=second)
    assert decision is not None
    assert decision.sentence.startswith(expected)


def test_thresholds_with_more_digits_are_shown_with_them() -> None:
    decision = decide(docs(0.705), Thresholds(upper=0.7051), "q")
    assert decision is not None
    assert "0.7050 is below 0.7051" in decision.sentence
