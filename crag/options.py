"""What can be set, declared once: the group of each setting, whether the page may change it, what a change needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pydantic import AliasChoices, SecretStr

from config import Settings

Kind = Literal["choice", "switch", "key", "whole", "decimal", "share", "text"]
"""What is entered. A switch is off or on, a share a number in [0, 1]."""

GROUPS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "models": {
        "write": ("llm_provider", "llm_model"),
        "grade": ("evaluator", "grader_provider", "grader_model"),
        "embed": ("embedding_provider", "embedding_model", "embedding_dimension", "embedding_price"),
        "services": (
            *("dashscope_api_key", "dashscope_region", "dashscope_url"),
            *("deepseek_api_key", "deepseek_url"),
            *("openai_api_base", "openai_api_key"),
            *("ollama_url", "ollama_llm", "ollama_embed"),
        ),
        "calls": (
            *("history_turns", "llm_thinking", "hyde", "llm_max_tokens", "llm_context"),
            *("llm_timeout", "llm_retries", "llm_concurrency", "price_in", "price_out", "currency"),
        ),
    },
    "web": {
        "search": (
            *("web_provider", "web", "tavily_api_key", "brave_api_key", "exa_api_key", "serper_api_key"),
            *("serpapi_api_key", "google_api_key", "google_cse_id", "firecrawl_api_key", "web_url", "tavily_url"),
        ),
        "results": (
            *("web_results", "web_depth", "web_topic", "web_raw_content", "web_time_range", "web_pages"),
            *("web_prefer_domains", "web_allow_domains", "web_deny_domains"),
        ),
        "costs": ("web_cache_hours", "web_daily_searches", "web_price"),
    },
    "decision": {
        "thresholds": ("upper", "lower", "strip_threshold"),
        "amounts": ("k", "top_strips", "quotes", "fusion_constant"),
    },
    "knowledge": {
        "reading": ("parser", "mineru_url", "mineru_timeout", "ocr", "parse_timeout"),
        "files": ("watch", "max_upload_mb", "threads"),
    },
    "appearance": {"language": ("language",)},
}
"""Group -> part -> the settings that the page may change, in the order in which they stand there."""

FOLDERS: Final = ("files_dir", "chroma_dir", "data_dir", "cache_dir")
"""Set by the environment alone: what people keep lies in them, their changed settings too."""

CHANGEABLE: Final = frozenset(name for parts in GROUPS.values() for names in parts.values() for name in names)

ONLY_WITH: Final[dict[str, tuple[str, ...]]] = {
    "llm_model": tuple(f"write:{name}" for name in ("dashscope", "openai", "deepseek", "llamacpp", "pydantic-ai")),
    "grader_provider": ("evaluator:llm",),
    "grader_model": ("evaluator:llm", "evaluator:cross-encoder"),
    **dict.fromkeys(
        ("embedding_model", "embedding_dimension", "embedding_price"),
        ("embed:ollama", "embed:dashscope", "embed:openai"),
    ),
    **dict.fromkeys(("dashscope_api_key", "dashscope_region", "dashscope_url"), ("dashscope",)),
    **dict.fromkeys(("deepseek_api_key", "deepseek_url"), ("deepseek",)),
    **dict.fromkeys(("openai_api_base", "openai_api_key"), ("openai",)),
    "ollama_url": ("ollama",),
    "ollama_llm": ("write:ollama", "grade:ollama"),
    "ollama_embed": ("embed:ollama",),
    **{
        f"{name}_api_key": (f"web:{name}",)
        for name in ("tavily", "brave", "exa", "serper", "serpapi", "google", "firecrawl")
    },
    "google_cse_id": ("web:google",),
    "web_url": tuple(f"web:{name}" for name in ("brave", "exa", "serper", "serpapi", "google", "firecrawl", "searxng")),
    **dict.fromkeys(("tavily_url", "web_depth", "web_topic", "web_raw_content"), ("web:tavily",)),
    **dict.fromkeys(("mineru_url", "mineru_timeout"), ("parser:mineru",)),
}
"""What has to be chosen for a setting to mean anything; those that do not stand here always do."""


@dataclass(frozen=True)
class Option:
    """One setting as it is entered."""

    name: str
    kind: Kind
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    longest: int | None = None
    """Characters of a text."""

    @property
    def default(self) -> Any:
        return Settings.model_fields[self.name].get_default(call_default_factory=True, validated_data={})


def variable(name: str) -> str:
    """The environment variable of a field: those of other people's services keep the name that they have there."""
    alias = Settings.model_fields[name].validation_alias
    return str(alias.choices[0] if isinstance(alias, AliasChoices) else alias or f"CRAG_{name}").upper()


@cache
def option(name: str) -> Option:
    """How a setting is entered. Raises KeyError for a name that the page cannot change."""
    if name not in CHANGEABLE:
        raise KeyError(name)
    field = Settings.model_fields[name]
    choices = tuple(str(choice) for choice in get_args(field.annotation))
    if choices:
        return Option(name, "switch" if choices == ("off", "on") else "choice", choices)
    if field.annotation is SecretStr:
        return Option(name, "key")
    limits = {
        name: float(getattr(part, name))
        for part in field.metadata
        for name in ("ge", "gt", "le")
        if hasattr(part, name)
    }
    low, high = limits.get("ge", limits.get("gt")), limits.get("le")
    if field.annotation is int:
        return Option(name, "whole", low=low, high=high)
    if field.annotation is float:
        return Option(name, "share" if (low, high) == (0, 1) else "decimal", low=low, high=high)
    longest = next((part.max_length for part in field.metadata if hasattr(part, "max_length")), None)
    return Option(name, "text", longest=longest)


def matters(name: str, wanted: Mapping[str, Any]) -> bool:
    """Whether a setting means anything beside the `wanted` values of the others (all of them by name)."""
    needs = ONLY_WITH.get(name)
    return needs is None or not set(needs).isdisjoint(_chosen(wanted))


def _chosen(wanted: Mapping[str, Any]) -> set[str]:
    tasks = {
        "write": wanted["llm_provider"],
        "grade": (wanted["grader_provider"] or wanted["llm_provider"]) if wanted["evaluator"] == "llm" else "",
        "embed": wanted["embedding_provider"],
    }
    named = {f"{task}:{provider}" for task, provider in tasks.items()}
    others = {f"{kind}:{wanted[of]}" for kind, of in (("evaluator", "evaluator"), ("parser", "parser"))}
    return {*tasks.values(), *named, *others, f"web:{wanted['web_provider']}"}


_TOGETHER: Final = {
    "evaluator": ("grader_provider", "grader_model"),
    "embedding_provider": ("embedding_model", "embedding_dimension", "embedding_price"),
    "parser": ("mineru_url", "mineru_timeout"),
}
"""What belongs to a choice and means nothing to another one."""


def opened_with(settings: Settings) -> tuple[str, ...]:
    """The settings that `assembly.open_house` reads; what else is set counts from the next question on."""
    names = ["embedding_provider", "parser", "ocr", "parse_timeout", "threads"]
    if settings.embedding_provider != "embedded":
        names += ["embedding_model", "embedding_dimension", "embedding_price"]
        names += ["llm_timeout", "llm_retries", "llm_concurrency"]
        names += {
            "ollama": ["ollama_url", "ollama_embed"],
            "dashscope": ["dashscope_api_key", "dashscope_region", "dashscope_url"],
            "openai": ["openai_api_key", "openai_api_base"],
        }[settings.embedding_provider]
    if settings.parser == "mineru":
        names += ["mineru_url", "mineru_timeout"]
    if settings.evaluator == "cross-encoder":
        names += ["evaluator", "grader_model"]
    return tuple(names)


def needs_reopening(opened: Settings, wanted: Settings) -> tuple[str, ...]:
    """The settings that count only when the house, opened with `opened`, is opened anew."""
    return tuple(name for name in opened_with(wanted) if getattr(wanted, name) != getattr(opened, name))


def in_use(opened: Settings, wanted: Settings) -> Settings:
    """`wanted` as far as it counts in a house that was opened with `opened`.

    Addresses, keys and time limits of services count for language models at once, whatever the house embeds with.
    """
    shared = {"llm_timeout", "llm_retries", "llm_concurrency", *GROUPS["models"]["services"]}
    late = [name for name in needs_reopening(opened, wanted) if name not in shared]
    if not late:
        return wanted
    late += [name for first, others in _TOGETHER.items() if first in late for name in others]
    return wanted.model_copy(update={name: getattr(opened, name) for name in late})


def variables_of_folders(settings: Settings) -> dict[str, Path]:
    """The folders, by the variable that sets each."""
    return {variable(name): getattr(settings, name) for name in FOLDERS}
