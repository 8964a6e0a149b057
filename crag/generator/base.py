"""The seam of generation: question and knowledge in, the answer's text out, piece by piece."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from crag.schema import Knowledge


class Generator(Protocol):
    """Writes an answer that cites the knowledge's sources as `[n]`, in the language of the question."""

    name: str

    def stream(self, question: str, knowledge: Knowledge) -> AsyncGenerator[str]:
        """Pieces of the answer as they come; closing it ends the work behind it. Raises `GenerationError`.

        `knowledge.sources` is never empty.
        """
        ...
