"""The seam of services that make vectors: one request, what can go wrong with it, and the sentence for each case."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from pydantic import SecretStr

from crag.embedding.prefixes import Prefixes

Kind = Literal["query", "passage"]
Cause = Literal["unreachable", "slow", "status", "form"]
"""Nobody answers; not in time; an HTTP status that is no success; an answer in another form than the documented."""

MOST_DETAIL: Final = 200
PASSING: Final = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
"""Statuses after which the same request may succeed."""


_TOO_LONG: Final = re.compile(r"context length|context size|too (large|long)|maximum .*(tokens?|length)", re.IGNORECASE)


class Refusal(Exception):
    """A request has failed. `retry_after` is in seconds; `detail` is what the service said of it."""

    def __init__(
        self, cause: Cause, status: int | None = None, retry_after: float | None = None, detail: str = ""
    ) -> None:
        super().__init__(cause, status)
        self.cause, self.status, self.retry_after, self.detail = cause, status, retry_after, detail

    @property
    def too_long(self) -> bool:
        """A text has more tokens than the model reads: there is no status for it, llama.cpp has 500, others 400."""
        return self.status in (400, 413, 422, 500) and bool(_TOO_LONG.search(self.detail))

    @property
    def may_pass(self) -> bool:
        return self.cause == "unreachable" or (self.status in PASSING)


@dataclass(frozen=True)
class Mends:
    """What the user can do, as the end of a sentence."""

    unreachable: str
    key: str
    model: str
    form: str


@dataclass(frozen=True)
class Answer:
    """What a service has made of some texts."""

    vectors: Sequence[Sequence[float]]
    """One per text, in their order; not checked yet."""
    tokens: int | None = None
    """That it read; None: it does not say."""


class Service(Protocol):
    """One model of one service. `send` runs on the embedder's loop and keeps its connections there."""

    provider: str
    model: str
    name: str
    """As messages call the service, with its address."""
    key: SecretStr
    dimension: int
    """Numbers per vector that are asked for; 0: the model's own."""
    batch: int
    """Texts in one request."""
    timeout: float
    """Seconds for one request."""
    prefixes: Prefixes
    mends: Mends

    def open(self) -> object:
        """Imports the library and makes its client, once; costs up to a second, and asks nobody."""
        ...

    async def send(self, texts: Sequence[str], kind: Kind) -> Answer:
        """One request: a vector per text, in their order. Raises `Refusal`, and whatever reading the answer raises."""
        ...

    async def aclose(self) -> None:
        """Closes the connections, on the loop that they belong to; `open` makes new ones."""
        ...


def sentence(service: Service, refusal: Refusal, tries: int) -> str:
    """What the user reads of a failure. Never the text of a foreign error; of the service's own, a redacted piece."""
    name, mends, status = service.name, service.mends, refusal.status
    times = f" ({tries} times)" if tries > 1 else ""
    if refusal.cause == "unreachable":
        return f"{name} cannot be reached{times}: {mends.unreachable}"
    if refusal.cause == "slow":
        return f"{name} did not answer within {service.timeout:g} seconds: try again, or raise CRAG_LLM_TIMEOUT."
    if refusal.cause == "form":
        return f"{name} answered in a form that is not known: {mends.form}"
    detail = _said(service, refusal.detail)
    if status in (401, 403):
        return f"{name} does not accept the key{detail}: {mends.key}"
    if status == 404:
        return f"{name} has no embedding model {service.model}: {mends.model}"
    if status == 429:
        wait = "wait a little" if refusal.retry_after is None else f"wait {refusal.retry_after:.0f} seconds"
        return f"{name} says that too much was asked{times}{detail}: {wait}, or look at your plan's limits."
    if status in PASSING:
        return f"{name} failed with HTTP status {status}{times}{detail}: try again later."
    return f"{name} refused the texts with HTTP status {status}{detail}: {mends.model}"


def _said(service: Service, detail: str) -> str:
    """The service's own words in brackets, on one line, without the key."""
    secret = service.key.get_secret_value()
    plain = detail.replace(secret, "…") if secret else detail
    plain = " ".join("".join(char if char.isprintable() else " " for char in plain).split())
    return f" ({plain[:MOST_DETAIL]})" if plain and "<html" not in plain.lower() else ""
