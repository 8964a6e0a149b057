"""The gate before the web: the query is seen, edited, sent or declined, and what was said before is passed on."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest
from ui_stage import AMBIGUOUS, PAGE, Stage, ask, ended, events, html, labels, scripts

from crag.events import Asking, Finished, Rewritten
from crag.ui import state
from crag.ui.progress import turn_view


@pytest.fixture
def asking(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A turn whose query for the web waits to be allowed."""
    monkeypatch.setenv("CRAG_WEB", "ask")
    *before, last = events(AMBIGUOUS)
    query = "batch size ![x](http://evil.example/p)"
    stage.turn = [*before[:3], Rewritten(query=query, provider="tavily"), Asking(query=query, provider="tavily"), last]
    return stage


def waiting(stage: Stage) -> AppTest:
    at = ask(stage.page())
    turn = state.process().runtime.latest("turn")
    assert turn is not None
    for event in turn.follow(timeout=5):
        if isinstance(event, Asking):
            break
    return at.run()


def test_nothing_is_sent_before_the_click_and_then_what_the_field_says(asking: Stage) -> None:
    at = waiting(asking)
    assert at.text_input[0].value == "batch size ![x](http://evil.example/p)"
    shown = "".join(element.value for element in [*at.markdown, *at.caption])
    assert "May this query be sent to tavily" in shown
    assert "nothing of your documents" in shown
    assert "waiting for you" in scripts(at), "it is read aloud"
    assert asking.sent == []
    at.text_input[0].set_value("batch size of the retriever")
    at.button(key=next(b.key for b in at.button if b.label == "Send" and b.key)).click().run()
    at = ended(at)
    assert asking.sent == ["batch size of the retriever"]
    assert "Send" not in labels(at)


def test_declining_sends_nothing(asking: Stage) -> None:
    at = waiting(asking)
    next(button for button in at.button if button.label == "Do not search").click().run()
    at = ended(at)
    assert asking.sent == [None]
    assert "From your documents" in html(at)


def test_an_emptied_field_is_no_answer(asking: Stage) -> None:
    at = waiting(asking)
    at.text_input[0].set_value("  ")
    next(button for button in at.button if button.label == "Send").click().run()
    assert asking.sent == []
    assert "Send" in labels(at)
    next(button for button in at.button if button.label == "Do not search").click().run()
    ended(at)


def test_after_a_reload_the_query_waits_still_and_is_asked_once(asking: Stage) -> None:
    at = waiting(asking)
    again = AppTest.from_file(str(PAGE), default_timeout=20)
    again.query_params["c"] = at.query_params["c"]
    again.run()
    assert again.text_input[0].value.startswith("batch size")
    next(button for button in again.button if button.label == "Send").click().run()
    ended(again)
    assert len(asking.sent) == 1
    assert "Send" not in labels(at.run())


def test_a_stop_ends_the_waiting(asking: Stage) -> None:
    at = waiting(asking)
    turn = state.process().runtime.latest("turn")
    assert turn is not None
    at.button(key=f"stop-{turn.id}").click().run()
    assert turn.stopping.is_set()


def test_what_waits_is_forgotten_as_soon_as_something_else_happens() -> None:
    query = Asking(query="q", provider="tavily")
    assert turn_view([query]).asking is query
    assert turn_view([query, *events(AMBIGUOUS)]).asking is None


def test_a_turn_sees_what_was_answered_before_it_even_where_it_had_to_wait(stage: Stage) -> None:
    stage.goes_on.clear()
    at = ask(ask(stage.page(), "First?"), "Second?")
    assert stage.histories == [()]
    last = stage.turn[-1]
    assert isinstance(last, Finished)
    stage.goes_on.set()
    ended(at)
    assert [exchange.answer for exchange in stage.histories[1]] == [last.trace.answer]


def test_the_history_holds_the_question_as_it_was_understood(stage: Stage) -> None:
    *before, last = events(AMBIGUOUS)
    assert isinstance(last, Finished)
    stage.turn = [*before, Finished(trace=last.trace.model_copy(update={"standalone": "What size in 2024?"}))]
    at = ended(ask(stage.page(), "And in 2024?"))
    assert any("Understood as" in caption.value and "What size in 2024" in caption.value for caption in at.caption)
    ended(ask(at, "Why?"))
    assert stage.histories[1][0].question == "What size in 2024?"
