"""A conversation as the page has it: questions, the versions of their answers, and what a later question sees of it."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from config import Settings
from crag.events import Asking, Finished, TurnEvent
from crag.gate import Gate
from crag.runtime import Job
from crag.schema import Exchange, Trace
from crag.ui import turn_settings
from crag.ui.feedback import Opinion

if TYPE_CHECKING:
    from crag.history.conversations import Conversations
    from crag.history.traces import Gap

READING: Final = "reading"
"""The kind of the job that ends when added files are indexed."""
Source = Callable[[Job[TurnEvent]], AsyncIterator[TurnEvent]]
Answering = Callable[[tuple[Exchange, ...], Gate | None], Source]
"""Makes the source of a turn of what was said before it and of the gate where its query for the web waits."""
Work = Callable[["Conversations"], object]
"""Something to be written into the store."""


class Made(StrEnum):
    """How a version of an answer came about."""

    ASKED = "asked"
    SAME = "same"
    """Asked again with the settings of the version before."""
    PRESENT = "present"
    """Asked again with the settings that stood at that time."""
    CHANGED = "changed"
    """Answered again from what was stored, with what a person changed."""


@dataclass(frozen=True)
class Turn:
    """One version of an answer: the question, the settings it was asked under, and the job that answers it."""

    question: str
    settings: Settings
    job: Job[TurnEvent]
    files: tuple[str, ...] = ()
    """The paths that it may use; none: all."""
    before: tuple[Job[Any], ...] = ()
    """What was running when this was asked and ends first: earlier turns, the reading of files that came with it."""
    gate: Gate | None = None
    """Where its query for the web waits for a person; None: nobody is asked."""
    made: Made = Made.ASKED
    answering: Answering | None = None
    """How it was answered, so that it can be tried again; None where it was read from the store."""
    gap: Gap | None = None
    """Why a turn that was kept has neither answer nor error."""
    opinion: Opinion = field(default_factory=Opinion, compare=False)
    """What a person thinks of it."""

    @property
    def waits(self) -> bool:
        return any(job.running for job in self.before)

    @property
    def reads(self) -> bool:
        """Whether it waits for files that are read first."""
        return any(job.running and job.kind == READING for job in self.before)

    @property
    def asks(self) -> bool:
        """Whether its query waits for a person now."""
        last = self.job.events[-1:]
        return self.gate is not None and not self.gate.answered and bool(last) and isinstance(last[0], Asking)

    @property
    def trace(self) -> Trace | None:
        """The trace once the job has finished."""
        last = self.job.events[-1:]
        return last[0].trace if last and isinstance(last[0], Finished) else None

    def as_asked(self, present: Settings) -> Settings:
        """The settings that it was asked under, with the keys and addresses of `present`: those of who asks now."""
        return turn_settings.under(present, turn_settings.kept(self.settings))


@dataclass
class Place:
    """A question's place in the conversation, with the versions of its answer, the oldest first; never without one."""

    versions: list[Turn]
    shown: int = 0
    """Index of the version that is shown, and that later questions see."""

    @property
    def turn(self) -> Turn:
        return self.versions[self.shown]

    def add(self, turn: Turn) -> None:
        """Another version, shown from now on."""
        self.versions.append(turn)
        self.shown = len(self.versions) - 1


@dataclass
class Conversation:
    id: str
    title: str = ""
    places: list[Place] = field(default_factory=list)
    files: tuple[str, ...] = ()
    """The paths that its next question may use; none: all."""
    deleted: bool = False
    unkept: deque[Work] = field(default_factory=deque)
    """What has still to be written into the store, in order."""
    not_kept: str | None = None
    """Why that could not be written, as a sentence; None: all is kept, or on its way."""

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The versions that are shown."""
        return tuple(place.turn for place in self.places)

    @property
    def running(self) -> bool:
        return any(turn.job.running for place in self.places for turn in place.versions)

    def index(self, turn: Turn) -> int:
        """Number of the place, from 0, that has this version. Raises ValueError where none has."""
        for i, place in enumerate(self.places):
            if any(version.job.id == turn.job.id for version in place.versions):
                return i
        raise ValueError("this turn belongs to another conversation")


def history_of(turns: Iterable[Turn]) -> tuple[Exchange, ...]:
    """What was asked and answered in these turns, as far as they have come to an answer."""
    traces = [turn.trace for turn in turns]
    return tuple(
        Exchange(question=trace.standalone or trace.question, answer=trace.answer)
        for trace in traces
        if trace is not None and trace.answer
    )
