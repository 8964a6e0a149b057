"""The seam of generation: question and knowledge in, the answer out, piece by piece."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from crag.pieces import Piece
from crag.schema import Exchange, Knowledge


class Generator(Protocol):
    """Writes an answer that cites the knowledge's sources as `[n]`, in the language of the question."""

    name: str

    def stream(self, question: str, knowledge: Knowledge) -> AsyncGenerator[Piece]:
        """Pieces of the answer as they come; closing it ends the work behind it.

        `knowledge.sources` is never empty. Raises `GenerationError` or `ModelError` where nothing could be written;
        what breaks off after it has begun ends in a `Cut`.
        """
        ...


class DirectAnswer(Protocol):
    """Answers what needs no evidence: a greeting, thanks, a wish about the answer before."""

    name: str

    def takes(self, message: str, history: Sequence[Exchange]) -> bool:
        """Whether the words alone tell that the message needs no evidence; what is in doubt does need it."""
        ...

    def stream(self, message: str, history: Sequence[Exchange]) -> AsyncGenerator[Piece]:
        """As `Generator.stream`; `history` is the conversation so far, the oldest first."""
        ...
