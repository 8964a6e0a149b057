"""The seam of web search: a query in, results with their addresses out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from crag.schema import Exchange

TimeRange = Literal["day", "week", "month", "year"]
"""How old a result may be."""
LONGEST_QUERY: Final = 400
"""Characters; what the providers take."""
TIMEOUT: Final = 20.0
"""Seconds for one search, from connecting to the last byte."""
MOST_BYTES: Final = 5_000_000
"""Of one answer; a list of twenty results takes a hundredth."""


@dataclass(frozen=True)
class WebResult:
    """One result as the provider sent it: foreign text, not cleaned yet."""

    url: str
    title: str
    text: str
    published: str | None = None
    """Date of publication as the provider writes it, None where it names none."""
    score: float | None = None
    """The provider's own score; it orders, and is no grade."""


@dataclass(frozen=True)
class Answered:
    """What a search came to."""

    results: tuple[WebResult, ...]
    cached: bool = False
    """Whether they were kept from an earlier search: then nothing was sent."""
    cost: float | None = None
    """Of this search; None: unknown."""


class WebSearch(Protocol):
    """A provider of web search."""

    name: str

    async def search(self, query: str, time_range: TimeRange | None = None) -> Answered:
        """Results for `query` (at most 400 characters, longer ones are cut), best first; none is an answer too.

        `time_range` is how old they may be; None: what the provider is set to.

        Raises WebSearchError with a sentence for the user. Cancelling it ends the request.
        """
        ...


@dataclass(frozen=True)
class Understood:
    """What a message of a conversation asks for."""

    question: str
    """It as a question that stands alone, in its language."""
    needs_evidence: bool = True
    """False for a greeting, thanks, or a wish about the answer before."""


class Condenser(Protocol):
    """Makes a follow-up into a question that stands alone."""

    async def condense(self, message: str, history: Sequence[Exchange]) -> Understood:
        """`history` is the conversation so far, the oldest first, never empty. Raises `ModelError`."""
        ...


def shortened(query: str) -> str:
    """`query` on one line and cut to what is sent: at most 400 characters, at a space where there is one near."""
    query = " ".join(query.split())
    if len(query) <= LONGEST_QUERY:
        return query
    head = query[:LONGEST_QUERY]
    at = head.rfind(" ")
    return head[:at] if at > LONGEST_QUERY // 2 and query[LONGEST_QUERY] != " " else head.rstrip()
