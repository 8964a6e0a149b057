"""What outlives a run of the page script: the opened house, the jobs, and the conversations of this process."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import streamlit as st

from config import Settings, load_settings
from crag.errors import CragError
from crag.events import BuildEvent, Finished, TurnEvent
from crag.runtime import Job, Runtime
from crag.schema import Trace

if TYPE_CHECKING:
    from crag.assembly import House

log = logging.getLogger(__name__)

KEPT_CONVERSATIONS: Final = 200
CONVERSATION: Final = "c"
"""The query parameter that names the conversation, so that a reload shows it again."""


@dataclass(frozen=True)
class Opening:
    """How far opening has come: a sentence, and the share done in [0, 1]."""

    text: str
    share: float


@dataclass(frozen=True)
class Turn:
    """A question with the settings it was asked under, and the job that answers it."""

    question: str
    settings: Settings
    job: Job[TurnEvent]

    @property
    def trace(self) -> Trace | None:
        """The trace once the job has finished."""
        last = self.job.events[-1:]
        return last[0].trace if last and isinstance(last[0], Finished) else None


@dataclass
class Conversation:
    id: str
    turns: list[Turn] = field(default_factory=list)


def open_house(settings: Settings, progress: Callable[[str, float], None]) -> House:
    from crag.assembly import open_house  # imports the engine and the store: seconds that the first paint need not wait

    return open_house(settings, progress)


def turn_source(
    house: House, settings: Settings, question: str
) -> Callable[[Job[TurnEvent]], AsyncIterator[TurnEvent]]:
    from crag.assembly import ask

    return ask(house, settings, question)


class Process:
    """One per server process, shared by all sessions. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.runtime = Runtime()
        self.house: House | None = None
        self._conversations: dict[str, Conversation] = {}
        self._lock = threading.Lock()

    def open(self) -> Job[Opening]:
        """Opens the house as a job; joins the one that runs."""

        def source(job: Job[Opening]) -> Iterator[Opening]:
            self.house = open_house(self.settings, lambda text, share: job.append(Opening(text, share)))
            self.runtime.start_blocking("warm up", self._warm_up)
            yield Opening("", 1.0)

        return self.runtime.start_blocking("open", source)

    def _warm_up(self, _: Job[Opening]) -> Iterator[Opening]:
        self._opened().warm_up()
        return iter(())

    def build(self) -> Job[BuildEvent]:
        """Rebuilds what has changed in Files/; joins the build that runs."""
        knowledge_base = self._opened().knowledge_base
        return self.runtime.start_blocking("build", lambda job: knowledge_base.build(job.stopping))

    def publish_staged(self) -> Job[BuildEvent]:
        """Makes the finished files of a cancelled build live."""
        knowledge_base = self._opened().knowledge_base

        def source(_: Job[BuildEvent]) -> Iterator[BuildEvent]:
            yield knowledge_base.publish_staged()

        return self.runtime.start_blocking("build", source)

    def ask(self, conversation_id: str | None, question: str, settings: Settings) -> Conversation:
        """Starts a turn in the conversation, or in a new one where it is None or no longer known."""
        job = self.runtime.start("turn", turn_source(self._opened(), settings, question))
        with self._lock:
            conversation = self._conversations.get(conversation_id or "") or Conversation(uuid.uuid4().hex)
            self._conversations[conversation.id] = conversation
            conversation.turns.append(Turn(question, settings, job))
            for old in list(self._conversations)[:-KEPT_CONVERSATIONS]:
                del self._conversations[old]
        return conversation

    def ask_again(self, conversation: Conversation, turn: Turn, settings: Settings) -> None:
        """Replaces a turn that led to nothing by a new one with the same question."""
        with self._lock:
            if turn in conversation.turns:
                conversation.turns.remove(turn)
        self.ask(conversation.id, turn.question, settings)

    def conversation(self, conversation_id: str) -> Conversation | None:
        return self._conversations.get(conversation_id)

    def close(self) -> None:
        """Ends the jobs and closes the house."""
        self.runtime.close()
        if self.house is not None:
            self.house.close()

    def _opened(self) -> House:
        if self.house is None:
            raise RuntimeError("the page draws nothing that works before the house is open")
        return self.house


def _close(process: Process) -> None:
    process.close()


@st.cache_resource(show_spinner=False, on_release=_close)
def process() -> Process:
    """The one of this process. Raises ConfigurationError where a setting cannot be used."""
    return Process(load_settings())


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Opens the house while the browser still loads the page, and ends jobs and house with the server."""
    try:
        process().open()
    except CragError:
        log.exception("nothing is opened yet; the page tells why")
    yield
    process.clear()


def conversation(process: Process) -> tuple[Conversation | None, bool]:
    """The conversation that the address names, and whether it names one that is gone."""
    named = st.query_params.get(CONVERSATION, "")
    found = process.conversation(named)
    return found, bool(named) and found is None


def show(conversation: Conversation | None) -> None:
    """Puts the conversation into the address; None: a new one."""
    if conversation is None:
        st.query_params.pop(CONVERSATION, None)
    else:
        st.query_params[CONVERSATION] = conversation.id
