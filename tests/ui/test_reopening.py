"""What needs the house opened anew: it says so, does it where nothing runs, and falls back where it fails."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from settings_stage import change, press, settings_page, shown
from ui_stage import INDEXED, Stage, ask, ended, html

from config import Settings
from crag.errors import EmbeddingError
from crag.history.preferences import Preferences
from crag.ui import state
from crag.ui.evaluate import jobs


@pytest.fixture
def opened(stage: Stage) -> list[Settings]:
    """The settings that the house was opened with, each time."""
    seen: list[Settings] = []
    usual = stage.open

    def opening(settings: Settings, progress: Any) -> SimpleNamespace:
        seen.append(settings)
        if settings.embedding_provider == "ollama":
            raise EmbeddingError("There is no such engine: choose another.")
        made: SimpleNamespace = usual(settings, progress)
        return made

    stage.open = opening
    return seen


def test_a_change_that_counts_late_says_so_and_counts_after_reopening(stage: Stage, opened: list[Settings]) -> None:
    at = change(settings_page(stage, "knowledge"), "ocr", "off")
    assert "counts when the app is opened anew" in shown(at)
    assert state.process().settings.ocr == "auto"
    at = ended(press(at, "reopen"), "open")
    assert [settings.ocr for settings in opened] == ["auto", "off"]
    assert state.process().settings.ocr == "off"
    assert "opened anew" not in shown(at)


def test_what_is_stored_counts_when_the_app_starts(stage: Stage, opened: list[Settings], tmp_path: Any) -> None:
    from crag.history.store import FILE, Store

    Preferences(Store(tmp_path / ".crag" / FILE)).put("ocr", "force")
    stage.page()
    assert [settings.ocr for settings in opened] == ["force"]


def test_while_an_answer_is_being_made_nothing_is_closed(stage: Stage, opened: list[Settings]) -> None:
    at = change(settings_page(stage, "knowledge"), "ocr", "off")
    stage.goes_on.clear()
    ask(stage.page())
    at = press(at, "reopen")
    assert "still running" in at.warning[0].value
    assert state.process().house is not None
    stage.goes_on.set()
    job = state.process().runtime.latest("turn")
    assert job is not None
    list(job.follow(timeout=5))
    ended(press(at, "reopen"), "open")
    assert len(opened) == 2


def test_what_is_asked_in_another_tab_meanwhile_is_answered_when_it_is_open_again(stage: Stage) -> None:
    other, usual, goes_on = stage.page(), stage.open, threading.Event()
    at = change(settings_page(stage, "knowledge"), "ocr", "off")

    def slowly(settings: Settings, progress: Any) -> Any:
        goes_on.wait(10)
        return usual(settings, progress)

    stage.open = slowly
    press(at, "reopen")
    assert state.process().house is None
    threading.Timer(0.3, goes_on.set).start()
    other = ended(ask(other, "What is asked meanwhile?"))
    assert [turn.question for turn in state.process().talks.all()[0].turns] == ["What is asked meanwhile?"]
    assert "128" in html(other)


def test_golden_questions_run_from_another_tab_meanwhile_are_asked_of_what_is_open_then(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    async def run_golden(house: Any, *_: Any) -> AsyncIterator[Any]:
        asked.append(house)
        yield None

    monkeypatch.setattr("crag.evaluation.golden_runs.run_golden", run_golden)
    stage.page()
    before = state.process().house
    assert state.process().reopen()
    jobs.run(state.process(), [])
    job = state.process().runtime.latest(jobs.RUN)
    assert job is not None
    list(job.follow(timeout=5))
    assert asked == [state.process().house]
    assert asked != [before]


def test_where_it_cannot_be_opened_so_it_runs_as_before_and_says_why(stage: Stage, opened: list[Settings]) -> None:
    at = change(change(settings_page(stage, "knowledge"), "ocr", "off"), "parse_timeout", 30.0)
    at = ended(press(at, "reopen"), "open")
    at.query_params["group"] = "models"
    at = change(at.run(), "embedding_provider", "ollama")
    at = ended(press(at, "reopen"), "open")
    assert "There is no such engine" in at.error[0].value
    assert [settings.embedding_provider for settings in opened] == ["embedded", "embedded", "ollama", "embedded"]
    assert state.process().settings.ocr == "off", "as it was before, not as it was at first"
    assert stage.page().chat_input[0].disabled is False
    at = press(at, "back-embedding_provider")
    assert not [button for button in at.button if button.key == "reopen"]


def test_stored_settings_that_cannot_be_opened_do_not_keep_the_app_from_starting(
    stage: Stage, opened: list[Settings], tmp_path: Any
) -> None:
    from crag.history.store import FILE, Store

    Preferences(Store(tmp_path / ".crag" / FILE)).put("embedding_provider", "ollama")
    assert not stage.page().chat_input[0].disabled
    assert "There is no such engine" in settings_page(stage).error[0].value
    assert stage.base.row_list == [INDEXED]
