"""Overruling: changes are collected, what follows is shown at once, and the answer is made anew as another version."""

from __future__ import annotations

from pathlib import Path

import pytest
from pipeline_stage import parts
from streamlit.testing.v1 import AppTest
from test_pipeline_web import GOOD, ByText, FakeWeb
from ui_stage import (
    CORRECT,
    INCORRECT,
    Stage,
    answered,
    document,
    ended,
    events,
    html,
    labels,
    messages,
    open_panel,
)

from crag.events import Asking, Finished, TurnEvent
from crag.history.labels import Labels
from crag.history.store import Store
from crag.rulings import own_grade
from crag.schema import Action, Changed, Fate, GradedStrip, Trace, WebSearched
from crag.ui import state
from crag.ui.conversations import Made, Turn
from crag.ui.money import cost_of

ANSWER = "Answer with these changes"


def said(at: AppTest) -> str:
    """All sentences of the answer, as they read."""
    texts = "\n".join(element.value for element in (*at.main.markdown, *at.main.caption, *at.main.info))
    return texts.replace("\\", "").replace("\u2060", "")


def versions() -> list[Turn]:
    (conversation,) = state.process().talks.all()
    (place,) = conversation.places
    return place.versions


def newest() -> Trace:
    trace = versions()[-1].trace
    assert trace is not None
    return trace


def press(at: AppTest, label: str) -> AppTest:
    at = next(button for button in at.button if button.label == label).click().run()
    assert not at.exception
    return at


def with_(scores: list[float | None], **changed: object) -> list[TurnEvent]:
    *before, last = events(scores)
    assert isinstance(last, Finished)
    return [*before, Finished(trace=last.trace.model_copy(update=changed))]


def say(at: AppTest, rank: int, choice: str | None) -> AppTest:
    """What the document with this rank (from 1) does, in the open Documents panel."""
    control = next(group for group in at.get("button_group") if f"document {rank}," in group.label)
    at = (control.set_value(choice) if choice else control.unselect(control.value)).run()
    assert not at.exception
    return at


def choose_strips(at: AppTest, *numbers: int) -> AppTest:
    """The strips with these numbers, in the open Refined context panel."""
    (field,) = [field for field in at.main.multiselect if "by hand" in field.label]
    trace = newest()
    at = field.set_value([strip.id for strip in trace.strips if strip.order + 1 in numbers]).run()
    assert not at.exception
    return at


# --- grades -------------------------------------------------------------------------------------------------------


def test_a_corrected_grade_shows_at_once_what_follows_and_asks_nothing(stage: Stage) -> None:
    stage.turn = events([0.91, 0.44])
    at = open_panel(answered(stage), "documents")
    assert ANSWER not in labels(at)
    at = say(at, 1, "answers_not")
    shown = said(at)
    assert "1 change:" in shown
    assert "document 1 does not answer" in shown
    assert "Best 0.44 is below 0.70" in shown
    assert "Kept strips: 1 of 6 (before: 4)." in shown
    assert len(versions()) == 1


def test_answering_with_it_makes_another_version_that_says_who_changed_what(stage: Stage, tmp_path: Path) -> None:
    stage.turn = events([0.91, 0.44])
    at = ended(press(say(open_panel(answered(stage), "documents"), 1, "answers_not"), ANSWER))
    first, second = versions()
    assert (second.made, second.question) == (Made.CHANGED, first.question)
    trace = newest()
    assert first.trace is not None
    assert (trace.revises, trace.action) == (first.trace.turn_id, Action.AMBIGUOUS)
    assert [(change.what, change.before, change.after) for change in trace.changes] == [(Changed.GRADE, 0.91, False)]
    assert trace.changes[0].time
    assert "Changed by you: document 1 does not answer." in said(at)
    assert ANSWER not in labels(at), "the changes are no longer pending"
    table = html(at)
    assert "you: does not answer<" in table, "the panel that was open stays open"
    assert "evaluator: 0.91" in table
    assert len(stage.histories) == 1, "nothing is asked again"
    kept = Labels(Store(tmp_path / ".crag" / "crag.db")).latest()
    assert [(label.answers, label.score) for label in kept] == [(False, 0.91)]


def test_taking_back_brings_back_what_was_there_also_the_labels(stage: Stage, tmp_path: Path) -> None:
    kept = Labels(Store(tmp_path / ".crag" / "crag.db"))
    stage.turn = events([0.91, 0.44])
    at = say(open_panel(answered(stage), "documents"), 2, "answers_it")
    at = press(at, ANSWER)
    at = ended(at)
    at = say(say(at, 2, "answers_not"), 1, "answers_not")
    assert {label.answers for label in kept.latest()} == {False}
    at = press(at, "Take back")
    assert ANSWER not in labels(at)
    assert [(label.page, label.answers) for label in kept.latest()] == [(2, True)]


def test_a_grade_set_by_hand_can_be_given_back_to_the_evaluator(stage: Stage) -> None:
    stage.turn = events([0.91, 0.44])
    at = ended(press(say(open_panel(answered(stage), "documents"), 1, "answers_not"), ANSWER))
    at = say(at, 1, None)
    assert "document 1 as it was graded" in said(at)
    ended(press(at, ANSWER))
    assert len(versions()) == 3
    assert newest().changes == ()
    assert own_grade(newest().documents[0]).score == newest().documents[0].score == 0.91


def test_what_was_said_of_the_same_documents_before_is_offered(stage: Stage) -> None:
    stage.turn = events([0.91, 0.44])
    at = say(open_panel(answered(stage), "documents"), 1, "answers_not")
    at.button(key="new").click().run()
    at = ended(at.chat_input[0].set_value("What batch size was used?").run())
    at = open_panel(at, "documents")
    assert ANSWER not in labels(at)
    at = press(at, "Use what you said before of 1 document")
    assert "document 1 does not answer" in said(at)
    assert not any(label.startswith("Use what") for label in labels(at))


def test_where_nothing_could_be_graded_a_persons_word_brings_an_answer(stage: Stage) -> None:
    stage.turn = events([None, None])
    at = say(open_panel(answered(stage), "documents"), 1, "answers_it")
    ended(press(at, ANSWER))
    assert (newest().action, newest().error) == (Action.CORRECT, None)
    assert "batch size of 128" in newest().answer


# --- strips -------------------------------------------------------------------------------------------------------


def test_a_strip_is_dropped_and_another_kept_by_hand(stage: Stage) -> None:
    at = open_panel(answered(stage), "refined_context")
    trace = newest()
    kept = next(strip for strip in trace.strips if strip.kept)
    dropped = next(strip for strip in trace.strips if not strip.kept)
    at = choose_strips(at, kept.order + 1, dropped.order + 1)
    assert f"strip {kept.order + 1} is dropped" in said(at)
    assert f"strip {dropped.order + 1} is kept" in said(at)
    assert "you drop it" in html(at)
    at = ended(press(at, ANSWER))
    fates = {strip.id: strip.fate for strip in newest().strips}
    assert (fates[kept.id], fates[dropped.id]) == (Fate.DROPPED_BY_HAND, Fate.KEPT_BY_HAND)
    assert "kept by you" in html(at)
    at = choose_strips(at)
    assert ANSWER not in labels(at), "nothing is chosen"


def test_dropping_all_strips_says_that_nothing_is_covered(stage: Stage) -> None:
    stage.turn = events([0.91])
    at = open_panel(answered(stage), "refined_context")
    at = choose_strips(at, *(strip.order + 1 for strip in newest().strips if strip.kept))
    assert "No evidence is left" in said(at)
    ended(press(at, ANSWER))
    assert not newest().covered


def test_a_hundred_strips_take_one_field(stage: Stage) -> None:
    at = open_panel(answered(stage), "refined_context")
    few = len(at.main)
    strip = newest().strips[0]
    many: tuple[GradedStrip, ...] = tuple(
        strip.model_copy(update={"id": f"s{n}", "order": n, "text": f"Strip {n} of many."}) for n in range(100)
    )
    stage.turn = with_(CORRECT, strips=many)
    state.process.clear()
    at = open_panel(answered(stage), "refined_context")
    assert len(at.main) == few
    (field,) = [field for field in at.main.multiselect if "by hand" in field.label]
    assert len(field.options) == 100


def test_an_answer_that_was_stopped_early_offers_no_change(stage: Stage) -> None:
    stage.turn = with_(CORRECT, strips=(), stopped=True)
    at = say(open_panel(answered(stage), "documents"), 1, "answers_not")
    assert ANSWER not in labels(at)
    assert "kept on this machine for calibration" in said(at)


# --- the action ---------------------------------------------------------------------------------------------------


def set_action(at: AppTest, action: str) -> AppTest:
    control = next(group for group in at.get("button_group") if str(group.key).startswith("replay-action-"))
    at = control.set_value(action).run()
    assert not at.exception
    return at


def test_an_action_is_set_by_hand_and_given_back_to_the_scores(stage: Stage) -> None:
    at = set_action(open_panel(answered(stage), "replay"), "AMBIGUOUS")
    assert "action: Ambiguous" in said(at)
    assert "Set by you; by the scores it would be Correct (best 0.91)" in said(at)
    at = ended(press(at, ANSWER))
    assert (newest().action, newest().decisions[0].by_scores) == (Action.AMBIGUOUS, Action.CORRECT)
    at = set_action(at, "action_by_scores")
    assert "action: by the scores" in said(at)
    ended(press(at, ANSWER))
    assert (newest().action, newest().changes) == (Action.CORRECT, ())


def test_an_action_that_needs_a_second_look_says_so_before_it_is_taken(stage: Stage) -> None:
    stage.turn = events([0.91, 0.44])
    at = set_action(open_panel(answered(stage), "replay"), "INCORRECT")
    assert "A second look will be taken first" in said(at)
    ended(press(at, ANSWER))
    assert [decision.by_hand for decision in newest().decisions] == [True, False]
    assert newest().search_query == "anvil weight"


def test_moved_thresholds_are_a_change_among_the_others(stage: Stage) -> None:
    at = open_panel(answered(stage), "replay")
    key = next(slider.key for slider in at.main.slider if slider.key.startswith("replay-limits-"))
    at = set_action(at.slider(key=key).set_value((0.2, 0.95)).run(), "CORRECT")
    assert "2 changes: thresholds 0.20 and 0.95, strips from 0.50; action: Correct" in said(at).replace("**", "")
    at = press(at, "Take back")
    assert at.slider(key=key).value == (0.3, 0.7)
    assert ANSWER not in labels(at)


# --- queries ------------------------------------------------------------------------------------------------------


def search_again(at: AppTest, query: str) -> AppTest:
    (field,) = [field for field in at.main.text_input if "uery" in field.label]
    field.set_value(query)
    return press(at, "Search again")


def test_an_edited_web_query_is_searched_for_again(stage: Stage) -> None:
    web = FakeWeb(GOOD)
    stage.parts = parts({}, evaluator=ByText({}), web=web)
    searched = WebSearched(provider="fakeweb", query="anvil weight", time="2026-12-01T10:00:00+00:00", results=0)
    stage.turn = with_([0.44], web_gate="auto", web=searched)
    at = open_panel(answered(stage), "second_look")
    at = search_again(at, " ")
    assert "Type what is to be searched for" in messages(at)
    at = ended(search_again(at, "how heavy is an anvil"))
    assert web.asked == ["how heavy is an anvil"]
    trace = newest()
    assert trace.web is not None
    assert (trace.web.query, trace.web.proposed) == ("how heavy is an anvil", "anvil weight")
    assert any(source.url for source in trace.sources)
    assert "the web is asked for “how heavy is an anvil”" in said(at)
    assert "From the web" in html(open_panel(at, "refined_context"))


def test_a_query_that_was_declined_can_be_written_and_sent_after_all(stage: Stage) -> None:
    web = FakeWeb(GOOD)
    stage.parts = parts({}, evaluator=ByText({}), web=web, web_gate="ask")
    stage.turn = with_([0.44], web_gate="ask")
    ended(search_again(open_panel(answered(stage), "second_look"), "weight of an anvil"))
    assert web.asked == ["weight of an anvil"]
    assert newest().web is not None


def test_an_edited_second_look_is_taken_again(stage: Stage) -> None:
    stage.turn = events(INCORRECT, second=[0.2, 0.1])
    at = search_again(open_panel(answered(stage), "second_look"), "hammer")
    ended(at)
    assert newest().search_query == "hammer"
    assert "hammer" in {found.id for found in newest().documents}
    assert document(0).id in {found.id for found in newest().documents}


def test_where_the_web_is_off_there_is_no_query_to_edit(stage: Stage) -> None:
    at = open_panel(answered(stage), "second_look")
    assert "Search again" not in labels(at)


def test_the_web_is_asked_through_the_gate_and_a_stopped_version_is_tried_again_with_its_changes(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_WEB", "ask")
    web = FakeWeb(GOOD)
    stage.parts = parts({}, evaluator=ByText({}), web=web, web_gate="ask")
    stage.turn = with_(CORRECT, web_gate="ask")
    at = set_action(open_panel(answered(stage), "replay"), "AMBIGUOUS")
    assert "The web will be searched first" in said(at)
    press(at, ANSWER)
    asking(versions()[-1])
    versions()[-1].job.stop()
    at = ended(at)
    assert newest().stopped
    at = press(at, "Try again")
    again = asking(versions()[-1])
    assert again.gate is not None
    again.gate.answer("anvils")
    at = ended(at)
    assert web.asked == ["anvils"]
    assert (len(versions()), again.made, newest().action) == (3, Made.CHANGED, Action.AMBIGUOUS)
    assert [change.what for change in newest().changes] == [Changed.ACTION]
    assert len(stage.histories) == 1, "the question is not asked anew"


def asking(turn: Turn) -> Turn:
    """The turn, when its query waits for a person."""
    for event in turn.job.follow(timeout=5):
        if isinstance(event, Asking):
            return turn
    raise AssertionError("it does not ask")


def test_what_a_search_cost_counts_for_the_version_that_made_it() -> None:
    searched = WebSearched(provider="w", query="q", time="2026-12-01T10:00:00+00:00", results=1, cost=0.01)
    *_, last = with_([0.44], web=searched)
    assert isinstance(last, Finished)
    assert cost_of(last.trace) == (0.01, True)
    assert cost_of(last.trace.model_copy(update={"revises": "t1"})) is None
    again = {"revises": "t1", "timings": {"search": 0.5}}
    assert cost_of(last.trace.model_copy(update=again)) == (0.01, True)


# --- both languages -----------------------------------------------------------------------------------------------


def test_it_speaks_chinese(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_LANGUAGE", "zh")
    stage.turn = events([0.91, 0.44])
    at = open_panel(answered(stage), "documents")
    control = next(group for group in at.get("button_group") if group.label.startswith("文档 1"))
    at = control.set_value("answers_not").run()
    assert "文档 1 没有回答问题" in said(at)
    at = ended(press(at, "按这些更改回答"))
    assert "由您更改：文档 1 没有回答问题。" in said(at)
