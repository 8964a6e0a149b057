"""A build: scan, read, chunk, embed, stage and publish, as a generator of events."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from crag.embedding.base import Embedder
from crag.errors import EmbeddingError, PdfError
from crag.events import (
    BuildEvent,
    BuildFinished,
    BuildStarted,
    FileFinished,
    FileProgress,
    FileRow,
)
from crag.knowledge_base.catalog import Catalog
from crag.knowledge_base.chunker import CHUNKER_VERSION, embedding_text
from crag.knowledge_base.generation import Generation
from crag.knowledge_base.health import OcrMode
from crag.knowledge_base.ocr import OCR_VERSION
from crag.knowledge_base.page_text import PageText
from crag.knowledge_base.pdf_loader import PARSER_VERSION
from crag.knowledge_base.records import Reading, State, Target, Vectors
from crag.knowledge_base.scan import CancelledScanError, Entry, Hasher, compare, scan
from crag.knowledge_base.usability import verdict
from crag.knowledge_base.vector_store import VectorStore
from crag.knowledge_base.workers import CancelledError, TransientPdfError, Workers
from crag.schema import Passage

BATCH = 16
"""Passages embedded at once: small, so that a cancel is quick."""


def index_fingerprint(embedder: Embedder) -> str:
    """What the index was made with: vectors, pages and passages of different fingerprints do not mix."""
    return f"{embedder.fingerprint}|{PARSER_VERSION}|{OCR_VERSION}|{CHUNKER_VERSION}"


@dataclass
class Builder:
    """One build. `store` gives the open vector store of a generation, `published` is told of the new state."""

    files_dir: Path
    chroma_dir: Path
    catalog: Catalog
    embedder: Embedder
    hasher: Hasher
    parse_timeout: float
    ocr: OcrMode
    ocr_cache: Path
    store: Callable[[int, bool], VectorStore]
    published: Callable[[State], None]
    cancel: threading.Event
    sessions: ExitStack = field(default_factory=ExitStack)
    started: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.fingerprint = index_fingerprint(self.embedder)
        self.index = Generation(self.chroma_dir, self.catalog, self.fingerprint, self.store, self.sessions)

    def run(self) -> Iterator[BuildEvent]:
        """Yields what happens; the writer lock is the caller's. Raises KnowledgeBaseError, EmbeddingError."""
        state = self.catalog.state()
        entries = scan(self.files_dir).entries
        known = self.catalog.files()
        changes = sorted(compare(entries, known, self.hasher, self.fingerprint), key=lambda change: change.path)
        fresh = bool(state.generation) and state.fingerprint != self.fingerprint
        yield BuildStarted(changes=tuple(changes), fresh=fresh and bool(known))
        with self.sessions:
            try:
                store = self.index.prepare(state)
                targets: list[Target] = []
                with Workers(self.parse_timeout, self.ocr_cache) as workers:
                    for index, entry in enumerate(entries, 1):
                        target = yield from self._file(entry, index, len(entries), store, workers)
                        targets.append(target)
                self._stop_if_cancelled()
                finished = self._publish(targets)
            except (CancelledError, CancelledScanError):
                staged = len(self.catalog.staged())
                finished = BuildFinished(version=state.version, published=False, staged=staged, seconds=self._seconds())
        yield finished

    def publish_only(self, targets: Sequence[Target], generation: int) -> BuildFinished:
        """Publishes what has been staged before in a generation that exists."""
        self.index.number = generation
        with self.sessions:
            self.index.writable(generation, create=False)
            return self._publish(targets)

    def _publish(self, targets: Sequence[Target]) -> BuildFinished:
        """Makes `targets` the knowledge base, then clears away what nothing refers to."""
        before = self.catalog.state()
        after = self.catalog.publish(targets, self.index.number, self.fingerprint, self.embedder.fingerprint)
        self.published(after)
        if after.version != before.version:
            self.index.clear(self.store(self.index.number, False))
        rows = self.catalog.rows()
        return BuildFinished(
            version=after.version,
            published=True,
            files=sum(row.error is None for row in rows),
            passages=sum(row.passages for row in {row.content: row for row in rows if not row.error}.values()),
            failed=sum(row.error is not None for row in rows),
            seconds=self._seconds(),
        )

    # --- one file -----------------------------------------------------------------------------------------------

    def _file(
        self, entry: Entry, index: int, files: int, store: VectorStore, workers: Workers
    ) -> Generator[BuildEvent, None, Target]:
        """Stages one path, unless its content is known; returns what is to be published for it."""
        self._stop_if_cancelled()
        unopened = entry.error
        try:
            sha256, mtime_ns = self.hasher.sha256(entry, self.cancel) if unopened is None else ("", entry.mtime_ns)
        except OSError as error:
            unopened = f"It cannot be read ({error.strerror or error}): check the file and its permissions."
        if unopened is not None:
            target = Target(entry.path, None, entry.size, entry.mtime_ns, unopened)
            self.catalog.stage_file(target)
            yield FileFinished(row=FileRow(path=entry.path, content="", error=unopened), index=index, files=files)
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
            steps = workers.read(entry.real, sha256, self.fingerprint, self.cancel, self.ocr)
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
