"""One call of a model: its place among those that run, its tries, and its entry in the ledger."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from crag.agent_model import failures, gguf
from crag.agent_model.base import Ledger, ModelSpec, Role
from crag.agent_model.profiles import address
from crag.schema import ModelCall

Field = Literal["schema", "extras"]
WORDS: Final[dict[Field, tuple[str, ...]]] = {
    "schema": ("response_format", "json_schema", "grammar"),
    "extras": ("chat_template", "thinking", "reasoning", "extra"),
}
"""What a call can do without, and how a server that does not take it speaks of it."""

_slots: dict[asyncio.AbstractEventLoop, dict[tuple[str, str, int], asyncio.Semaphore]] = {}
"""Per loop, since a semaphore belongs to one."""


def slot(spec: ModelSpec) -> asyncio.Semaphore:
    """To be held by a call while it runs: so many of a provider at an address run at the same time."""
    limit = gguf.SLOTS if spec.provider == "llamacpp" else spec.concurrency
    whose = (spec.provider, address(spec) or spec.model, limit)
    forget_closed(_slots)
    return _slots.setdefault(asyncio.get_running_loop(), {}).setdefault(whose, asyncio.Semaphore(limit))


def forget_closed(of_loops: dict[asyncio.AbstractEventLoop, Any]) -> None:
    """What belonged to a loop that has ended, as each `asyncio.run` does, is of no use to another."""
    for loop in list(of_loops):
        if loop.is_closed():
            of_loops.pop(loop, None)


@dataclass
class Tries:
    """What one call has tried already."""

    spec: ModelSpec
    optional: frozenset[Field]
    """What the call can do without."""
    without: frozenset[Field]
    """What is left out of it."""
    failed: int = 0

    async def again(self, error: BaseException) -> bool:
        """Whether the call is tried again after `error`: at once without a field that the server refuses, or after
        the wait that a passing failure needs."""
        said = failures.refuses(error)
        if said is not None:
            left = self.optional - self.without
            told = {what for what in left if any(word in said for word in WORDS[what])}
            self.without |= told or left
            return bool(left)
        wait = failures.pause(error, self.spec, self.failed) if self.failed < self.spec.retries else None
        self.failed += 1
        if wait is not None:
            await asyncio.sleep(wait)
        return wait is not None


@dataclass
class Noting:
    """What is known of one request, until it is noted."""

    spec: ModelSpec
    role: Role
    ledger: Ledger
    repeat: bool = False
    start: float = field(default_factory=time.perf_counter)
    first: float | None = None
    """Seconds to the first piece of a stream."""
    usage: Any = None
    """As pydantic-ai counts it: 0 where the server says nothing."""

    def begin(self) -> None:
        """The request goes out now."""
        self.start = time.perf_counter()

    def piece(self) -> None:
        """A piece of the stream has come."""
        if self.first is None:
            self.first = time.perf_counter() - self.start

    def end(self, error: str | None = None) -> None:
        """Notes the request; `error` says why nothing usable, or not all, came."""
        tokens_in = (self.usage.input_tokens or None) if self.usage is not None else None
        tokens_out = self.usage.output_tokens if self.usage is not None else None
        if tokens_in is None:
            tokens_out = tokens_out or None
        spec, cost = self.spec, None
        if tokens_in is not None and tokens_out is not None and (spec.price_in or spec.price_out):
            cost = (tokens_in * spec.price_in + tokens_out * spec.price_out) / 1e6
        self.ledger.calls.append(
            ModelCall(
                role=self.role,
                model=spec.name,
                seconds=time.perf_counter() - self.start,
                first_token=self.first,
                tokens_in=tokens_in,
                tokens_out=tokens_out,
                cost=cost,
                repeat=self.repeat,
                error=error,
            )
        )
