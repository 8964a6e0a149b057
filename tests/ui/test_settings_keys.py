"""Keys on the Settings page: masked, of one session unless remembered, never shown again, forgotten without a trace."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from settings_stage import change, enter_key, press, settings_page, shown
from streamlit.testing.v1 import AppTest
from ui_stage import Stage, ask, ended

from crag.history.preferences import Preferences
from crag.ui import state
from crag.ui.settings import services_at_work
from tests import model_server

KEY = "sk-secret-4711-abcd"


def chosen(stage: Stage) -> AppTest:
    """The Settings page with DashScope chosen to write, which waits for its key."""
    at = change(settings_page(stage), "llm_provider", "dashscope")
    assert "DashScope needs a key" in shown(at)
    return at


def test_a_key_counts_in_its_own_session_alone_and_is_stored_nowhere(stage: Stage, tmp_path: Path) -> None:
    at = enter_key(chosen(stage), "dashscope_api_key", KEY)
    assert "Set, ends in …abcd" in shown(at)
    assert "until this page is reloaded" in shown(at)
    assert "needs a key" not in shown(at)
    assert "needs a key" in shown(settings_page(stage)), "another session does not have it"
    assert "dashscope_api_key" not in Preferences(state.process().store).all()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.name for path in files if KEY.encode() in path.read_bytes()] == []


def test_a_key_is_masked_and_never_comes_back_to_the_page(stage: Stage) -> None:
    at = enter_key(chosen(stage), "dashscope_api_key", KEY)
    field = at.text_input(key="key-dashscope_api_key")
    assert field.proto.type == field.proto.PASSWORD
    assert field.value == ""
    at = enter_key(at, "dashscope_api_key", KEY, remember=True)
    for group in ("models", "privacy"):
        page = settings_page(stage, group)
        assert "ends in …abcd" in shown(page)
        assert KEY not in repr(page)
        assert KEY not in "".join(str(element) for element in page)


@pytest.mark.parametrize(("key", "said"), [("short-key-12", "Set ·"), ("thirteen-long", "Set, ends in …long ·")])
def test_only_the_end_of_a_long_key_is_shown(stage: Stage, key: str, said: str) -> None:
    assert said in shown(enter_key(chosen(stage), "dashscope_api_key", key))


def test_a_key_is_remembered_only_when_asked_and_forgotten_without_a_trace(stage: Stage, tmp_path: Path) -> None:
    at = chosen(stage)
    assert "may read that file" in shown(at)
    at = enter_key(at, "dashscope_api_key", KEY, remember=True)
    assert "remembered on this machine" in shown(at)
    assert "needs a key" not in shown(settings_page(stage)), "it counts in every session"
    at = press(at, "forget-dashscope_api_key")
    assert "Not set" in shown(at)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.name for path in files if KEY.encode() in path.read_bytes()] == []


def test_a_key_that_cannot_be_one_is_refused_without_being_repeated(stage: Stage) -> None:
    at = enter_key(chosen(stage), "dashscope_api_key", "two words-4711")
    assert "A key has no blanks" in at.error[0].value
    assert "4711" not in shown(at)


def test_two_sessions_with_different_keys_do_not_disturb_each_other(stage: Stage) -> None:
    with model_server.serving() as server:
        one = change(settings_page(stage), "llm_provider", "openai")
        one = change(change(one, "llm_model", "m"), "openai_api_base", server.base)
        other = settings_page(stage)
        for at, key in ((one, "key-of-one"), (other, "key-of-other")):
            enter_key(at, "openai_api_key", key)
        for at in (one, other, one):
            press(at, "test-write")
            _, job = at.session_state[services_at_work.TESTS]["write"]
            list(job.follow(timeout=20))
            assert "answers with m" in at.run().success[0].value.replace("\\", "")
        sent = [asked.headers["authorization"] for asked in server.asked if asked.path.endswith("completions")]
        assert sent == ["Bearer key-of-one", "Bearer key-of-other", "Bearer key-of-one"]


def test_a_key_reaches_neither_log_nor_trace_nor_stored_settings(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    enter_key(chosen(stage), "dashscope_api_key", KEY, remember=True)
    ended(ask(stage.page()))
    [conversation] = state.process().talks.all()
    turn = conversation.turns[0]
    assert turn.settings.dashscope_api_key.get_secret_value() == KEY, "it is used"
    assert turn.trace is not None
    assert KEY not in turn.trace.model_dump_json() + repr(turn) + turn.settings.model_dump_json()
    assert KEY not in caplog.text


def test_vectors_are_not_made_with_the_key_of_a_visit(stage: Stage) -> None:
    at = change(settings_page(stage), "embedding_provider", "dashscope")
    at = enter_key(at, "dashscope_api_key", KEY)
    assert "Vectors are made also when nobody looks" in shown(at)
    assert not [button for button in at.button if button.key == "reopen"]
    at = enter_key(at, "dashscope_api_key", KEY, remember=True)
    assert [button for button in at.button if button.key == "reopen"]
