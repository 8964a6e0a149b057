"""The conversations of this process: asking in them, answering again, and branching off."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Final

from config import Settings
from crag.events import TurnEvent
from crag.gate import Gate
from crag.runtime import Job, Runtime
from crag.ui.conversations import Answering, Conversation, Made, Place, Source, Turn, history_of

KEPT: Final = 200
"""Conversations."""


class Talks:
    """One per process, shared by all sessions. Thread-safe."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._conversations: dict[str, Conversation] = {}
        self._lock = threading.Lock()

    def get(self, conversation_id: str) -> Conversation | None:
        return self._conversations.get(conversation_id)

    def all(self) -> tuple[Conversation, ...]:
        """Those in memory, the oldest first."""
        with self._lock:
            return tuple(self._conversations.values())

    def ask(
        self, conversation_id: str, question: str, settings: Settings, files: tuple[str, ...], answering: Answering
    ) -> Conversation:
        """Begins a turn in the conversation, or in a new one where it is not known; those that run end before it."""
        with self._lock:
            conversation = self._conversations.get(conversation_id) or self._new()
            turn = self._begin(conversation.turns, question, settings, files, answering)
            conversation.places.append(Place([turn]))
            conversation.files = files
        return conversation

    def add_version(
        self, conversation: Conversation, turn: Turn, answering: Answering, settings: Settings, made: Made
    ) -> Turn:
        """Begins another version of the answer at the place of `turn`, which is shown from now on.

        Raises ValueError where the conversation does not have the turn.
        """
        with self._lock:
            at = conversation.index(turn)
            earlier = conversation.turns[:at]
            version = self._begin(earlier, turn.question, settings, turn.files, answering, made)
            conversation.places[at].add(version)
        return version

    def branch(
        self, conversation: Conversation, turn: Turn, question: str, settings: Settings, answering: Answering
    ) -> Conversation:
        """A new conversation with what stands before `turn`, in which `question` is asked in its place."""
        with self._lock:
            before = conversation.places[: conversation.index(turn)]
            branch = self._new()
            branch.places = [Place(list(place.versions), place.shown) for place in before]
            branch.files = turn.files
            branch.places.append(Place([self._begin(branch.turns, question, settings, turn.files, answering)]))
        return branch

    def show(self, conversation: Conversation, turn: Turn) -> None:
        """Shows this version in its place."""
        with self._lock:
            place = conversation.places[conversation.index(turn)]
            place.shown = next(i for i, version in enumerate(place.versions) if version.job is turn.job)

    def _new(self) -> Conversation:
        conversation = Conversation(uuid.uuid4().hex)
        self._conversations[conversation.id] = conversation
        for old in list(self._conversations)[:-KEPT]:
            del self._conversations[old]
        return conversation

    def _begin(
        self,
        earlier: Sequence[Turn],
        question: str,
        settings: Settings,
        files: tuple[str, ...],
        answering: Answering,
        made: Made = Made.ASKED,
    ) -> Turn:
        gate = Gate() if settings.web == "ask" else None
        before = tuple(turn.job for turn in earlier if turn.job.running)

        def source(job: Job[TurnEvent]) -> AsyncIterator[TurnEvent]:
            return answering(history_of(earlier), gate)(job)

        job = self._runtime.start("turn", _after(before, source))
        return Turn(question, settings, job, files, before, gate, made)


def _after(before: Sequence[Job[TurnEvent]], source: Source) -> Source:
    """`source`, begun when all of `before` have ended or the turn itself is stopped."""

    async def run(job: Job[TurnEvent]) -> AsyncIterator[TurnEvent]:
        while any(other.running for other in before) and not job.stopping.is_set():  # noqa: ASYNC110 - set by threads
            await asyncio.sleep(0.05)
        async for event in source(job):
            yield event

    return run
