"""The star under an answer: the question is kept with its action and place, edited, and removed."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest
from ui_stage import Stage, answered, events, messages

from crag.history.golden import Golden, Goldens
from crag.schema import Action
from crag.ui import state

QUESTION = "What batch size was used?"


def star(at: AppTest) -> AppTest:
    """The page with the star of its answer opened."""
    at.session_state[f"golden-{turn()}"] = True
    at = at.run()
    assert not at.exception
    return at


def turn() -> str:
    (conversation,) = state.process().talks.all()
    return str(conversation.turns[-1].job.id)


def store() -> Goldens:
    return Goldens(state.process().store)


def label(at: AppTest) -> str:
    return next(p.proto.popover.label for p in at.get("popover") if p.proto.popover.label.startswith("Golden"))


def test_a_click_keeps_the_question_with_its_action_and_the_page_it_cites(stage: Stage) -> None:
    at = answered(stage)
    assert label(at) == "Golden"
    at = star(at)
    key = f"golden-{turn()}-0"
    assert at.text_area(key=f"{key}-question").value == QUESTION
    at.text_input(key=f"{key}-answers").set_value("128")
    at = at.button(key=f"{key}-save").click().run()
    [kept] = store().all()
    assert (kept.question, kept.expected, kept.file, kept.page, kept.answers) == (
        QUESTION, Action.CORRECT, "dense passage retrieval.pdf", 1, ("128",),
    )  # fmt: skip
    assert kept.turn_id == turn()
    assert label(at.run()) == "Golden: saved"


def test_what_is_kept_is_edited_and_removed_in_the_same_place(stage: Stage) -> None:
    at = answered(stage)
    store().save([Golden(question=QUESTION, expected=Action.CORRECT)])
    at = star(at.run())
    [kept] = store().all()
    key = f"golden-{turn()}-{kept.id}"
    at.selectbox(key=f"{key}-expected").set_value(Action.INCORRECT)
    at = at.button(key=f"{key}-save").click().run()
    assert [(one.id, one.expected) for one in store().all()] == [(kept.id, Action.INCORRECT)]
    at = at.button(key=f"{key}-remove").click().run()
    assert store().all() == []
    assert label(at.run()) == "Golden"


def test_an_undecided_answer_has_no_star(stage: Stage) -> None:
    stage.turn = events([None, None])
    at = answered(stage)
    assert not any(p.proto.popover.label.startswith("Golden") for p in at.get("popover"))


def test_where_nothing_can_be_kept_it_is_told_and_the_answer_stays(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / ".crag").mkdir()
    (tmp_path / ".crag" / "crag.db").write_bytes(b"no database at all" * 100)
    at = answered(stage)
    before = messages(at).count("cannot be read or kept")
    assert messages(star(at)).count("cannot be read or kept") == before + 1
