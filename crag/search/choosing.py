"""Which results of a search are used, and which come first: sites that are denied, allowed or preferred. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crag.search.base import WebResult
from crag.search.external import address, host


@dataclass(frozen=True)
class Sites:
    """Domains; each stands for its subdomains too."""

    prefer: tuple[str, ...] = ("wikipedia.org",)
    """Their results come first (paper, section 4.5: authoritative pages such as Wikipedia are preferred)."""
    allow: tuple[str, ...] = ()
    """The only ones that are used; none: all."""
    deny: tuple[str, ...] = ()
    """Never used; this goes before `allow`."""


def listed(text: str) -> tuple[str, ...]:
    """The domains of a list with commas or blanks between them; "https://www.A.com/x", as people write, is a.com."""
    found = []
    for word in text.replace(",", " ").replace("，", " ").replace(";", " ").split():
        name = host(word if "//" in word else f"//{word}").strip("*.").lower()
        if name:
            found.append(name)
    return tuple(dict.fromkeys(found))


def chosen(results: Sequence[WebResult], sites: Sites) -> list[WebResult]:
    """Those that may be used, each address once, those of preferred sites first, otherwise in the given order."""
    once: dict[str, WebResult] = {}
    for result in results:
        url = address(result.url)
        if url is None or _within(url, sites.deny) or (sites.allow and not _within(url, sites.allow)):
            continue
        once.setdefault(url.partition("#")[0].rstrip("/"), result)
    return sorted(once.values(), key=lambda result: not _within(result.url, sites.prefer))


def _within(url: str, domains: Sequence[str]) -> bool:
    name = host(url.strip()).lower().rstrip(".")
    return any(name == domain or name.endswith(f".{domain}") for domain in domains)
