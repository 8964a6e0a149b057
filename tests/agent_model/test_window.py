"""How much fits into a model's window, and how much a text takes of it."""

from __future__ import annotations

from typing import Any

import dashscope
import pytest
from asking import model
from model_server import ModelServer

from crag.agent_model.base import ModelSpec
from crag.agent_model.chat import PydanticAiModel
from crag.agent_model.tokens import count
from crag.agent_model.window import Window


async def test_what_is_set_goes_before_what_the_server_says(server: ModelServer) -> None:
    server.models = [{"id": "m", "max_model_len": 32768}]
    assert await model(server, context=5000).window() == 5000
    assert server.asked == []


@pytest.mark.parametrize(
    ("listed", "props", "tokens"),
    [
        ({"id": "m", "max_model_len": 32768}, None, 32768),
        ({"id": "m", "meta": {"n_ctx": 6144, "n_ctx_train": 131072}}, None, 6144),
        ({"id": "m", "meta": {"n_ctx_train": 131072}}, {"default_generation_settings": {"n_ctx": 2048}}, 2048),
        ({"id": "m"}, None, 8192),
        ({"id": "m", "max_model_len": "long"}, None, 8192),
    ],
    ids=["vLLM", "llama.cpp list", "llama.cpp props", "silent", "nonsense"],
)
async def test_a_compatible_server_is_asked(
    server: ModelServer, listed: dict[str, Any], props: dict[str, Any] | None, tokens: int
) -> None:
    server.models, server.props = [listed], props
    assert await model(server).window() == tokens


SHOW = {"model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960}}


@pytest.mark.parametrize(
    ("parameters", "running", "tokens", "certain"),
    [
        ("stop <|x|>\nnum_ctx                        16384\n", [], 16384, True),
        (None, [{"name": "m", "model": "m", "context_length": 32768}], 32768, True),
        (None, [{"name": "other", "model": "other", "context_length": 32768}], 4096, False),
        (None, [], 4096, False),
        ("num_ctx 100000", [], 40960, True),
    ],
    ids=["num_ctx", "loaded", "another loaded", "nothing set", "more than it can"],
)
async def test_ollama_is_asked_what_it_really_reads(
    server: ModelServer, parameters: str | None, running: list[dict[str, Any]], tokens: int, certain: bool
) -> None:
    server.show, server.running = {**SHOW, "parameters": parameters}, running
    found = await model(server, "ollama").windows.known()
    assert (found.tokens, found.certain) == (tokens, certain)
    assert bool(found.notice) == (tokens < 40960)
    if found.notice:
        assert f"{tokens} of the 40960 tokens" in found.notice
        assert "OLLAMA_CONTEXT_LENGTH" in found.notice
    assert server.asked[0].path == "/api/show"
    assert server.asked[0].body == {"model": "m"}


@pytest.mark.parametrize(
    ("running", "tokens"), [([], 20000), ([{"model": "m", "context_length": 4096}], 4096)], ids=["not loaded", "loaded"]
)
async def test_what_ollama_would_cut_without_a_word_counts_less_than_what_is_set(
    server: ModelServer, running: list[dict[str, Any]], tokens: int
) -> None:
    server.show, server.running = {**SHOW, "parameters": None}, running
    found = await model(server, "ollama", context=20000).windows.known()
    assert (found.tokens, found.certain) == (tokens, bool(running)), "it is asked again while it cannot say"
    assert ("fewer than CRAG_LLM_CONTEXT says (20000)" in found.notice) is bool(running)
    server.running = [{"model": "m", "context_length": 20000}]
    assert await model(server, "ollama", context=20000).windows.known() == Window(20000)


async def test_the_server_is_asked_once(server: ModelServer) -> None:
    server.models = [{"id": "m", "max_model_len": 32768}]
    asked = model(server)
    assert [await asked.window(), await asked.window()] == [32768, 32768]
    assert len(server.asked) == 1


async def test_a_server_that_is_away_has_a_cautious_window() -> None:
    away = ModelSpec("ollama", "m", "http://127.0.0.1:9"), ModelSpec("openai", "m", "http://127.0.0.1:9/v1")
    assert [await PydanticAiModel(one).window() for one in away] == [8192, 8192]


@pytest.mark.parametrize(
    ("provider", "name", "tokens"),
    [
        ("dashscope", "qwen3-max", 262_144),
        ("dashscope", "qwen3-max-2026-01-23", 262_144),
        ("dashscope", "qwen-plus-latest", 131_072),
        ("dashscope", "qwen-max", 32_768),
        ("dashscope", "another", 8192),
        ("deepseek", "deepseek-chat", 64_000),
        ("openai", "gpt-4o", 128_000),
        ("openai", "gpt-4o-mini-2024-07-18", 128_000),
        ("openai", "no-such-model", 8192),
        ("pydantic-ai", "deepseek:deepseek-chat", 64_000),
        ("pydantic-ai", "openai-chat:gpt-4o", 128_000),
        ("pydantic-ai", "openai-chat:no-such-model", 8192),
    ],
)
async def test_of_hosted_models_the_window_is_known_and_nobody_is_asked(
    monkeypatch: pytest.MonkeyPatch, provider: str, name: str, tokens: int
) -> None:
    for variable in ("DEEPSEEK_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(variable, "sk-none")
    asked = PydanticAiModel(ModelSpec(provider, name))  # type: ignore[arg-type]
    try:
        assert await asked.window() == tokens
        assert await PydanticAiModel(ModelSpec(provider, name, context=5000)).window() == 5000  # type: ignore[arg-type]
    finally:
        await asked.aclose()


async def test_a_name_of_openais_at_another_server_is_not_taken_for_openais_model(server: ModelServer) -> None:
    assert await model(server, model="gpt-4o").window() == 8192


async def test_a_model_that_cannot_be_made_has_the_cautious_window() -> None:
    assert await PydanticAiModel(ModelSpec("pydantic-ai", "nonsense")).window() == 8192


CHINESE = "检索到的文档先由评估器打分，再决定是否需要搜索网络。"
ENGLISH = "The library retrieves documents, grades them, and refines what is relevant into strips of knowledge."


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        (ENGLISH, 18, 36),
        (CHINESE, 18, 40),
        ("2024-11-30: 1,234.56 + 99.9%", 20, 30),
        ("", 1, 1),
        ("Донаудампфшифффахрт", 8, 20),
    ],
)
def test_tokens_are_counted_rather_too_high(text: str, least: int, most: int) -> None:
    assert least <= count(text) <= most


TABLE = """| Year | Sales (EUR) | Change |
|---|---|---|
| 2023 | 1,234,567.89 | +3.4 % |
| 2024 | 987,654.32 | -20.0 % |
"""


@pytest.mark.parametrize("text", [ENGLISH, CHINESE, TABLE, f"{ENGLISH} {CHINESE}\n\n{TABLE}" * 20])
def test_it_is_no_less_than_what_qwen_counts_and_at_most_twice_that(text: str) -> None:
    real = len(dashscope.get_tokenizer("qwen-max").encode(text))
    assert real <= count(text) <= 2 * real + 2


def test_counting_is_fast_and_grows_with_the_text() -> None:
    assert count(ENGLISH * 1000) > 900 * count(ENGLISH)
