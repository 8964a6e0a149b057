"""For the tests of models: a model at the loopback server, and what one call of it gives."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import Any

from model_server import KEY, ModelServer
from pydantic import BaseModel, Field, SecretStr

from crag.agent_model.base import Ledger, ModelSpec
from crag.agent_model.chat import PydanticAiModel
from crag.errors import ModelError
from crag.pieces import Cut, Piece, Text, Thought


class Verdict(BaseModel):
    """What the tests ask for."""

    score: int = Field(ge=0, le=10)
    reason: str = Field(max_length=80)


GOOD = '{"score": 8, "reason": "it says so"}'


def spec(server: ModelServer, provider: str = "openai", **changed: Any) -> ModelSpec:
    """One that is not patient and repeats nothing."""
    url = server.url if provider == "ollama" else server.base
    own: dict[str, Any] = {"model": "m", "url": url, "key": SecretStr(KEY), "timeout": 5.0, "retries": 0}
    return ModelSpec(provider=provider, **{**own, **changed})  # type: ignore[arg-type]


def model(server: ModelServer, provider: str = "openai", **changed: Any) -> PydanticAiModel:
    return PydanticAiModel(spec(server, provider, **changed))


async def graded(
    asked: PydanticAiModel, ledger: Ledger | None = None, check: Callable[[Verdict], str | None] | None = None
) -> Verdict:
    ledger = Ledger() if ledger is None else ledger
    try:
        return await asked.structured(
            "grade", "Grade the document.", "What is it?", Verdict, ledger=ledger, max_tokens=200, check=check
        )
    finally:
        await asked.aclose()


async def streamed(asked: PydanticAiModel, ledger: Ledger | None = None) -> list[Piece]:
    ledger = Ledger() if ledger is None else ledger
    stream = asked.stream("generate", "Answer from the evidence.", "What is it?", ledger=ledger, max_tokens=300)
    try:
        async with aclosing(stream) as pieces:
            return [piece async for piece in pieces]
    finally:
        await asked.aclose()


async def failure(asked: PydanticAiModel, ledger: Ledger | None = None, *, stream: bool = False) -> ModelError:
    """The error that a call ends with."""
    try:
        await (streamed(asked, ledger) if stream else graded(asked, ledger))
    except ModelError as error:
        return error
    raise AssertionError("nothing failed")


def text_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Text))


def thoughts_of(pieces: list[Piece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Thought))


def cut_of(pieces: list[Piece]) -> str:
    """Why it was cut: empty where it was not."""
    assert not any(isinstance(piece, Cut) for piece in pieces[:-1]), "something follows the cut"
    return pieces[-1].why if pieces and isinstance(pieces[-1], Cut) else ""
