"""Which models the settings mean, and where their keys go."""

from __future__ import annotations

import pytest

from config import Settings, load_settings
from crag.agent_model.specs import grading_spec, writing_spec

NAMES = ("DASHSCOPE_API_KEY", "DASH_API_KEY", "OPENAI_API_KEY", "OPENAI_API_BASE", "DEEPSEEK_API_KEY")


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DASH_API_KEY", " sk-dash ")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-deep")


def settings(**values: object) -> Settings:
    return load_settings(**values)


def test_nobody_writes_or_grades_unless_chosen_although_keys_lie_about(keys: None) -> None:
    assert writing_spec(settings()) is None
    assert grading_spec(settings()) is None
    assert grading_spec(settings(llm_provider="dashscope")) is None, "lightweight grades"


@pytest.mark.parametrize(
    ("provider", "model", "url", "key"),
    [
        ("dashscope", "qwen3-max", "https://dashscope.aliyuncs.com/compatible-mode/v1", "sk-dash"),
        ("deepseek", "deepseek-chat", "https://api.deepseek.com", "sk-deep"),
        ("ollama", "qwen3:4b", "http://127.0.0.1:11434", ""),
    ],
)
def test_each_provider_has_its_own_model_address_and_key(
    keys: None, provider: str, model: str, url: str, key: str
) -> None:
    spec = writing_spec(settings(llm_provider=provider))
    assert spec is not None
    assert (spec.model, spec.url, spec.key.get_secret_value()) == (model, url, key)
    assert "sk-" not in repr(spec)


def test_the_region_and_another_address_of_dashscope(keys: None) -> None:
    there = writing_spec(settings(llm_provider="dashscope", dashscope_region="international"))
    assert there is not None
    assert there.url == "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"
    own = writing_spec(settings(llm_provider="dashscope", dashscope_url="https://gate.example/v1"))
    assert own is not None
    assert own.url == "https://gate.example/v1"


def test_the_grader_is_the_writer_unless_another_is_named(keys: None) -> None:
    chosen = {"llm_provider": "dashscope", "evaluator": "llm"}
    assert grading_spec(settings(**chosen)) == writing_spec(settings(**chosen)), "they share their connections"
    cheap = grading_spec(settings(**chosen, grader_model="qwen-flash"))
    assert cheap is not None
    assert (cheap.provider, cheap.model) == ("dashscope", "qwen-flash")
    other = grading_spec(settings(**chosen, llm_model="qwen3-max", grader_provider="ollama"))
    assert other is not None
    assert (other.provider, other.model) == ("ollama", "qwen3:4b"), "the writer's model is none of Ollama's"


def test_a_model_grades_although_none_writes(keys: None) -> None:
    spec = grading_spec(settings(evaluator="llm", grader_provider="deepseek"))
    assert spec is not None
    assert spec.model == "deepseek-chat"


def test_it_never_thinks_to_grade(keys: None) -> None:
    values = settings(llm_provider="ollama", evaluator="llm", llm_thinking="on")
    writer, grader = writing_spec(values), grading_spec(values)
    assert writer is not None
    assert grader is not None
    assert (writer.thinking, grader.thinking) == (True, False)


def test_limits_and_prices_are_carried_over(keys: None) -> None:
    spec = writing_spec(
        settings(
            llm_provider="openai", llm_model="m", llm_context=9000, llm_timeout=7.0, llm_retries=1, llm_concurrency=3,
            price_in=0.4, price_out=1.2,
        )
    )  # fmt: skip
    assert spec is not None
    assert (spec.context, spec.timeout, spec.retries, spec.concurrency) == (9000, 7.0, 1, 3)
    assert (spec.price_in, spec.price_out, spec.url) == (0.4, 1.2, "https://api.openai.com/v1")
