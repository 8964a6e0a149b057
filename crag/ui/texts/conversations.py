"""Texts of the list of conversations and of what can be done with a turn."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {}
