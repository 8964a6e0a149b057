"""What leaves the machine with the present settings, in words: for the page and for doctor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crag.ui.texts import Texts


def what_leaves(outside: Mapping[str, Sequence[str]], t: Texts) -> str:
    """One sentence for each host that anything may go to; unescaped."""
    if not outside:
        return t("leaves_nothing")
    lists = {host: t("and").join(t(f"sends_{thing}") for thing in things) for host, things in outside.items()}
    return " ".join(t("leaves", host=host, things=things) for host, things in lists.items())
