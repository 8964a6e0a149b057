"""From settings to the specs of the models that write and that grade."""

from __future__ import annotations

from typing import Final, Protocol, get_args

from pydantic import SecretStr

from crag.agent_model.base import ModelSpec, Provider
from crag.agent_model.profiles import DASHSCOPE

OWN_MODELS: Final = {"dashscope": "qwen3-max", "deepseek": "deepseek-chat"}
"""Taken where none is named."""


class ModelOptions(Protocol):
    """The settings that say which models are meant; `config.Settings` has them all."""

    @property
    def llm_provider(self) -> str: ...
    @property
    def llm_model(self) -> str: ...
    @property
    def evaluator(self) -> str: ...
    @property
    def grader_provider(self) -> str: ...
    @property
    def grader_model(self) -> str: ...
    @property
    def dashscope_api_key(self) -> SecretStr: ...
    @property
    def dashscope_region(self) -> str: ...
    @property
    def dashscope_url(self) -> str: ...
    @property
    def ollama_url(self) -> str: ...
    @property
    def ollama_llm(self) -> str: ...
    @property
    def openai_api_key(self) -> SecretStr: ...
    @property
    def openai_api_base(self) -> str: ...
    @property
    def deepseek_api_key(self) -> SecretStr: ...
    @property
    def deepseek_url(self) -> str: ...
    @property
    def llm_thinking(self) -> str: ...
    @property
    def llm_context(self) -> int: ...
    @property
    def llm_timeout(self) -> float: ...
    @property
    def llm_retries(self) -> int: ...
    @property
    def llm_concurrency(self) -> int: ...
    @property
    def price_in(self) -> float: ...
    @property
    def price_out(self) -> float: ...


def writing_spec(options: ModelOptions) -> ModelSpec | None:
    """The model that writes (and condenses, and rewrites); None where none does."""
    return _spec(options, options.llm_provider, options.llm_model, thinking=options.llm_thinking == "on")


def grading_spec(options: ModelOptions) -> ModelSpec | None:
    """The model that grades, None where none does: the grader's own settings, else those of the one that writes."""
    if options.evaluator != "llm":
        return None
    provider = options.grader_provider or options.llm_provider
    named = options.grader_model
    if not named and (provider == options.llm_provider or not _own_model(options, provider)):
        named = options.llm_model
    return _spec(options, provider, named, thinking=False)


def _spec(options: ModelOptions, provider: str, model: str, *, thinking: bool) -> ModelSpec | None:
    known = next((name for name in get_args(Provider) if name == provider), None)
    if known is None:
        return None
    url, key = _place(options, provider)
    return ModelSpec(
        provider=known,
        model=model or _own_model(options, provider),
        url=url,
        key=SecretStr(key.get_secret_value().strip()),
        thinking=thinking,
        context=options.llm_context,
        timeout=options.llm_timeout,
        retries=options.llm_retries,
        concurrency=options.llm_concurrency,
        price_in=options.price_in,
        price_out=options.price_out,
    )


def _own_model(options: ModelOptions, provider: str) -> str:
    return options.ollama_llm if provider == "ollama" else OWN_MODELS.get(provider, "")


def _place(options: ModelOptions, provider: str) -> tuple[str, SecretStr]:
    """Address and key; a key goes to its own provider alone."""
    match provider:
        case "dashscope":
            return options.dashscope_url or DASHSCOPE[options.dashscope_region], options.dashscope_api_key
        case "ollama":
            return options.ollama_url, SecretStr("")
        case "openai":
            return options.openai_api_base, options.openai_api_key
        case "deepseek":
            return options.deepseek_url, options.deepseek_api_key
        case _:
            return "", SecretStr("")
