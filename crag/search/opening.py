"""From settings to the provider that is asked, with its options."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import SecretStr

from crag.search.base import TimeRange, WebSearch
from crag.search.choosing import Sites, listed
from crag.search.duckduckgo import DuckDuckGo
from crag.search.kept import KeptSearch, Limits
from crag.search.pages import Pages
from crag.search.providers import PROVIDERS, HttpSearch
from crag.search.tavily import Tavily, TavilyOptions


def service_at(name: str, web_url: str, tavily_url: str) -> str:
    """Address of who is asked; empty for ddgs, which asks several. `web_url` is another one than the service's own."""
    if name == "tavily":
        return tavily_url
    return (web_url or PROVIDERS[name].url) if name in PROVIDERS else ""


def open_search(
    name: str,
    *,
    key: SecretStr,
    url: str,
    most: int,
    engine: str,
    file: Path,
    prefer: str,
    allow: str,
    deny: str,
    limits: Limits,
    fetch: bool,
    depth: Literal["basic", "advanced"],
    topic: Literal["general", "news", "finance"],
    raw: bool,
    usual_range: TimeRange | None,
) -> WebSearch:
    """Who is asked; nothing is sent yet. `prefer`, `allow`, `deny` are lists of sites as people type them;
    `usual_range` is how old results may be where the question does not say.

    `file` keeps results and counts searches. Raises ConfigurationError without a key that the provider needs.
    """
    sites = Sites(listed(prefer), listed(allow), listed(deny))
    provider: WebSearch
    if name == "tavily":
        options = TavilyOptions(depth, topic, sites.allow, sites.deny, raw)
        provider = Tavily(key.get_secret_value(), url, most, options=options)
    elif name == "duckduckgo":
        provider = DuckDuckGo(most)
    else:
        provider = HttpSearch(name, key, url, most=most, engine=engine, allow=sites.allow, deny=sites.deny, pages=fetch)
    options_told = repr((url, most, engine, depth, topic, raw))
    return KeptSearch(provider, file, sites, limits, Pages() if fetch else None, options_told, usual_range)
