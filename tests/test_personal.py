"""What a person changed goes before the environment; what cannot be used is left out and named, never an error."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from config import load_settings
from crag.personal import Problem, check, on_the_command_line, origin, resolve, wished
from crag.ui.settings.wrong import told
from crag.ui.texts import Texts

KEY = "sk-secret-4711"


def problems(changed: dict[str, Any]) -> dict[str, str]:
    return {problem.name: problem.code for problem in resolve(load_settings(), changed).left_out}


def test_a_change_goes_before_the_environment_and_that_before_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_K", "5")
    monkeypatch.setenv("CRAG_QUOTES", "2")
    environment = load_settings()
    found = resolve(environment, {"k": 6})
    assert (found.settings.k, found.settings.quotes, found.settings.top_strips) == (6, 2, 8)
    origins = [origin(name, environment, found) for name in ("k", "quotes", "top_strips")]
    assert origins == ["here", "environment", "default"]


def test_a_threshold_that_is_changed_counts_as_set_explicitly() -> None:
    assert "upper" in resolve(load_settings(), {"upper": 0.8}).settings.model_fields_set
    assert "upper" not in resolve(load_settings(), {"k": 3}).settings.model_fields_set


@pytest.mark.parametrize(
    ("changed", "left_out"),
    [
        ({"llm_provider": "dashscope"}, {"llm_provider": "needs_key"}),
        ({"llm_provider": "openai"}, {"llm_provider": "needs_model"}),
        ({"evaluator": "llm"}, {"evaluator": "needs_judge"}),
        (
            {"evaluator": "llm", "grader_provider": "deepseek"},
            {"grader_provider": "needs_key", "evaluator": "needs_judge"},
        ),
        ({"hyde": "on"}, {"hyde": "needs_drafter"}),
        ({"web_provider": "brave"}, {"web_provider": "needs_key"}),
        ({"web_provider": "google", "google_api_key": KEY}, {"web_provider": "needs_engine"}),
        ({"web_provider": "searxng"}, {"web_provider": "needs_instance"}),
        ({"parser": "mineru"}, {"parser": "needs_service"}),
        ({"lower": 0.9}, {"lower": "order"}),
        ({"ollama_url": "localhost"}, {"ollama_url": "address"}),
        ({"ollama_url": "http://me:secret@localhost"}, {"ollama_url": "address"}),
        ({"openai_api_base": "http://localhost/v1?key=secret"}, {"openai_api_base": "address"}),
        ({"k": 99, "quotes": 0, "llm_timeout": 0}, {"k": "at_most", "quotes": "at_least", "llm_timeout": "above"}),
        ({"k": "many", "web": "sometimes", "currency": "x" * 9}, {"k": "number", "web": "choice", "currency": "long"}),
        ({"language": 5}, {"language": "choice"}),
        ({"llm_model": 5}, {"llm_model": "text"}),
        ({"files_dir": "/", "of_a_newer_version": 1}, {"files_dir": "unknown", "of_a_newer_version": "unknown"}),
    ],
)
def test_what_cannot_be_used_is_left_out_and_named_and_the_rest_holds(
    changed: dict[str, Any], left_out: dict[str, str]
) -> None:
    found = resolve(load_settings(), changed | {"top_strips": 5})
    assert problems(changed) == left_out
    assert found.settings.top_strips == 5
    said = [told(problem, Texts(language)) for problem in found.left_out for language in ("en", "zh")]
    assert all(said)
    assert KEY not in "".join(said) + repr(found)


def test_what_waits_for_another_setting_counts_once_that_is_there() -> None:
    assert problems({"llm_provider": "dashscope", "dashscope_api_key": SecretStr(KEY)}) == {}
    assert problems({"lower": 0.8, "upper": 0.9}) == {}


def test_a_change_that_the_environment_cannot_go_with_is_left_out_and_says_with_what(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CRAG_LLM_PROVIDER", "ollama")
    monkeypatch.setenv("CRAG_HYDE", "on")
    found = resolve(load_settings(), {"k": 3, "llm_provider": "embedded"})
    assert found.left_out == (Problem("llm_provider", "needs_drafter", about="hyde"),)
    assert (found.settings.llm_provider, found.settings.k) == ("ollama", 3)
    assert "Search with a drafted answer" in told(found.left_out[0], Texts("en"))


def test_a_value_is_checked_by_itself_before_it_is_kept() -> None:
    environment = load_settings()
    assert check(environment, "llm_provider", "dashscope") is None, "the key may come later"
    assert check(environment, "ollama_url", "localhost") == Problem("ollama_url", "address")
    assert check(environment, "llm_timeout", 0.0) == Problem("llm_timeout", "above", values={"limit": "0"})
    assert check(environment, "openai_api_key", KEY) is None
    for key in ("", "with blank", "schlüssel", "a\nb", "x" * 501):
        assert check(environment, "openai_api_key", key) == Problem("openai_api_key", "key")


def test_what_waits_is_shown_as_it_is_wished() -> None:
    found = wished(load_settings(), {"llm_provider": "dashscope", "k": 99, "llm_timeout": 5, "tavily_api_key": KEY})
    assert (found["llm_provider"], found["k"], found["llm_timeout"]) == ("dashscope", 8, 5.0)
    assert KEY not in repr(found)


def test_on_the_command_line_a_variable_goes_before_what_was_changed_on_the_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CRAG_K", "5")
    found = on_the_command_line(load_settings(), {"k": 6, "quotes": 1}).settings
    assert (found.k, found.quotes) == (5, 1)


def test_what_the_environment_forbids_nobody_can_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolve(load_settings(), {"web": "ask"}).settings.web == "ask"
    monkeypatch.setenv("CRAG_WEB", "off")
    environment = load_settings()
    found = resolve(environment, {"web": "auto", "k": 6})
    assert (found.settings.web, found.settings.k, found.changed) == ("off", 6, {"k"})
    (problem,) = found.left_out
    assert "forbids it by CRAG_WEB=off" in told(problem, Texts("en"))
    assert check(environment, "web", "auto") == problem
    assert check(environment, "web", "off") is None
