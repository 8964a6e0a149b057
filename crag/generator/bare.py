"""An answer without any knowledge, to compare with: what the model would say by itself."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import date
from typing import Final

from crag.agent_model.base import ChatModel, Ledger
from crag.agent_model.quoting import block
from crag.pieces import Piece

INSTRUCTIONS: Final = """\
Answer the question from what you know, in its language. Today is {today}. Begin with the answer itself and be brief: \
no greeting, no offer of further help. Write plain text; a list may have lines that begin with "- "."""


class BareAnswer:
    """Asks the model that writes with the question alone; at most `max_tokens` tokens."""

    def __init__(self, model: ChatModel, ledger: Ledger, today: date, max_tokens: int) -> None:
        self.model, self.ledger, self.max_tokens = model, ledger, max_tokens
        self.name = model.name
        self.instructions = INSTRUCTIONS.format(today=today.isoformat())

    async def stream(self, question: str) -> AsyncGenerator[Piece]:
        """As `Generator.stream`, without knowledge. Raises `ModelError`."""
        pieces = self.model.stream(
            "generate", self.instructions, block("question", question), ledger=self.ledger, max_tokens=self.max_tokens
        )
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
