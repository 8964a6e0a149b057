"""A `ChatModel` that answers what a test has written down, and writes down what it is asked."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from crag.agent_model.base import Ledger, Role
from crag.errors import InvalidOutputError, ModelError
from crag.pieces import Piece, Text
from crag.schema import ModelCall

T = TypeVar("T", bound=BaseModel)


@dataclass
class Asked:
    """One call as it was asked."""

    role: str
    instructions: str
    prompt: str
    max_tokens: int


class ScriptedModel:
    """Gives `answers` in turn: an object as a dict, pieces of a stream as a list, a text, or an error to raise.

    What is invalid as an object is asked again once, with the next answer. A token is a character here.
    """

    name = "scripted:model"

    def __init__(self, *answers: object, window: int = 100_000) -> None:
        self.answers = list(answers)
        self.asked: list[Asked] = []
        self.wrong: list[str] = []
        self._window = window

    async def structured(
        self,
        role: Role,
        instructions: str,
        prompt: str,
        output: type[T],
        *,
        ledger: Ledger,
        max_tokens: int,
        check: Callable[[T], str | None] | None = None,
    ) -> T:
        for _ in range(2):
            given = self._next(role, instructions, prompt, max_tokens, ledger)
            try:
                value = output.model_validate(given)
            except ValidationError as error:
                self.wrong.append(str(error))
                continue
            if not (wrong := check(value) if check else None):
                return value
            self.wrong.append(wrong)
        raise InvalidOutputError("The model answered in a form that cannot be used.")

    async def stream(
        self, role: Role, instructions: str, prompt: str, *, ledger: Ledger, max_tokens: int
    ) -> AsyncGenerator[Piece]:
        given = self._next(role, instructions, prompt, max_tokens, ledger)
        for piece in given if isinstance(given, list) else [given]:
            if isinstance(piece, ModelError):
                raise piece
            yield Text(piece) if isinstance(piece, str) else piece

    async def window(self) -> int:
        return self._window

    def count(self, text: str) -> int:
        return len(text)

    def _next(self, role: Role, instructions: str, prompt: str, max_tokens: int, ledger: Ledger) -> object:
        self.asked.append(Asked(role, instructions, prompt, max_tokens))
        ledger.calls.append(ModelCall(role=role, model=self.name, seconds=0.0))
        given = self.answers.pop(0)
        if isinstance(given, Exception):
            raise given
        return given
