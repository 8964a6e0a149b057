"""Turns that are kept: versions, edited questions, what was interrupted, and what could not be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from streamlit.testing.v1 import AppTest
from test_conversation_list import fresh, known, titles
from ui_stage import AMBIGUOUS, Stage, answered, ask, ended, events, html, labels

from config import Settings, load_settings
from crag.database import writing
from crag.history.conversations import Begun, Conversations
from crag.history.store import Store
from crag.history.tables import turns
from crag.ui import state, talks, turn_settings, turn_tools
from crag.ui.conversations import Conversation, Made


def opened(at: AppTest) -> Conversation:
    found = state.process().conversation(known(at))
    assert found is not None
    return found


def shown(at: AppTest) -> str:
    """Id of the last turn that is shown."""
    return opened(at).turns[-1].job.id


def again(at: AppTest) -> AppTest:
    """The last answer regenerated."""
    return ended(at.button(key=f"regenerate-{shown(at)}").click().run())


def warnings(at: AppTest) -> str:
    return "".join(warning.value for warning in at.warning)


def said(at: AppTest) -> str:
    """What stands in the middle of the page beside the answers."""
    return "\n".join(element.value for element in (*at.main.markdown, *at.main.caption))


def restarted(stage: Stage, at: AppTest) -> AppTest:
    """The conversation after the program was started anew."""
    state.process.clear()
    stage.page()
    return fresh(known(at))


def test_regenerate_makes_another_version_and_both_can_be_paged_through_also_after_a_restart(stage: Stage) -> None:
    at = answered(stage)
    first = shown(at)
    assert "1 of 2" not in said(at)
    stage.turn = events(AMBIGUOUS, answer="Another answer.")
    at = again(at)
    assert "Another answer." in html(at)
    assert "2 of 2" in said(at)
    assert "asked again with the same settings" in said(at)
    at.button(key=f"version-chevron_left-{shown(at)}").click().run()
    assert "Another answer." not in html(at)
    assert shown(at) == first
    at = restarted(stage, at)
    assert "1 of 2" in said(at)
    assert shown(at) == first
    at.button(key=f"version-chevron_right-{first}").click().run()
    assert "Another answer." in html(at)


def test_the_version_that_is_shown_is_what_the_next_question_sees(stage: Stage) -> None:
    at = answered(stage)
    stage.turn = events(AMBIGUOUS, answer="Another answer.")
    at = again(at)
    assert stage.histories == [(), ()]
    at = ended(ask(at, "and then?"))
    assert [exchange.answer for exchange in stage.histories[2]] == ["Another answer."]
    first = opened(at).places[0]
    at.button(key=f"version-chevron_left-{first.turn.job.id}").click().run()
    at = ended(ask(at, "and now?"))
    assert stage.histories[3][0].answer.startswith("From your documents")


def test_with_other_settings_in_the_sidebar_it_can_be_asked_with_its_own_or_with_those(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = answered(stage)
    at.slider(key="decision-k").set_value(20).run()
    assert f"regenerate-{shown(at)}" not in [button.key for button in at.button]
    choices: list[Made | None] = [Made.PRESENT, None, Made.SAME, None]
    monkeypatch.setattr(turn_tools.st, "menu_button", lambda *_, **__: choices.pop(0))
    at = ended(at.run())
    assert [turn.settings.k for turn in opened(at).places[0].versions] == [8, 20]
    at.slider(key="decision-k").set_value(30)
    at = ended(at.run())
    assert [(turn.settings.k, turn.made) for turn in opened(at).places[0].versions] == [
        (8, "asked"),
        (20, "present"),
        (20, "same"),
    ]


def test_an_edited_question_is_asked_in_a_new_conversation_and_the_old_one_stays(stage: Stage) -> None:
    at = ended(ask(answered(stage), "and then?"))
    old, turn = known(at), shown(at)
    at.button(key=f"edit-{turn}").click().run()
    at.text_area(key=f"edited-{turn}").set_value("and *before*?")
    at = ended(next(button for button in at.button if button.label == "Ask in a new conversation").click().run())
    assert known(at) != old
    assert [turn.question for turn in opened(at).turns] == ["What batch size was used?", "and *before*?"]
    assert [exchange.question for exchange in stage.histories[-1]] == ["What batch size was used?"]
    at = restarted(stage, at)
    assert [turn.question for turn in opened(at).turns] == ["What batch size was used?", "and *before*?"]
    assert [turn.question for turn in opened(fresh(old)).turns] == ["What batch size was used?", "and then?"]
    assert titles(at) == [r"**and \*before\*\?**", r"What batch size was used\?"]


def test_an_emptied_edit_asks_nothing_and_cancel_leaves_the_question(stage: Stage) -> None:
    at = answered(stage)
    turn = shown(at)
    at.button(key=f"edit-{turn}").click().run()
    at.text_area(key=f"edited-{turn}").set_value("  ")
    next(button for button in at.button if button.label == "Ask in a new conversation").click().run()
    next(button for button in at.button if button.label == "Cancel").click().run()
    assert "crag-question" in html(at)
    assert len(state.process().talks.all()) == 1


def test_what_was_running_when_the_program_died_is_called_interrupted_and_can_be_tried_again(stage: Stage) -> None:
    stage.page()
    state.process().kept().begin("c", Begun(turn_id="t", question="What batch size was used?"), "What batch size?")
    at = fresh("c")
    assert "ended before this was answered" in warnings(at)
    at = ended(at.button(key="again-t").click().run())
    assert "crag-answer" in html(at)
    assert "2 of 2" in said(at)


@pytest.mark.parametrize(("data", "said"), [(b"x", "is damaged"), (None, "ended before")])
def test_an_answer_that_cannot_be_read_is_told_in_its_place_and_the_others_are_there(
    stage: Stage, data: bytes | None, said: str
) -> None:
    at = answered(stage)
    broken = shown(at)
    at = ended(ask(at, "and then?"))
    state.process().keeping.settle()
    with writing(state.process().store.engine()) as connection:
        connection.execute(sa.update(turns).where(turns.c.turn_id == broken).values(trace=data))
    at = restarted(stage, at)
    assert said in warnings(at)
    assert html(at).count("crag-answer") == 1
    assert f"again-{broken}" in [button.key for button in at.button]


def test_a_stopped_answer_keeps_what_was_ready_after_a_restart(stage: Stage) -> None:
    stage.goes_on.clear()
    at = ask(stage.page())
    at = ended(at.button(key=f"stop-{shown(at)}").click().run())
    at = restarted(stage, at)
    assert "From your docu" in html(at)
    assert "Try again" in labels(at)


def test_a_program_that_is_closed_keeps_what_was_ready(stage: Stage) -> None:
    stage.goes_on.clear()
    at = restarted(stage, ask(stage.page()))
    assert "From your docu" in html(at)


def test_a_failed_turn_says_after_a_restart_why(stage: Stage) -> None:
    stage.fails = OSError(28, "No space left on device")
    at = restarted(stage, ended(ask(stage.page())))
    assert "No space left on device" in "".join(error.value for error in at.error)
    assert "Try again" in labels(at)


def test_what_cannot_be_kept_is_told_and_kept_as_soon_as_that_is_possible(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / ".crag").write_text("in the way")
    at = answered(stage)
    state.process().keeping.settle()
    at.run()
    assert "crag-answer" in html(at)
    assert "not kept at the moment" in warnings(at)
    (tmp_path / ".crag").unlink()
    at.button(key="keep-again").click().run()
    state.process().keeping.settle()
    at.run()
    assert "not kept" not in warnings(at)
    assert "crag-answer" in html(restarted(stage, at))


def test_a_long_conversation_is_drawn_in_part_and_every_question_can_be_reached(stage: Stage) -> None:
    at = stage.page()
    for number in range(20):
        at = ended(ask(at, f"question {number}."))
    conversation = known(at)

    def drawn() -> list[int]:
        return [number for number in range(20) if f"question {number}.</h2>" in html(at)]

    assert drawn() == list(range(12, 20))
    at.button(key="show-earlier").click().run()
    assert drawn() == list(range(4, 12))
    at.selectbox(key=f"go-to-{conversation}").set_value(1).run()
    assert drawn() == list(range(1, 9))
    at.button(key="show-later").click().run()
    assert drawn() == list(range(9, 17))
    at = ended(ask(at, "question 20."))
    assert drawn() == list(range(13, 20))
    at.button(key="show-earlier").click().run()
    at.button(key="show-newest").click().run()
    assert drawn() == list(range(13, 20))


def test_two_tabs_do_not_disturb_each_other(stage: Stage) -> None:
    one = answered(stage)
    other = ended(ask(fresh(), "another question"))
    assert known(one) != known(other)
    one.run()
    assert "another question" not in html(one)[html(one).index("crag-question") :]
    other.button(key="new").click().run()
    assert "crag-answer" in html(one.run())


def test_what_another_process_asks_in_the_open_conversation_is_seen_and_later_questions_see_it(stage: Stage) -> None:
    at = answered(stage)
    first = opened(at).turns[0].trace
    assert first is not None
    state.process().keeping.settle()
    elsewhere = Conversations(Store(state.process().store.path))
    elsewhere.begin(known(at), Begun(turn_id="other", question="Asked elsewhere?"), "")
    at.run()
    assert "Asked elsewhere?" in html(at)
    elsewhere.end("other", first.model_copy(update={"turn_id": "other", "question": "Asked elsewhere?"}))
    at = ended(ask(at.run(), "and then?"))
    assert [turn.question for turn in opened(at).turns][1:] == ["Asked elsewhere?", "and then?"]
    assert [exchange.question for exchange in stage.histories[-1]] == [first.question, "Asked elsewhere?"]
    state.process().keeping.settle()
    found = elsewhere.load(known(at))
    assert found is not None
    assert [turn.question for turn in found.turns] == [turn.question for turn in opened(at).turns]


def test_a_page_whose_conversation_made_room_for_others_goes_on_in_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talks, "IN_MEMORY", 1)
    at = answered(stage)
    state.process().keeping.settle()
    other = ended(ask(stage.page(), "Something else?"))
    again_there = fresh(known(at))  # read anew, while the first page holds what it was drawn with
    at = again(at)
    assert "2 of 2" in said(at)
    assert "2 of 2" in said(again_there.run())
    at.button(key=f"version-chevron_left-{shown(at)}").click().run()
    assert not at.exception
    assert "1 of 2" in said(at)
    assert known(other) != known(at)


def test_who_regenerates_what_another_tab_deleted_brings_it_back(stage: Stage) -> None:
    at = answered(stage)
    state.process().keeping.settle()
    regenerate = at.button(key=f"regenerate-{shown(at)}")
    state.process().talks.delete(known(at))
    at = ended(regenerate.click().run())
    assert "2 of 2" in said(at)
    state.process().keeping.settle()
    assert [row.id for row in state.process().kept().latest()] == [known(at)]


def test_no_key_and_no_address_is_kept_with_a_turn(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DASHSCOPE_API_KEY", "sk-secret-of-mine")
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-secret-of-mine")
    monkeypatch.setenv("CRAG_OLLAMA_URL", "http://secret-of-mine.example")
    answered(stage)
    state.process().keeping.settle()
    kept = state.process().kept().load(known(fresh()) or state.process().kept().latest()[0].id)
    assert kept is not None
    assert kept.turns[0].settings["upper"] == 0.7
    assert not [name for name in turn_settings.PER_TURN if "key" in name or "url" in name]
    assert all(b"secret-of-mine" not in file.read_bytes() for file in (tmp_path / ".crag").iterdir())


def test_settings_of_a_turn_are_found_again_and_what_is_no_longer_valid_is_left_out() -> None:
    present = load_settings()
    asked = present.model_copy(update={"upper": 0.9, "web": "ask", "k": 3})
    assert turn_settings.under(present, turn_settings.kept(asked)) == asked
    odd = {"k": 0, "llm_provider": "of the future", "web": "off", "tavily_api_key": "x", "unknown": 1}
    assert turn_settings.under(present, odd) == present.model_copy(update={"web": "off"})
    assert turn_settings.under(present, {"lower": 0.9}) == present
    assert {type(name) for name in turn_settings.PER_TURN} == {str}
    assert set(turn_settings.PER_TURN) <= set(Settings.model_fields)


@pytest.mark.parametrize(
    ("now", "then", "counts"),
    [("off", "auto", "off"), ("ask", "auto", "ask"), ("auto", "off", "off"), ("ask", "ask", "ask")],
)
def test_an_answer_made_again_as_it_was_asked_goes_no_more_freely_to_the_web_than_now(
    now: Any, then: Any, counts: str
) -> None:
    asked = turn_settings.kept(load_settings(web=then))
    assert turn_settings.under(load_settings(web=now), asked).web == counts
