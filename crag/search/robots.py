"""What a site's robots.txt lets this program fetch (RFC 9309). Pure; whatever stands in it, nothing is raised."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import unquote, urlsplit

AGENT: Final = "crag-chatbot"


def allows(robots: str, url: str) -> bool:
    """Whether `url` may be fetched: the longest rule that fits its path counts, of equal ones that which allows."""
    place = urlsplit(url)
    path = unquote(f"{place.path or '/'}{f'?{place.query}' if place.query else ''}")
    groups = list(_groups(robots))
    own = [rules for names, rules in groups if AGENT in names] or [rules for names, rules in groups if "*" in names]
    fitting = [(len(pattern), allow) for rules in own for allow, pattern in rules if _fits(pattern, path)]
    return max(fitting, default=(0, True))[1]


def _groups(robots: str) -> Iterator[tuple[set[str], list[tuple[bool, str]]]]:
    """(programs that are meant, their rules as (allowed, pattern)), in order; `*` means all that are not named."""
    names, rules = set[str](), list[tuple[bool, str]]()
    for line in robots.removeprefix("\ufeff").splitlines():
        key, _, value = (part.strip() for part in line.partition("#")[0].partition(":"))
        match key.lower():
            case "user-agent":
                if rules:
                    yield names, rules
                    names, rules = set(), []
                names.add("*" if value == "*" else _named(value))
            case "allow" | "disallow" if names and value:
                rules.append((key.lower() == "allow", value))
    yield names, rules


def _named(value: str) -> str:
    """The name of a program without its version."""
    found = re.match(r"[\w-]+", value)
    return found.group().lower() if found else ""


def _fits(pattern: str, path: str) -> bool:
    """Whether `path` begins as `pattern` says; `*` stands for anything, `$` at the end for the end."""
    to_end = pattern.endswith("$")
    first, *others = (unquote(part) for part in pattern.removesuffix("$").split("*"))
    if not path.startswith(first):
        return False
    at = len(first)
    if not others:
        return not to_end or at == len(path)
    for part in others[:-1]:
        found = path.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return path.endswith(others[-1], at) if to_end else path.find(others[-1], at) >= 0
