"""Texts around the box to ask in and under an answer: files, follow-ups, thumbs, marks."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {}
