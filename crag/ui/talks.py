"""The conversations: asking in them, answering again, branching off, and opening those that were kept."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

from config import Settings
from crag.events import TurnEvent
from crag.gate import Gate
from crag.runtime import Job, Runtime
from crag.ui.conversations import Answering, Conversation, Made, Place, Source, Turn, history_of
from crag.ui.keeping import Keeping

IN_MEMORY: Final = 30
"""Conversations; others are read again when they are opened."""


class Talks:
    """One per process, shared by all sessions. Thread-safe."""

    def __init__(self, runtime: Runtime, keeping: Keeping) -> None:
        self._runtime = runtime
        self._keeping = keeping
        self._conversations: dict[str, Conversation] = {}
        self._lock = threading.Lock()

    def get(self, conversation_id: str, settings: Settings) -> Conversation | None:
        """The conversation, read where it is not in memory or went on in another process; None where it is not there
        or deleted.

        Turns that are read have `settings` where nothing was kept of them. Raises HistoryError.
        """
        known = self._conversations.get(conversation_id)
        if known is None or self._keeping.overtaken(known):
            found = self._keeping.load(conversation_id, settings)
            with self._lock:
                if found is not None and self._conversations.get(conversation_id) is known:
                    self._conversations[conversation_id] = found
                    self._make_room()
        known = self._conversations.get(conversation_id)
        return None if known is None or known.deleted else known

    def all(self) -> tuple[Conversation, ...]:
        """Those in memory, the oldest first."""
        with self._lock:
            return tuple(self._conversations.values())

    def ask(
        self,
        conversation: Conversation | None,
        question: str,
        settings: Settings,
        files: tuple[str, ...],
        answering: Answering,
        only: tuple[str, ...] = (),
        after: Job[Any] | None = None,
    ) -> Conversation:
        """Begins a turn in the conversation, or in a new one where it is None; those that run, and `after`, end
        before it. `only` limits this turn, `files` the conversation from now on."""
        with self._lock:
            conversation = conversation or self._new(question)
            turn = self._begin(conversation.turns, question, settings, only or files, answering, after=after)
            conversation.places.append(Place([turn]))
            conversation.files = files
            self._keeping.begun(conversation, turn)
        return conversation

    def add_version(
        self, conversation: Conversation, turn: Turn, answering: Answering, settings: Settings, made: Made
    ) -> Turn:
        """Begins another version of the answer at the place of `turn`, which is shown from now on.

        One that was deleted meanwhile is there again. Raises ValueError where the conversation does not have the turn.
        """
        with self._lock:
            conversation = self._current(conversation)
            conversation.deleted = False
            at = conversation.index(turn)
            earlier = conversation.turns[:at]
            version = self._begin(earlier, turn.question, settings, turn.files, answering, made)
            conversation.places[at].add(version)
            self._keeping.begun(conversation, version, beside=turn)
        return version

    def branch(
        self, conversation: Conversation, turn: Turn, question: str, settings: Settings, answering: Answering
    ) -> Conversation:
        """A new conversation with what stands before `turn`, in which `question` is asked in its place.

        Its title is that question, so that it can be told from the one it came from.
        """
        with self._lock:
            before = conversation.places[: conversation.index(turn)]
            branch = self._new(question)
            branch.places = [Place(list(place.versions), place.shown) for place in before]
            branch.files = turn.files
            source, at, made, title, files = conversation.id, turn.job.id, branch.id, branch.title, branch.files
            self._keeping.write(branch, lambda kept: kept.branch(source, at, made, title, files))
            asked = self._begin(branch.turns, question, settings, turn.files, answering)
            branch.places.append(Place([asked]))
            self._keeping.begun(branch, asked)
        return branch

    def show(self, conversation: Conversation, turn: Turn) -> None:
        """Shows this version in its place."""
        with self._lock:
            conversation = self._current(conversation)
            place = conversation.places[conversation.index(turn)]
            place.shown = next(i for i, version in enumerate(place.versions) if version.job.id == turn.job.id)
        self._keeping.write(conversation, lambda kept: kept.show(conversation.id, turn.job.id))

    def rate(self, conversation: Conversation, turn: Turn, liked: bool | None, why: str) -> None:
        """Keeps what a person thinks of an answer."""
        self._keeping.write(conversation, lambda kept: kept.rate(turn.job.id, liked, why))

    def rename(self, conversation_id: str, title: str) -> None:
        """An empty title makes it the first question again. Raises HistoryError."""
        shown = self._keeping.opened().rename(conversation_id, title)
        if known := self._conversations.get(conversation_id):
            known.title = shown

    def delete(self, conversation_id: str) -> None:
        """It can be brought back. Raises HistoryError."""
        self._keeping.opened().delete(conversation_id)
        self._mark(conversation_id, deleted=True)

    def restore(self, conversation_id: str) -> None:
        """Raises HistoryError."""
        self._keeping.opened().restore(conversation_id)
        self._mark(conversation_id, deleted=False)

    def _current(self, conversation: Conversation) -> Conversation:
        """The one in memory: a page that was drawn before it was read anew still holds the one before."""
        return self._conversations.setdefault(conversation.id, conversation)

    def _mark(self, conversation_id: str, deleted: bool) -> None:
        if known := self._conversations.get(conversation_id):
            known.deleted = deleted

    def _new(self, question: str) -> Conversation:
        from crag.history.conversations import title_of

        conversation = Conversation(uuid.uuid4().hex, title_of(question))
        self._conversations[conversation.id] = conversation
        self._make_room()
        return conversation

    def _make_room(self) -> None:
        """The oldest go, but none that is at work or not kept."""
        idle = [key for key, known in self._conversations.items() if not known.running and not known.unkept]
        for key in idle[: max(0, len(self._conversations) - IN_MEMORY)]:
            del self._conversations[key]

    def _begin(
        self,
        earlier: Sequence[Turn],
        question: str,
        settings: Settings,
        files: tuple[str, ...],
        answering: Answering,
        made: Made = Made.ASKED,
        after: Job[Any] | None = None,
    ) -> Turn:
        gate = Gate() if settings.web == "ask" else None
        before: tuple[Job[Any], ...] = tuple(turn.job for turn in earlier if turn.job.running)
        before += (after,) if after is not None else ()

        def source(job: Job[TurnEvent]) -> AsyncIterator[TurnEvent]:
            return answering(history_of(earlier), gate)(job)

        job = self._runtime.start("turn", _after(before, source))
        return Turn(question, settings, job, files, before, gate, made, answering)


def _after(before: Sequence[Job[Any]], source: Source) -> Source:
    """`source`, begun when all of `before` have ended or the turn itself is stopped."""

    async def run(job: Job[TurnEvent]) -> AsyncIterator[TurnEvent]:
        while any(other.running for other in before) and not job.stopping.is_set():  # noqa: ASYNC110 - set by threads
            await asyncio.sleep(0.05)
        async for event in source(job):
            yield event

    return run
