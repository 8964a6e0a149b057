"""A build: scan, read, chunk, embed, stage and publish, as a generator of events."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from crag.embedding.base import Embedder
from crag.errors import EmbeddingError, KnowledgeBaseError, PdfError
from crag.knowledge_base.catalog import Catalog, Known, Reading, State, Target, Vectors
from crag.knowledge_base.chunker import CHUNKER_VERSION, embedding_text
from crag.knowledge_base.locks import sole
from crag.knowledge_base.page_text import PageText
from crag.knowledge_base.pdf_loader import PARSER_VERSION
from crag.knowledge_base.scan import CancelledScanError, Entry, Hasher, scan
from crag.knowledge_base.usability import verdict
from crag.knowledge_base.vector_store import VectorStore, remove_folder
from crag.knowledge_base.workers import CancelledError, TransientPdfError, Workers
from crag.schema import (
    BuildEvent,
    BuildFinished,
    BuildStarted,
    FileChange,
    FileFinished,
    FileProgress,
    FileRow,
    FileState,
    Passage,
)

BATCH = 64
"""Passages embedded at once: small, so that a cancel is quick."""
_READERS_WAIT = 5.0
"""Seconds to wait for questions on the old version before its vectors are left to the next build."""
_SAMPLE = 32

_log = logging.getLogger(__name__)


def index_fingerprint(embedder: Embedder) -> str:
    """What the index was made with: vectors, pages and passages of different fingerprints do not mix."""
    return f"{embedder.fingerprint}|{PARSER_VERSION}|{CHUNKER_VERSION}"


def generation_folder(chroma_dir: Path, generation: int) -> Path:
    return chroma_dir / f"index-{generation}"


def snapshots_lock(chroma_dir: Path) -> Path:
    """Questions of every process hold this lock while they read one version."""
    return chroma_dir / "snapshots.lock"


def compare(
    entries: Sequence[Entry], known: dict[str, Known], hasher: Hasher, fingerprint: str
) -> Iterator[FileChange]:
    """What a rebuild would do with each path. Hashes only what is new or touched."""
    for entry in entries:
        before = known.get(entry.path)
        yield FileChange(path=entry.path, state=_state_of(entry, before, hasher, fingerprint))
    for path in known.keys() - {entry.path for entry in entries}:
        yield FileChange(path=path, state=FileState.REMOVED)


def _state_of(entry: Entry, before: Known | None, hasher: Hasher, fingerprint: str) -> FileState:
    if before is None:
        return FileState.ADDED
    if entry.error is not None or before.error is not None:
        return FileState.UNCHANGED if entry.error == before.error else FileState.CHANGED
    if before.fingerprint != fingerprint or before.retry or entry.size != before.size:
        return FileState.CHANGED
    if entry.mtime_ns == before.mtime_ns:
        return FileState.UNCHANGED
    try:
        same = hasher.sha256(entry)[0] == before.sha256
    except OSError:
        same = False
    return FileState.UNCHANGED if same else FileState.CHANGED


@dataclass
class Builder:
    """One build. `store` gives the open vector store of a generation, `published` is told of the new state."""

    files_dir: Path
    chroma_dir: Path
    catalog: Catalog
    embedder: Embedder
    hasher: Hasher
    parse_timeout: float
    store: Callable[[int, bool], VectorStore]
    published: Callable[[State], None]
    cancel: threading.Event
    fingerprint: str = ""
    generation: int = 0
    sessions: ExitStack = field(default_factory=ExitStack)
    started: float = field(default_factory=time.monotonic)

    def run(self) -> Iterator[BuildEvent]:
        """Yields what happens; the writer lock is the caller's. Raises KnowledgeBaseError, EmbeddingError."""
        self.fingerprint = index_fingerprint(self.embedder)
        state = self.catalog.state()
        entries = scan(self.files_dir).entries
        known = self.catalog.files()
        changes = sorted(compare(entries, known, self.hasher, self.fingerprint), key=lambda change: change.path)
        fresh = bool(state.generation) and state.fingerprint != self.fingerprint
        yield BuildStarted(changes=tuple(changes), fresh=fresh and bool(known))
        with self.sessions:
            try:
                store = self._prepare(state)
                targets: list[Target] = []
                with Workers(self.parse_timeout) as workers:
                    for index, entry in enumerate(entries, 1):
                        target = yield from self._file(entry, index, len(entries), store, workers)
                        targets.append(target)
                self._stop_if_cancelled()
                finished = self._publish(targets)
            except (CancelledError, CancelledScanError):
                staged = len(self.catalog.staged())
                finished = BuildFinished(version=state.version, published=False, staged=staged, seconds=self._seconds())
        yield finished

    def publish_only(self, targets: Sequence[Target]) -> BuildFinished:
        """Publishes what has been staged before; `fingerprint` and `generation` are set by the caller."""
        with self.sessions:
            self._writable(self.generation, False)
            return self._publish(targets)

    def _publish(self, targets: Sequence[Target]) -> BuildFinished:
        """Makes `targets` the knowledge base, then clears away what nothing refers to."""
        before = self.catalog.state()
        after = self.catalog.publish(targets, self.generation, self.fingerprint, self.embedder.fingerprint)
        self.published(after)
        if after.version != before.version:
            self._clear(self.store(self.generation, False))
        rows = self.catalog.rows()
        return BuildFinished(
            version=after.version,
            published=True,
            files=sum(row.error is None for row in rows),
            passages=sum(row.passages for row in {row.content: row for row in rows if not row.error}.values()),
            failed=sum(row.error is not None for row in rows),
            seconds=self._seconds(),
        )

    # --- the index ----------------------------------------------------------------------------------------------

    def _prepare(self, state: State) -> VectorStore:
        """The store to write to, in step with the catalog: a crash or a damaged index is mended here."""
        if state.generation and state.fingerprint == self.fingerprint:
            self.generation = state.generation
            if generation_folder(self.chroma_dir, self.generation).is_dir():
                try:
                    store = self._writable(self.generation, False)
                    self._reconcile(store)
                    if self._is_sound(store):
                        return store
                except KnowledgeBaseError as error:
                    _log.warning("the index %s is rebuilt from stored vectors: %s", self.generation, error)
            self.generation = self._new_generation(state)
        elif state.next_generation and state.next_fingerprint == self.fingerprint:
            self.generation = state.next_generation
        else:
            self.generation = self._new_generation(state)
        self.catalog.begin_generation(self.generation, self.fingerprint)
        self._remove_old_folders({state.generation, self.generation})
        store = self._writable(self.generation, True)
        self._reconcile(store)
        return store

    def _writable(self, generation: int, create: bool) -> VectorStore:
        """The store of a generation, open for writing until the end of the build."""
        store = self.store(generation, create)
        self.sessions.enter_context(store.writing())
        return store

    def _new_generation(self, state: State) -> int:
        taken = [int(path.name[6:]) for path in self.chroma_dir.glob("index-*") if path.name[6:].isdigit()]
        return max([state.generation, state.next_generation, *taken]) + 1

    def _reconcile(self, store: VectorStore) -> None:
        """Vectors without a passage go, passages without a vector get theirs back from the catalog."""
        wanted = self.catalog.passage_ids(self.fingerprint)
        present = store.ids()
        if extra := present - wanted.keys():
            self._remove_vectors(store, extra)
        for ids, vectors in self.catalog.vectors(wanted.keys() - present):
            store.add(ids, vectors, [wanted[identity] for identity in ids])

    def _is_sound(self, store: VectorStore) -> bool:
        ids = sorted(self.catalog.passage_ids(self.fingerprint))
        sample = ids[:: max(1, len(ids) // _SAMPLE)]
        return all(store.is_sound(vectors) for _, vectors in self.catalog.vectors(sample))

    def _clear(self, store: VectorStore) -> None:
        """After a publish: dead contents, their vectors and old generations go; what is in use waits."""
        self.catalog.purge()
        extra = store.ids() - self.catalog.passage_ids(self.fingerprint).keys()
        if extra:
            self._remove_vectors(store, extra)
        self._remove_old_folders({self.generation})

    def _remove_vectors(self, store: VectorStore, ids: set[str]) -> None:
        with sole(snapshots_lock(self.chroma_dir), _READERS_WAIT) as nobody_reads:
            if nobody_reads:
                store.remove(sorted(ids))

    def _remove_old_folders(self, kept: set[int]) -> None:
        for folder in self.chroma_dir.glob("index-*"):
            number = folder.name[6:]
            if folder.is_dir() and number.isdigit() and int(number) not in kept:
                remove_folder(folder)

    # --- one file -----------------------------------------------------------------------------------------------

    def _file(
        self, entry: Entry, index: int, files: int, store: VectorStore, workers: Workers
    ) -> Generator[BuildEvent, None, Target]:
        """Stages one path, unless its content is known; returns what is to be published for it."""
        self._stop_if_cancelled()
        if entry.error is not None:
            target = Target(entry.path, None, entry.size, entry.mtime_ns, entry.error)
            self.catalog.stage_file(target)
            yield FileFinished(row=FileRow(path=entry.path, content="", error=entry.error), index=index, files=files)
            return target
        try:
            sha256, mtime_ns = self.hasher.sha256(entry, self.cancel)
        except OSError as error:
            reason = f"It cannot be read ({error.strerror or error}): check the file and its permissions."
            target = Target(entry.path, None, entry.size, entry.mtime_ns, reason)
            self.catalog.stage_file(target)
            yield FileFinished(row=FileRow(path=entry.path, content="", error=reason), index=index, files=files)
            return target
        found = self.catalog.find(sha256, self.fingerprint)
        if found is not None:
            target = Target(entry.path, int(found.id), entry.size, mtime_ns)
            self.catalog.stage_file(target)
            return target
        reading = yield from self._read(entry, sha256, index, files, workers)
        if reading.vectors is not None:
            contents = [sha256] * len(reading.passages)
            store.add([passage.id for passage in reading.passages], reading.vectors, contents)
        target = Target(entry.path, self.catalog.stage(reading), entry.size, mtime_ns)
        self.catalog.stage_file(target)
        row = FileRow(
            path=entry.path,
            content=sha256,
            pages=len(reading.pages),
            passages=len(reading.passages),
            seconds=round(reading.seconds, 3),
            warnings=tuple(reading.warnings),
            error=reading.error,
        )
        yield FileFinished(row=row, index=index, files=files)
        return target

    def _read(
        self, entry: Entry, sha256: str, index: int, files: int, workers: Workers
    ) -> Generator[BuildEvent, None, Reading]:
        """Reads, chunks and embeds one content. What is wrong with the file becomes its error."""
        begun = time.monotonic()
        speed = 0.0

        def progress(stage: str, done: int, total: int) -> FileProgress:
            return FileProgress(
                path=entry.path,
                index=index,
                files=files,
                stage=stage,
                done=done,
                total=total,
                pages_per_second=round(speed, 1),
            )

        pages: list[PageText] = []
        passages: list[Passage] = []
        try:
            steps = workers.read(entry.real, sha256, self.fingerprint, self.cancel)
            while True:
                try:
                    done, total = next(steps)
                except StopIteration as end:
                    head, pages, passages = end.value
                    break
                speed = done / max(time.monotonic() - begun, 0.001)
                yield progress("reading", done, total)
            self._refuse_if_changed(entry)
            warnings = verdict(pages, len(passages), head.repaired)
        except PdfError as error:
            return Reading(
                sha256,
                self.fingerprint,
                seconds=time.monotonic() - begun,
                error=str(error),
                transient=isinstance(error, TransientPdfError),
            )
        vectors = np.zeros((len(passages), self.embedder.dimension), np.float32)
        order = sorted(range(len(passages)), key=lambda i: len(passages[i].text))
        for start in range(0, len(order), BATCH):
            self._stop_if_cancelled()
            yield progress("embedding", start, len(passages))
            some = order[start : start + BATCH]
            vectors[some] = self._embed([embedding_text(passages[i].heading, passages[i].text) for i in some])
        self._stop_if_cancelled()
        yield progress("staged", len(passages), len(passages))
        return Reading(
            sha256,
            self.fingerprint,
            pages,
            passages,
            vectors,
            time.monotonic() - begun,
            warnings,
            names=entry.path,
        )

    def _refuse_if_changed(self, entry: Entry) -> None:
        try:
            now = entry.real.stat()
        except OSError:
            raise TransientPdfError("It was removed while it was read: build again.") from None
        if (now.st_size, now.st_mtime_ns) != (entry.size, entry.mtime_ns):
            raise TransientPdfError("It was changed while it was read: build again.")

    def _embed(self, texts: list[str]) -> Vectors:
        vectors = np.asarray(self.embedder.embed_passages(texts), np.float32)
        if vectors.shape != (len(texts), self.embedder.dimension) or not np.isfinite(vectors).all():
            raise EmbeddingError("The embedding engine returned no usable vectors: build again or choose another one.")
        halved = vectors.astype(np.float16).astype(np.float32)  # what the catalog can give back
        norms = np.linalg.norm(halved, axis=1, keepdims=True)
        return np.asarray(halved / np.maximum(norms, 1e-6), np.float32)

    def _stop_if_cancelled(self) -> None:
        if self.cancel.is_set():
            raise CancelledError

    def _seconds(self) -> float:
        return round(time.monotonic() - self.started, 3)
