"""Algorithm 1 of Corrective RAG (Yan et al., arXiv 2401.15884): from a question to a checked answer, as events."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import TypeVar

from crag.errors import QuestionError
from crag.events import Decided, Finished, TurnEvent
from crag.gate import Gate
from crag.parts import Askable, Parts, Pinned
from crag.runtime import in_pool
from crag.schema import Action, Exchange
from crag.search.base import WebSearch
from crag.text import visible
from crag.tracing import trace_of
from crag.turn import Turn
from crag.writing import write

T = TypeVar("T")

__all__ = ["LONGEST_QUESTION", "Parts", "answer", "until_stopped"]

LONGEST_QUESTION = 4000
"""Characters; what is longer is a text, not a question."""
STOP_TICK = 0.05
"""Seconds after which a stop is noticed while something is waited for."""
SECOND_LOOK = 2
"""The second look retrieves so many times k documents."""


async def answer(
    parts: Parts,
    question: str,
    turn_id: str,
    stop: threading.Event,
    files: tuple[str, ...] = (),
    history: Sequence[Exchange] = (),
    gate: Gate | None = None,
) -> AsyncGenerator[TurnEvent]:
    """Answers `question`; the last event is always `Finished` with the trace, also when `stop` was set on the way.

    `files` are the paths that may be used of the knowledge base; none: all. `history` is the conversation so far, the
    oldest first. `gate` is where a person allows the query for the web; without one it is not asked where it asks.

    Raises QuestionError for a question that is none, KnowledgeBaseError for an index that cannot be asked.
    """
    turn = Turn(parts, _asked(question), turn_id, files, tuple(history))
    async with aclosing(to_its_end(turn, _algorithm(turn, gate), stop)) as events:
        async for event in events:
            yield event


async def to_its_end(turn: Turn, events: AsyncGenerator[TurnEvent], stop: threading.Event) -> AsyncGenerator[TurnEvent]:
    """The events of a turn, until `stop` is set, and `Finished` with what has become of it."""
    async with aclosing(until_stopped(stop, events)) as coming:
        async for event in coming:
            yield event
    turn.stopped = stop.is_set()
    yield Finished(trace=trace_of(turn))


async def until_stopped(stop: threading.Event, source: AsyncGenerator[T]) -> AsyncGenerator[T]:
    """The events of `source`, up to its end or until `stop` is set: what is waited for is then given up."""
    async with aclosing(source) as events:
        while not stop.is_set():
            coming = asyncio.ensure_future(anext(events, None))
            while not (await asyncio.wait({coming}, timeout=STOP_TICK))[0]:
                if stop.is_set():
                    coming.cancel()
                    await asyncio.wait({coming})
                    return
            if (event := coming.result()) is None:
                return
            yield event


async def _algorithm(turn: Turn, gate: Gate | None) -> AsyncGenerator[TurnEvent]:
    if not turn.needs_no_evidence() and (condensed := await turn.condense()):
        yield condensed
    if not turn.direct:
        async with aclosing(_evidence(turn, gate)) as gathered:
            async for event in gathered:
                yield event
        if turn.action is None or turn.error is not None:
            return
    async with aclosing(conclude(turn)) as events:
        async for event in events:
            yield event


async def conclude(turn: Turn) -> AsyncGenerator[TurnEvent]:
    """Refine, generate, check; from here on the index may move on: everything needed is in the turn."""
    if turn.action is not None:
        yield turn.refine(turn.action)
    async with aclosing(write(turn)) as pieces:
        async for piece in pieces:
            yield piece
    if not turn.direct:
        turn.check()


async def _evidence(turn: Turn, gate: Gate | None) -> AsyncGenerator[TurnEvent]:
    """What the decision rests on, and what it asks for: the web, or a second look.

    The index is not held while the web is waited for: that may take as long as a person takes to allow the query.
    """
    if drafted := await turn.draft():
        yield drafted
    async with aclosing(look(turn, turn.asked, turn.parts.k)) as first:
        async for event in first:
            yield event
    if turn.action in (Action.AMBIGUOUS, Action.INCORRECT) and (web := turn.parts.open_web):
        async with aclosing(search(turn, web, gate)) as outside:
            async for event in outside:
                yield event
    if turn.action is Action.INCORRECT and not turn.web_answered:
        yield (rewritten := await turn.rewrite())
        async with aclosing(look(turn, rewritten.query, SECOND_LOOK * turn.parts.k)) as second:
            async for event in second:
                yield event


async def look(turn: Turn, query: str, k: int) -> AsyncGenerator[TurnEvent]:
    """Retrieve, grade, decide; without a decision where nothing could be graded."""
    async with _pinned(turn.parts.knowledge_base) as index:
        turn.catalog_version = index.version
        yield await turn.look(index, query, k)
    yield await turn.grade()
    if decision := turn.decide(query):
        yield Decided(decision=decision)


async def search(turn: Turn, web: WebSearch, gate: Gate | None) -> AsyncGenerator[TurnEvent]:
    """Rewrite, have the query allowed where a person is asked, search the web, grade what was found there."""
    yield (rewritten := await turn.rewrite_for(web))
    query: str | None = rewritten.query
    if asking := turn.asks_first(web, rewritten.query):
        yield asking
        query = await turn.allowed(gate)
    if query is not None:
        async with aclosing(send(turn, web, query, rewritten.query)) as answered:
            async for event in answered:
                yield event


async def send(turn: Turn, web: WebSearch, query: str, proposed: str) -> AsyncGenerator[TurnEvent]:
    """Search the web by a query that may leave, grade what was found there."""
    yield (searched := await turn.search(web, query, proposed))
    if searched.documents:
        yield await turn.grade_web()


@asynccontextmanager
async def _pinned(knowledge_base: Askable) -> AsyncIterator[Pinned]:
    """One catalog version for the whole turn; opening and closing touch the disk, so they run on the pool."""
    snapshot = knowledge_base.snapshot()
    index = await in_pool(snapshot.__enter__)
    try:
        yield index
    finally:
        await in_pool(snapshot.__exit__, None, None, None)


def _asked(question: str) -> str:
    question = " ".join(visible(question).split())
    if not question:
        raise QuestionError("The question is empty: type what you want to know.")
    if len(question) > LONGEST_QUESTION:
        raise QuestionError(f"The question has {len(question)} characters: shorten it to at most {LONGEST_QUESTION}.")
    return question
