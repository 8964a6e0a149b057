"""A build: scan, read, chunk, embed, stage and publish, as a generator of events."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import SecretStr

from crag.agent_model.base import Ledger
from crag.embedding.base import Embedder, Sending
from crag.events import (
    BuildEvent,
    BuildFinished,
    BuildStarted,
    FileChange,
    FileFinished,
    FileProgress,
    FileRow,
    FileState,
)
from crag.knowledge_base import upkeep
from crag.knowledge_base.ahead import Coming, Outcome, ReadAhead, open_workers
from crag.knowledge_base.catalog import Catalog
from crag.knowledge_base.generation import Generation
from crag.knowledge_base.health import OcrMode
from crag.knowledge_base.kept_vectors import forget_made
from crag.knowledge_base.mineru import MinerU
from crag.knowledge_base.pace import Pace
from crag.knowledge_base.passage_vectors import batches, known_vectors, stacked, vectors_of
from crag.knowledge_base.plan import Order, Plan, tried_again, wanted
from crag.knowledge_base.records import Reading, State, Target
from crag.knowledge_base.scan import CancelledScanError, Entry, Hasher, compare, scan
from crag.knowledge_base.telling import Place, progress, row_of, spent, told_of
from crag.knowledge_base.vector_store import VectorStore
from crag.knowledge_base.workers import CancelledError, TransientPdfError, Workers

ROUND = 30.0
"""Seconds after which a first build publishes what it has finished."""


@dataclass
class Builder:
    """One build. `store` gives the open vector store of a generation, `published` is told of the new state."""

    files_dir: Path
    chroma_dir: Path
    catalog: Catalog
    embedder: Embedder
    fingerprint: str
    mineru: MinerU | None
    hasher: Hasher
    parse_timeout: float
    ocr: OcrMode
    ocr_cache: Path
    store: Callable[[int, bool], VectorStore]
    published: Callable[[State], None]
    cancel: threading.Event
    passwords: Mapping[str, SecretStr] = field(default_factory=dict)
    """By path."""
    sessions: ExitStack = field(default_factory=ExitStack)
    started: float = field(default_factory=time.monotonic)
    sent: Ledger = field(default_factory=Ledger)
    """The requests to a service that makes the vectors."""

    def __post_init__(self) -> None:
        if isinstance(self.embedder, Sending):
            self.embedder = self.embedder.noting(self.sent)
        self.index = Generation(
            self.chroma_dir, self.catalog, self.fingerprint, self.store, self.sessions, self._stop_if_cancelled
        )
        self.pace = Pace()
        self.in_rounds = False
        """Where nothing is published yet: smallest files first, and what is finished can be asked while others are
        read. Each round is whole."""
        self._contents: dict[str, int] = {}
        self._settled: set[Target] = set()

    def run(self) -> Iterator[BuildEvent]:
        """Brings everything in step with the folder, yielding what happens; the writer lock is the caller's.

        Raises KnowledgeBaseError, EmbeddingError.
        """
        state = self.catalog.state()
        entries = scan(self.files_dir).entries
        self.in_rounds = not state.version
        if self.in_rounds:
            entries = sorted(entries, key=lambda entry: (entry.size, entry.path))
        known = tried_again(self.catalog.files(), self.catalog.rows(), self.passwords)
        self.hasher.remember(known)
        options = self.catalog.options()
        changes = list(compare(entries, known, self.hasher, self.fingerprint, options, self.ocr))
        place = {entry.path: number for number, entry in enumerate(entries)} if self.in_rounds else {}
        changes.sort(key=lambda change: (place.get(change.path, 0), change.path))
        fresh = bool(state.generation) and state.fingerprint != self.fingerprint
        yield BuildStarted(changes=tuple(changes), fresh=fresh and bool(known))
        yield from self._bring(state, entries, options, changes, again=False)

    def run_again(self, entry: Entry, change: FileChange) -> Iterator[BuildEvent]:
        """Reads one file again, whatever is known of it; all others stay as they are published."""
        yield BuildStarted(changes=(change,))
        kept = [target for target in self.catalog.targets() if target.path != entry.path]
        yield from self._bring(self.catalog.state(), [entry], self.catalog.options(), [change], again=True, kept=kept)

    def publish_only(self, targets: Sequence[Target], generation: int) -> BuildFinished:
        """Publishes what has been staged before in a generation that exists."""
        self.index.number = generation
        with self.sessions:
            store = self.index.opened(self.catalog.state())
            self._publish(targets, store)
            self.index.seal(store)
            return self._finished()

    def clear_only(self, state: State) -> None:
        """Clears away what nothing refers to any more, in the published generation, whatever it was made with."""
        self.index.number, self.index.fingerprint = state.generation, state.fingerprint
        with self.sessions:
            store = self.index.opened(state)
            self.index.clear(store)
            self.index.seal(store)

    def _bring(
        self,
        state: State,
        entries: Sequence[Entry],
        options: Mapping[str, OcrMode],
        changes: Sequence[FileChange],
        *,
        again: bool,
        kept: Sequence[Target] = (),
    ) -> Iterator[BuildEvent]:
        """Reads what has to be read of `entries`, and publishes them together with `kept`."""
        with self.sessions:
            store: VectorStore | None = None
            try:
                store = self.index.prepare(state)
                plan = self._plan(entries, options, again)
                targets = [*kept, *(yield from self._files(entries, changes, plan, store))]
                self._stop_if_cancelled()
                self._publish(targets, store)
                if not again:
                    forget_made(self.catalog.engine)
                store = yield from self._compact(store)
                upkeep.give_back_room(self.catalog.engine)
                finished = self._finished()
            except (CancelledError, CancelledScanError):
                staged = len(self.catalog.staged())
                version = self.catalog.state().version
                finished = BuildFinished(
                    version=version, published=False, staged=staged, seconds=self._seconds(), **spent(self.sent)
                )
            if store is not None:
                self.index.seal(store)
        yield finished

    def _plan(self, entries: Sequence[Entry], options: Mapping[str, OcrMode], again: bool) -> Plan:
        """What is known of contents. Only files with an option, or one that is read again, are looked at here."""
        named = [entry for entry in entries if entry.error is None and (again or entry.path in options)]
        pairs = [(entry.path, sha256) for entry in named if (sha256 := self._sha256(entry))]
        here = {entry.path for entry in entries}
        pairs += [(path, one.sha256) for path, one in self.catalog.files().items() if path in options.keys() - here]
        asked = frozenset(sha256 for path, sha256 in pairs if again and path in here)
        ocr = wanted(options, pairs)
        held = self.catalog.held(self.fingerprint)
        self._settled = set(self.catalog.targets()) if not self.catalog.staged() else set()
        locked = [entry for entry in entries if entry.error is None and entry.path in self.passwords]
        passwords = {sha256: self.passwords[entry.path] for entry in locked if (sha256 := self._sha256(entry))}
        return Plan(self.fingerprint, held, ocr, self.ocr, asked, passwords)

    def _sha256(self, entry: Entry) -> str | None:
        try:
            return self.hasher.sha256(entry, self.cancel)[0]
        except OSError:  # its own turn tells why
            return None

    def _publish(self, targets: Sequence[Target], store: VectorStore) -> None:
        """Makes `targets` the knowledge base, then clears away what nothing refers to."""
        before = self.catalog.state()
        after = self.catalog.publish(targets, self.index.number, self.fingerprint, self.embedder.fingerprint)
        self.published(after)
        if after.version != before.version:
            self.index.clear(store)
        else:
            self.index.remove_old_folders({self.index.number})

    def _compact(self, store: VectorStore) -> Generator[BuildEvent, None, VectorStore]:
        """Makes a bloated index anew, after what was built is already published; returns the store that is in use.

        A cancel leaves it for the next build.
        """
        if not self.index.is_bloated(store):
            return store
        number = self.index.number
        fresh = self.index.begin_compaction()
        for done, total in self.index.refill(fresh):
            if self.cancel.is_set():
                self.index.number = number
                return store
            yield self._progress(Place("", 1, 1), "compacting", done, total)
        self._publish(self.catalog.targets(), fresh)
        return fresh

    def _finished(self) -> BuildFinished:
        return told_of(self.catalog.rows(), self.catalog.state().version, self._seconds(), self.sent)

    # --- files --------------------------------------------------------------------------------------------------

    def _files(
        self, entries: Sequence[Entry], changes: Sequence[FileChange], plan: Plan, store: VectorStore
    ) -> Generator[BuildEvent, None, list[Target]]:
        """Stages every path whose content is not known; returns what is to be published for them."""
        unchanged = {change.path for change in changes if change.state is FileState.UNCHANGED}
        self.pace = Pace(bytes_left=sum(entry.size for entry in entries if entry.path not in unchanged))
        targets: list[Target] = []
        published = self.started
        workers = open_workers(lambda: Workers(self.parse_timeout, self.ocr_cache, self.mineru))
        with ReadAhead(entries, plan, self.hasher, self.pace, workers) as ahead:
            for coming in ahead.coming:
                target = yield from self._file(coming, len(entries), ahead, store)
                targets.append(target)
                if self.in_rounds and coming.index < len(entries) and time.monotonic() - published > ROUND:
                    self._publish(targets, store)
                    published = time.monotonic()
        return targets

    def _file(
        self, coming: Coming, files: int, ahead: ReadAhead, store: VectorStore
    ) -> Generator[BuildEvent, None, Target]:
        """Stages one path; returns what is to be published for it."""
        entry, place = coming.entry, Place(coming.entry.path, coming.index, files)
        steps = ahead.follow(coming, self.cancel)
        while True:
            try:
                step, speed = next(steps)
            except StopIteration as end:
                outcome: Outcome = end.value
                break
            yield self._progress(place, step.stage, step.done, step.total, speed)
        if outcome.unopened is not None:
            target = Target(entry.path, None, entry.size, outcome.mtime_ns, outcome.unopened)
            self._stage_file(target)
            yield FileFinished(
                row=FileRow(path=entry.path, content="", error=outcome.unopened), index=place.index, files=files
            )
            return target
        if outcome.order is None:
            held = outcome.held if outcome.held is not None else self._contents[outcome.sha256]
            target = Target(entry.path, held, entry.size, outcome.mtime_ns)
            self._stage_file(target)
            return target
        reading = yield from self._reading(outcome, outcome.order, place)
        if reading.vectors is not None:
            contents = [reading.sha256] * len(reading.passages)
            store.add([passage.id for passage in reading.passages], reading.vectors, contents)
        content_id = self._contents[reading.sha256] = self.catalog.stage(reading)
        if isinstance(self.embedder, Sending):
            forget_made(self.catalog.engine, [passage.id for passage in reading.passages])
        target = Target(entry.path, content_id, entry.size, outcome.mtime_ns)
        self._stage_file(target)
        yield FileFinished(row=row_of(place.path, reading), index=place.index, files=files)
        return target

    def _stage_file(self, target: Target) -> None:
        """Remembers what is done, unless it is published already: a build that finds little new writes little."""
        if target not in self._settled:
            self.catalog.stage_file(target)

    def _reading(self, outcome: Outcome, order: Order, place: Place) -> Generator[BuildEvent, None, Reading]:
        """Embeds what was read. What is wrong with the file is its error."""
        begun = time.monotonic()
        read = Reading(
            outcome.sha256,
            self.fingerprint,
            seconds=outcome.seconds,
            options=order.options,
            revision=order.revision,
            names=place.path,
        )
        if outcome.error is not None:
            transient = isinstance(outcome.error, TransientPdfError)
            return replace(read, error=str(outcome.error), transient=transient)
        passages = outcome.passages
        made = known_vectors(self.embedder, self.catalog.engine, passages)
        for some in batches(self.embedder, passages, [i for i in range(len(passages)) if i not in made]):
            self._stop_if_cancelled()
            yield self._progress(place, "embedding", len(made), len(passages))
            before = time.monotonic()
            fresh = vectors_of(self.embedder, self.catalog.engine, [passages[i] for i in some], self.cancel)
            made.update(zip(some, fresh, strict=True))
            self.pace.embedded(len(some), time.monotonic() - before)
        vectors = stacked(self.catalog.engine, self.fingerprint, made)
        self._stop_if_cancelled()
        yield self._progress(place, "staged", len(passages), len(passages))
        seconds = outcome.seconds + time.monotonic() - begun
        return replace(
            read,
            pages=outcome.pages,
            passages=passages,
            vectors=vectors,
            seconds=seconds,
            warnings=outcome.warnings,
        )

    def _progress(self, place: Place, stage: str, done: int, total: int, speed: float = 0.0) -> FileProgress:
        return progress(place, stage, done, total, speed, self.pace)

    def _stop_if_cancelled(self) -> None:
        if self.cancel.is_set():
            raise CancelledError

    def _seconds(self) -> float:
        return round(time.monotonic() - self.started, 3)
