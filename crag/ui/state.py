"""What outlives a run of the page script: the opened house, the jobs, and what is asked."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from config import Settings, load_settings
from crag.errors import BuildLockedError, CragError, HistoryError
from crag.events import BuildEvent, BuildFinished, FileRow, TurnEvent
from crag.gate import Gate
from crag.personal import as_secrets, resolve
from crag.revision import amended
from crag.runtime import Job, JobState, Runtime, sentence
from crag.schema import Change, Exchange, Thresholds, Trace
from crag.ui import quiet
from crag.ui.conversations import READING, Answering, Conversation, Made, Turn
from crag.ui.keeping import Keeping
from crag.ui.talks import Talks

if TYPE_CHECKING:
    from crag.assembly import House
    from crag.calibrations import Calibration
    from crag.history.conversations import Conversations
    from crag.history.labels import Labels
    from crag.history.store import Store
    from crag.knowledge_base.base import KnowledgeBase
    from crag.knowledge_base.health import OcrMode
    from crag.services import Service, Tested

log = logging.getLogger(__name__)

WARM_UP_AFTER: Final = 2.0
"""Seconds: the page is drawn first."""
IDLE: Final = ("open", "warm up")
"""Kinds of jobs that do not keep the house from being closed."""
LIBRARY: Final = "library-page"
"""Where a session keeps the Knowledge base page, so that a panel can link to it."""
CONVERSATION: Final = "c"
"""The query parameter that names the conversation, so that a reload shows it again."""


@dataclass(frozen=True)
class Opening:
    """How far opening has come: a sentence, and the share done in [0, 1]."""

    text: str
    share: float


@dataclass(frozen=True)
class Limits:
    """The thresholds that hold where nobody moves a slider, and where they come from."""

    thresholds: Thresholds
    explicit: bool = False
    """Whether a CRAG_* variable sets one of them."""
    calibration: Calibration | None = None


def open_house(settings: Settings, progress: Callable[[str, float], None]) -> House:
    from crag.assembly import open_house  # imports the engine and the store: seconds that the first paint need not wait

    return open_house(settings, progress)


def turn_source(
    house: House,
    settings: Settings,
    question: str,
    files: tuple[str, ...] = (),
    history: Sequence[Exchange] = (),
    gate: Gate | None = None,
) -> Callable[[Job[TurnEvent]], AsyncIterator[TurnEvent]]:
    from crag.assembly import ask

    return ask(house, settings, question, files, history, gate)


def revision_source(
    house: House, settings: Settings, trace: Trace, changes: Sequence[Change], gate: Gate | None = None
) -> Callable[[Job[TurnEvent]], AsyncIterator[TurnEvent]]:
    from crag.assembly import answer_with

    return answer_with(house, settings, trace, changes, gate)


class Process:
    """One per server process, shared by all sessions. Thread-safe."""

    def __init__(self, environment: Settings) -> None:
        self.environment = environment
        self.settings = environment
        """What the house was opened with; what a person asks with is in `personal`."""
        self.not_opened: str | None = None
        """Why the house could not be opened with what was changed on the page, and was opened without it."""
        self.runtime = Runtime()
        self.house: House | None = None
        self.refused_at: tuple[FileRow, ...] | None = None
        """The published files when a build was refused because another process was building."""
        self._forgotten: str | None = None
        self._again: tuple[str, str] | None = None
        """The path that was read again last, and the job that did."""
        self.compared: dict[tuple[str, str], str] = {}
        """By turn and way, the job that answered its question another way last."""
        self._store: Store | None = None
        self.keeping = Keeping(self.kept)
        self.talks = Talks(self.runtime, self.keeping)
        self._lock = threading.RLock()

    def open(self) -> Job[Opening]:
        """Opens the house as a job; joins the one that runs."""
        return self.runtime.start_blocking("open", lambda job: self._open(job, self.stored(), self.environment))

    def reopen(self) -> bool:
        """Closes the house and opens it with what is stored, as a job; False, and nothing happens, while work runs.

        Where that fails it is opened as it was, and `not_opened` says why.
        """
        with self._lock:
            if self.house is None or self.runtime.busy(*IDLE):
                return False
            house, before, self.house = self.house, self.settings, None
            if (warming := self.runtime.latest("warm up")) is not None:
                warming.stop()

            def source(job: Job[Opening]) -> Iterator[Opening]:
                house.close()
                return self._open(job, self.stored(), before, self.environment)

            self.runtime.start_blocking("open", source)
        return True

    def _open(self, job: Job[Opening], *choices: Settings) -> Iterator[Opening]:
        """Opens the house with the first of these settings that can be used."""
        self.not_opened = None
        distinct = [settings for place, settings in enumerate(choices) if settings not in choices[:place]]
        for settings in distinct:
            try:
                opened = open_house(settings, lambda text, share: job.append(Opening(text, share)))
            except Exception as error:
                if settings is distinct[-1]:
                    raise
                self.not_opened = sentence(error)
            else:
                self.settings, self.house = settings, opened
                break
        self.runtime.start_blocking("warm up", self._warm_up)
        self.keeping.tidy()
        yield Opening("", 1.0)

    def _warm_up(self, job: Job[Opening]) -> Iterator[Opening]:
        if not job.stopping.wait(WARM_UP_AFTER):
            self._opened().warm_up(self.settings)
        return iter(())

    def build(self) -> Job[BuildEvent]:
        """Rebuilds what has changed in Files/; joins the build that runs."""
        return self._write(lambda base, job: base.build(job.stopping))

    def read_added(self) -> Job[BuildEvent]:
        """Rebuilds, after the build that runs: it may have looked at the folder before something was added."""
        before = self.runtime.latest("build")

        async def source(_: Job[BuildEvent]) -> AsyncIterator[BuildEvent]:
            await _end_of(before)
            build = self.build()
            await _end_of(build)
            for event in build.events[-1:]:
                yield event

        return self.runtime.start(READING, source)

    def read_again(self, path: str, ocr: OcrMode | None = None) -> bool:
        """Reads one file again, with `ocr` from now on where it is given; False where a build runs: it goes first, and
        nothing is remembered."""
        before = self.runtime.latest("build")
        job = self._write(lambda base, job: base.read_again(path, ocr, job.stopping))
        if before is not None and job.id == before.id:
            return False
        self._again = (path, job.id)
        return True

    def failed_again(self, path: str) -> str | None:
        """Why a file could not be read again, where that was the last build."""
        job = self.runtime.latest("build")
        mine = job is not None and self._again == (path, job.id) and job.state is JobState.FAILED
        return job.error if job is not None and mine else None

    def publish_staged(self) -> Job[BuildEvent]:
        """Makes the finished files of a cancelled build live; `staged` of the last event counts them."""

        def source(base: KnowledgeBase, _: Job[BuildEvent]) -> Iterator[BuildEvent]:
            staged = base.staged()
            yield base.publish_staged().model_copy(update={"staged": staged})

        return self._write(source)

    def _write(self, source: Callable[[KnowledgeBase, Job[BuildEvent]], Iterator[BuildEvent]]) -> Job[BuildEvent]:
        """Runs what writes the index; where another process writes it, that is no failure but a reason to wait."""
        with self.at_work() as house:
            base = house.knowledge_base

            def run(job: Job[BuildEvent]) -> Iterator[BuildEvent]:
                self.refused_at = None
                try:
                    yield from source(base, job)
                except BuildLockedError:
                    log.info("another process is building", exc_info=True)
                    self.refused_at = tuple(base.rows())

            return self.runtime.start_blocking("build", run)

    def last_build(self) -> Job[BuildEvent] | None:
        """The newest build, unless its message has been put away."""
        job = self.runtime.latest("build")
        return None if job is None or job.id == self._forgotten else job

    def forget_overtaken_build(self, version: int) -> None:
        """Puts away that a build was cancelled, once another process has published a newer `version`."""
        job = self.runtime.latest("build")
        end = job.events[-1] if job is not None and not job.running and job.events else None
        if job is not None and isinstance(end, BuildFinished) and not end.published and end.version < version:
            self._forgotten = job.id

    def forget_failed_build(self) -> None:
        """Puts away the message of a build that failed or was refused: it is no longer true."""
        job = self.runtime.latest("build")
        self.refused_at = None
        if job is not None and job.state is JobState.FAILED:
            self._forgotten = job.id

    def ask(
        self,
        conversation_id: str | None,
        question: str,
        settings: Settings,
        files: tuple[str, ...] = (),
        only: tuple[str, ...] = (),
        after: Job[Any] | None = None,
    ) -> Conversation:
        """Starts a turn in the conversation, or in a new one where it is None or no longer known.

        `files` are the paths that it and later questions may use; none: all. `only` are those that this one is limited
        to. Where an earlier turn still runs, or `after`, the new one waits for its end.
        """
        known = self.conversation(conversation_id) if conversation_id else None
        with self.at_work():
            answering = self._answering(question, settings, only or files)
            return self.talks.ask(known, question, settings, files, answering, only, after)

    def ask_again(self, conversation: Conversation, turn: Turn, settings: Settings, made: Made = Made.PRESENT) -> None:
        """Asks the question of a turn again: another version of its answer."""
        self.add_version(conversation, turn, self._answering(turn.question, settings, turn.files), settings, made)

    def add_version(
        self, conversation: Conversation, turn: Turn, answering: Answering, settings: Settings, made: Made
    ) -> Turn:
        """Starts another version of the answer to `turn`, which is shown from now on and counts as history.

        `answering` gets what was said before the turn, and the gate for its query where `settings.web` is "ask".
        """
        with self.at_work():
            return self.talks.add_version(conversation, turn, answering, settings, made)

    def answer_with(
        self, conversation: Conversation, turn: Turn, changes: Sequence[Change], settings: Settings
    ) -> Turn:
        """Another version of the answer to `turn`, made anew from its trace with a person's changes.

        It is asked as `turn` was; keys and addresses are those of `settings`, the person's own of now. Raises
        ValueError where the turn has no trace yet.
        """
        trace = turn.trace
        if trace is None:
            raise ValueError("only an answer that has ended can be changed")
        limits = amended(trace, changes).thresholds
        chosen = {"lower": limits.lower, "upper": limits.upper, "strip_threshold": limits.strip}
        settings = turn.as_asked(settings).model_copy(update=chosen)
        return self.add_version(
            conversation,
            turn,
            lambda _, gate: revision_source(self._opened(), settings, trace, changes, gate),
            settings,
            Made.CHANGED,
        )

    def try_again(self, conversation: Conversation, turn: Turn, settings: Settings) -> None:
        """Once more what led to nothing: an answer with a person's changes from what was stored, with these changes."""
        if turn.made is Made.CHANGED and turn.answering is not None:
            self.add_version(conversation, turn, turn.answering, turn.as_asked(settings), turn.made)
        else:
            self.ask_again(conversation, turn, settings)

    def branch(self, conversation: Conversation, turn: Turn, question: str, settings: Settings) -> Conversation:
        """A new conversation with the turns before `turn`, in which `question` is asked in its place."""
        answering = self._answering(question, settings, turn.files)
        with self.at_work():
            return self.talks.branch(conversation, turn, question, settings, answering)

    def conversation(self, conversation_id: str) -> Conversation | None:
        """The conversation, in memory or kept; None where it is not there, is deleted, or cannot be read."""
        try:
            return self.talks.get(conversation_id, self.settings)
        except CragError as error:  # the list of conversations tells it
            log.warning("a conversation is not opened: %s", error)
            return None

    def _answering(self, question: str, settings: Settings, files: tuple[str, ...]) -> Answering:
        return lambda history, gate: turn_source(self._opened(), settings, question, files, history, gate)

    def test(self, service: Service, settings: Settings) -> Job[Tested]:
        """Tests a service in one real round trip, as a job."""
        from crag.services import try_out

        with self.at_work() as house:

            async def source(_: Job[Tested]) -> AsyncIterator[Tested]:
                yield await try_out(service, settings, house)

            return self.runtime.start("test", source)

    def limits(self, settings: Settings | None = None) -> Limits:
        """What the sliders stand at when nobody has moved them."""
        found = self._opened().in_force(settings or self.settings)
        return Limits(found.thresholds, bool(found.explicit), found.calibration)

    @property
    def store(self) -> Store:
        """The database of people's own things; its file is made when something is first kept."""
        from crag.history.store import FILE, Store

        with self._lock:
            if self._store is None:
                self._store = Store(self.settings.data_dir / FILE)
            return self._store

    def kept(self) -> Conversations:
        """The conversations that are kept."""
        from crag.history.conversations import Conversations

        return Conversations(self.store)

    def changed(self) -> dict[str, Any]:
        """The settings that were changed on the page. Raises HistoryError."""
        from crag.history.preferences import Preferences

        return as_secrets(Preferences(self.store).all())

    def stored(self) -> Settings:
        """The environment with what is stored: what works without a page as well, so no key of one visit."""
        try:
            return resolve(self.environment, self.changed()).settings
        except HistoryError:
            log.exception("the settings that were changed on the page cannot be read")
            return self.environment

    def labels(self) -> Labels:
        """What people said of documents."""
        from crag.history.labels import Labels

        return Labels(self.store)

    def close(self) -> None:
        """Ends the jobs, keeps what they have come to, and closes the house."""
        self.runtime.close()
        self.keeping.close()
        if self._store is not None:
            self._store.close()
        if self.house is not None:
            self.house.close()

    @contextmanager
    def at_work(self) -> Iterator[House]:
        """The house, which is not closed before the work that is begun in here has been registered as a job.

        Where it is just being opened anew, from another tab say, this waits for it: the click came from a page that
        still had the old one.
        """
        opening = self.runtime.latest("open")
        if opening is not None:
            for _ in opening.follow():
                pass
        with self._lock:
            yield self._opened()

    def _opened(self) -> House:
        if self.house is None:
            raise RuntimeError("the page draws nothing that works before the house is open")
        return self.house


async def _end_of(job: Job[Any] | None) -> None:
    while job is not None and job.running:  # noqa: ASYNC110 - set by threads
        await asyncio.sleep(0.1)


def _close(process: Process) -> None:
    process.close()


@st.cache_resource(show_spinner=False, on_release=_close)
def process() -> Process:
    """The one of this process. Raises ConfigurationError where a setting cannot be used."""
    return Process(load_settings())


@asynccontextmanager
async def lifespan(_: st.App) -> AsyncIterator[None]:
    """Opens the house while the browser still loads the page, and ends jobs and house with the server."""
    quiet.install()
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
        open_conversation(conversation.id)


def open_conversation(conversation_id: str) -> None:
    """Puts the conversation with this id into the address."""
    st.query_params[CONVERSATION] = conversation_id
