"""Texts of overruling: grades, strips, action and query changed by a person."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {}
