"""What a generator yields while it writes: text, a thought that is shown apart, or why the answer ends early."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """The next characters of the answer."""

    text: str


@dataclass(frozen=True)
class Thought:
    """The next characters of what a model thinks before it writes; no part of the answer."""

    text: str


@dataclass(frozen=True)
class Cut:
    """The answer ends here although it is not complete; `why` is a sentence for the user. Nothing follows it."""

    why: str


Piece = Text | Thought | Cut
