"""What a generator yields while it writes: text, thoughts shown apart, why it ends early, what it was really given."""

from __future__ import annotations

from dataclasses import dataclass

from crag.schema import Knowledge, SentPart


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


@dataclass(frozen=True)
class Sent:
    """What the model is really given, before anything else.

    `knowledge` is what it reads of the knowledge that was handed over: strips that do not fit into its window are left
    out, and what could pass for a part of the prompt is defused. None: it was handed none.
    """

    knowledge: Knowledge | None
    parts: tuple[SentPart, ...] = ()


Piece = Text | Thought | Cut | Sent
