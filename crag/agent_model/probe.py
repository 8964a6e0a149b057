"""Is a model there? Its server, its name, its key and one real round trip, each with the mend for what is not."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, Field

from crag.agent_model import failures
from crag.agent_model.base import Ledger, ModelSpec
from crag.agent_model.chat import PydanticAiModel
from crag.agent_model.profiles import address
from crag.agent_model.window import PATIENCE
from crag.errors import InvalidOutputError, ModelError
from crag.pieces import Cut
from crag.schema import ModelCall

MOST_TOKENS: Final = 256
"""Of the round trip; the answer has a few, a model that thinks first may need more."""
INSTRUCTIONS: Final = "You are being tested. Be brief."


@dataclass(frozen=True)
class Probe:
    """What was found out; None: not known, because something before it failed or the provider does not tell."""

    model: str
    """`provider:name`."""
    ok: bool
    text: str
    """One sentence: what works, or what is wrong with its mend."""
    server: bool | None = None
    """Whether it answers."""
    key: bool | None = None
    """Whether the key, or going without one, is accepted."""
    present: bool | None = None
    """Whether the server has the model."""
    models: tuple[str, ...] = ()
    """Names that the server lists, to choose from."""
    window: int | None = None
    notice: str = ""
    """What else the user should know, as a sentence; empty: nothing."""
    calls: tuple[ModelCall, ...] = ()
    """The round trip with its time, tokens and cost, after the tries that failed."""


class _Check(BaseModel):
    """The object of the round trip of a model that grades."""

    score: int = Field(ge=0, le=10)


async def probe(model: PydanticAiModel, *, grading: bool = False) -> Probe:
    """Asks the server for its models and the model for a few tokens (an object, where it is to grade). Never raises
    a CragError: what fails is told. A round trip costs what a very short call costs."""
    spec, ledger = model.spec, Ledger()
    known = await _listed(spec)
    if known is not None and spec.provider == "ollama" and not _has(known, spec.model):
        return Probe(model.name, False, failures.missing(spec), True, None, False, known)
    try:
        cut = await _round_trip(model, ledger, grading=grading)
    except ModelError as error:
        return _failed(model, error, known or (), ledger)
    window = await model.windows.known()
    text = f"{failures.server_of(spec)} answers with {spec.model} in {ledger.calls[-1].seconds:.1f} seconds."
    if cut:
        text = f"{text} {cut}"
    return Probe(
        model.name, True, text, True, True, True, known or (), window.tokens, window.notice, tuple(ledger.calls)
    )


def _failed(model: PydanticAiModel, error: ModelError, known: tuple[str, ...], ledger: Ledger) -> Probe:
    """What a failed round trip says about the server, the key and the model."""
    kind, text = error.kind, str(error)
    if kind == "missing":
        text = failures.missing(model.spec, known)
    answered = isinstance(error, InvalidOutputError)
    server = {"unreachable": False, "silent": None}.get(kind, True) if ledger.calls else None
    key = {"key": False, "missing": True, "too long": True}.get(kind, True if answered else None)
    present = {"missing": False, "too long": True}.get(kind, True if answered else None)
    return Probe(model.name, False, text, server, key, present, known, calls=tuple(ledger.calls))


async def _round_trip(model: PydanticAiModel, ledger: Ledger, *, grading: bool) -> str:
    """Why the answer was cut; empty where it was not."""
    if grading:
        asked = "How well does `Paris is the capital of France.` answer `What is the capital of France?`, from 0 to 10?"
        await model.structured("check", INSTRUCTIONS, asked, _Check, ledger=ledger, max_tokens=MOST_TOKENS)
        return ""
    cut = ""
    stream = model.stream("check", INSTRUCTIONS, "Answer with the word yes.", ledger=ledger, max_tokens=MOST_TOKENS)
    async with aclosing(stream) as pieces:
        async for piece in pieces:
            if isinstance(piece, Cut):
                cut = piece.why
    return cut


async def _listed(spec: ModelSpec) -> tuple[str, ...] | None:
    """The names of the models that the server has; None where it does not tell."""
    if spec.provider not in ("ollama", "openai", "deepseek"):
        return None
    import httpx2

    key, url = spec.key.get_secret_value(), address(spec)
    ollama = spec.provider == "ollama"
    page = f"{url.removesuffix('/v1')}/api/tags" if ollama else f"{url}/models"
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with httpx2.AsyncClient(timeout=min(PATIENCE, spec.timeout), headers=headers) as client:
            told = (await client.get(page)).raise_for_status().json()
        return tuple(str(row["name" if ollama else "id"]) for row in told["models" if ollama else "data"])
    except (httpx2.HTTPError, ValueError, TypeError, KeyError):  # not there, or it speaks otherwise
        return None


def _has(names: tuple[str, ...], model: str) -> bool:
    return model in names or f"{model}:latest" in names
