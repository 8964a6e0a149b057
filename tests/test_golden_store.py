"""Golden questions in the store: kept, edited and deleted per user, with their last answer and their runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from crag.history.golden import Golden, Goldens
from crag.history.store import Store
from crag.schema import Action, EvaluatorName, Thresholds, Trace

FULL = Golden(
    question="多重？",
    expected=Action.CORRECT,
    file="a.pdf",
    page=3,
    answers=("5 kg", "五公斤"),
    note="why",
    turn_id="t",
)


@pytest.fixture
def goldens(tmp_path: Path) -> Goldens:
    return Goldens(Store(tmp_path / ".crag" / "crag.db"))


def trace(answer: str = "yes", error: str | None = None) -> Trace:
    name = EvaluatorName(name="e", version="1")
    limits = Thresholds()
    return Trace(
        turn_id="1", created="", question="q", k=4, thresholds=limits, evaluator=name, generator="g", answer=answer,
        error=error,
    )  # fmt: skip


def test_who_only_reads_makes_no_file(goldens: Goldens, tmp_path: Path) -> None:
    assert goldens.all() == []
    assert goldens.like("q", "t") is None
    assert goldens.answered() == {}
    assert list(goldens.traces()) == []
    assert goldens.runs(2) == []
    assert not (tmp_path / ".crag").exists()


def test_a_question_comes_back_as_it_was_saved_and_edits_and_deletions_are_of_one_user(goldens: Goldens) -> None:
    goldens.save([FULL, Golden(question="bare")])
    goldens.save([Golden(question="hers")], user="ada")
    full, bare = goldens.all()
    assert full.model_copy(update={"id": 0, "created": ""}) == FULL
    assert full.created
    goldens.save(changed=[bare.model_copy(update={"expected": Action.INCORRECT})], deleted=[full.id], user="ada")
    assert goldens.all() == [full, bare], "another user cannot touch them"
    goldens.save(changed=[bare.model_copy(update={"expected": Action.INCORRECT})], deleted=[full.id])
    assert [(one.question, one.expected) for one in goldens.all()] == [("bare", Action.INCORRECT)]
    assert [one.question for one in goldens.all("ada")] == ["hers"]


def test_a_turn_finds_its_question_and_otherwise_the_one_with_its_words(goldens: Goldens) -> None:
    goldens.save([Golden(question="q"), Golden(question="edited", turn_id="t")])
    found = [goldens.like("q", turn) for turn in ("t", "other")]
    assert [one.question for one in found if one] == ["edited", "q"]
    assert goldens.like("r", "other") is None


def test_the_last_answer_is_kept_and_goes_with_its_question(goldens: Goldens) -> None:
    goldens.save([Golden(question="q"), Golden(question="r")])
    one, other = goldens.all()
    goldens.keep_answer(one.id, {"question": "q"}, {"catalog": 1}, trace("first"), {}, None)
    goldens.keep_answer(one.id, {"question": "q"}, {"catalog": 2}, trace("second"), {"k": 8}, trace("both looks"))
    goldens.keep_answer(other.id, {"question": "r"}, {}, trace(error="it broke"), {}, None)
    answered = goldens.answered()
    assert (answered[one.id].under, answered[one.id].swept_under) == ({"catalog": 2}, {"k": 8})
    assert [answered[id_].failed for id_ in (one.id, other.id)] == [False, True]
    assert goldens.trace(one.id) == trace("second")
    assert dict(goldens.traces())[other.id].error == "it broke"
    assert list(goldens.swept()) == [(one.id, trace("both looks"))]
    assert goldens.swept_of(other.id) is None
    goldens.save(deleted=[one.id])
    assert goldens.trace(one.id) is None
    assert list(goldens.answered()) == [other.id]
    goldens.keep_answer(one.id, {}, {}, trace(), {}, None)
    assert list(goldens.answered()) == [other.id], "a question deleted during a run keeps no answer"


def test_runs_come_newest_first_with_their_reports(goldens: Goldens) -> None:
    for number in range(3):
        goldens.add_run(f'{{"n": {number}}}', asked=number, left=1)
    newest, before = goldens.runs(2)
    assert (newest.asked, newest.left, before.asked) == (2, 1, 1)
    assert goldens.report(newest.id) == '{"n": 2}'
    assert goldens.report(99) is None
    assert goldens.report(newest.id, "ada") is None
