"""What is wrong with a setting, as a sentence with the mend. Draws nothing: the command line says it too."""

from __future__ import annotations

from typing import Final

from crag.personal import Problem
from crag.ui.texts import Texts

BRANDS: Final = {
    "ollama": "Ollama",
    "openai": "OpenAI",
    "deepseek": "DeepSeek",
    "llamacpp": "llama.cpp",
    "pydantic-ai": "pydantic-ai",
    "tavily": "Tavily",
    "duckduckgo": "DuckDuckGo",
    "brave": "Brave",
    "exa": "Exa",
    "serper": "Serper",
    "serpapi": "SerpAPI",
    "google": "Google",
    "firecrawl": "Firecrawl",
    "searxng": "SearXNG",
    "mineru": "MinerU",
    "dashscope": "DashScope",
    "en": "English",
    "zh": "中文",
}
"""Names that are the same in every language."""


def label(name: str, t: Texts) -> str:
    """What a setting is called."""
    return t(f"label_{name}")


def told(problem: Problem, t: Texts) -> str:
    """The setting, and why it does not hold; unescaped."""
    return t(
        "left_out", name=label(problem.name, t) if problem.code != "unknown" else problem.name, why=why(problem, t)
    )


def sentence(problem: Problem, t: Texts) -> str:
    """`why` where it stands alone; unescaped."""
    said = why(problem, t)
    return said[:1].upper() + said[1:]


def why(problem: Problem, t: Texts) -> str:
    """Why the setting does not hold, as the end of a sentence; unescaped."""
    values = dict(problem.values)
    if "provider" in values:
        values["provider"] = BRANDS.get(values["provider"], values["provider"])
    said = t(f"wrong_{problem.code}", **values)
    return t("wrong_about", name=label(problem.about, t), why=said) if problem.about else said
