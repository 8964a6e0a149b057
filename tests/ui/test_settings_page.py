"""The Settings page: values are checked, kept, shown with where they come from, and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
from settings_stage import change, fine, press, settings_page, shown
from ui_stage import Stage, ask, ended

from crag.history.preferences import Preferences
from crag.options import CHANGEABLE, GROUPS, option
from crag.ui import state
from crag.ui.settings.fields import choice
from crag.ui.settings.page import ALL
from crag.ui.settings.wrong import BRANDS
from crag.ui.texts import CATALOG, Texts


def kept() -> dict[str, object]:
    return Preferences(state.process().store).all()


def test_every_setting_has_label_help_and_choices_in_both_languages() -> None:
    assert {name for name in CHANGEABLE if f"label_{name}" not in CATALOG or f"help_{name}" not in CATALOG} == set()
    names = {
        choice(name, value, Texts(each))
        for name in CHANGEABLE
        for value in option(name).choices
        for each in ("en", "zh")
    }
    raw = {value for name in CHANGEABLE if option(name).kind == "choice" for value in option(name).choices}
    assert names & (raw - set(BRANDS.values())) - {"off", "on"} == set(), "a choice is shown as it stands in the code"


def test_the_help_of_the_embedding_says_that_texts_leave() -> None:
    assert "is sent there" in CATALOG["help_embedding_provider"][0]
    assert "发送" in CATALOG["help_embedding_provider"][1]


@pytest.mark.parametrize("group", ALL)
def test_each_group_is_drawn_and_only_what_means_something(stage: Stage, group: str) -> None:
    at = settings_page(stage, group)
    assert at.header[0].value == "Settings"
    said = shown(at)
    for parts in [GROUPS.get(group, {})]:
        for name in (name for names in parts.values() for name in names):
            meant = name not in ("tavily_api_key", "openai_api_key", "mineru_url", "web_depth", "google_cse_id")
            assert (f"**{CATALOG[f'label_{name}'][0]}**" in said) or not meant or name not in said
    assert "Firecrawl key" not in said


def test_an_unknown_group_in_the_address_shows_the_first(stage: Stage) -> None:
    assert "Who does what" in shown(settings_page(stage, "../etc"))


def test_a_change_is_kept_says_where_it_comes_from_and_goes_back(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_TOP_STRIPS", "4")
    at = settings_page(stage, "decision")
    assert "Set by CRAG_TOP_STRIPS" in shown(at)
    at = change(at, "k", 5)
    at = change(at, "top_strips", 6)
    assert kept() == {"k": 5, "top_strips": 6}
    assert "Changed here · default: 8" in shown(at)
    assert "Changed here · CRAG_TOP_STRIPS: 4" in shown(at)
    again = settings_page(stage, "decision")
    assert again.number_input(key="set-k").value == 5, "another session has it too"
    at = press(at, "back-top_strips")
    assert at.number_input(key="set-top_strips").value == 4
    at = change(at, "k", 8)
    assert kept() == {}, "what is there anyway is no change"


def test_a_wrong_value_is_not_kept_and_what_is_wrong_stands_beside_it(stage: Stage) -> None:
    at = change(settings_page(stage), "llm_provider", "openai")
    at = change(at, "openai_api_base", "localhost:8000")
    assert at.error[0].value.replace("\\", "").startswith("This is no address")
    assert at.text_input(key="set-openai_api_base").value == "localhost:8000"
    assert "openai_api_base" not in kept()
    at.query_params["group"] = "web"
    at = fine(at.run())
    at.query_params["group"] = "models"
    at = fine(at.run())
    assert not at.error, "what was typed has gone with what was wrong with it"
    at = change(change(at, "openai_api_base", "localhost"), "openai_api_base", "http://127.0.0.1:8000/v1")
    assert not at.error


def test_a_provider_without_what_it_needs_waits_and_says_for_what(stage: Stage) -> None:
    at = change(settings_page(stage), "llm_provider", "openai")
    said = at.warning[0].value.replace("\\", "")
    assert "OpenAI needs the name of a model" in said
    assert "In force: No model: quotes" in said
    assert "Nothing leaves this machine" in shown(at)
    at = change(at, "llm_model", "qwen")
    assert not at.warning
    assert "to api.openai.com your questions" in shown(at)


def test_who_asks_is_told_in_the_sidebar_what_does_not_hold(stage: Stage) -> None:
    change(settings_page(stage), "llm_provider", "openai")
    at = fine(stage.page())
    assert "Who writes the answer" in at.warning[0].value


def test_the_next_question_is_asked_with_what_was_changed(stage: Stage) -> None:
    at = settings_page(stage, "decision")
    at = change(change(at, "k", 5), "upper", 0.9)
    page = ended(ask(stage.page()))
    [conversation] = state.process().talks.all()
    asked = conversation.turns[0].settings
    assert (asked.k, asked.upper) == (5, 0.9)
    assert page.slider(key="decision-k").value == 5
    at = press(at, "back-upper")
    assert fine(page.run()).slider(key="decision-limits").value == (0.3, 0.7)


def test_the_language_by_hand_acts_at_once(stage: Stage) -> None:
    at = change(settings_page(stage, "appearance"), "language", "zh")
    assert at.header[0].value == "设置"
    assert stage.page().chat_input[0].placeholder == CATALOG["ask"][1]


def test_all_changes_go_back_together(stage: Stage) -> None:
    at = change(change(settings_page(stage, "decision"), "k", 5), "quotes", 2)
    assert "2 settings are changed here." in shown(at)
    assert not press(at, "reset-all-do").exception
    assert kept() == {}


def test_a_stored_value_that_is_no_longer_valid_hides_nothing_and_is_named(stage: Stage) -> None:
    stage.page()
    Preferences(state.process().store).put("k", 5000)
    at = settings_page(stage, "decision")
    assert "It may be at most" not in shown(at)
    assert "Not in force: it may be at most 50" in shown(at)
    assert at.number_input(key="set-k").value == 8
    press(at, "back-k")
    assert kept() == {}


def test_settings_that_cannot_be_read_leave_the_app_working_and_say_so(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / ".crag").mkdir()
    (tmp_path / ".crag" / "crag.db").write_bytes(b"no database" * 1000)
    at = fine(stage.page())
    assert not at.chat_input[0].disabled
    at = settings_page(stage, "decision")
    assert "cannot be read" in at.error[0].value
    at = change(at, "k", 5)
    assert "This could not be kept" in "".join(error.value for error in at.error)


def test_folders_are_shown_and_cannot_be_changed(stage: Stage, tmp_path: Path) -> None:
    at = settings_page(stage, "knowledge")
    assert str(tmp_path / "Files") in shown(at)
    assert "Set by the environment alone" in shown(at)


def test_privacy_says_what_each_choice_would_send(stage: Stage) -> None:
    said = shown(settings_page(stage, "privacy"))
    assert "Nothing leaves this machine" in said
    assert "dashscope.aliyuncs.com" in said
    assert "the text of all your files" in said
