"""The index generation that a build writes to: chosen, mended, in step with the catalog, cleared of the old."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from crag.errors import KnowledgeBaseError
from crag.knowledge_base import upkeep
from crag.knowledge_base.catalog import Catalog
from crag.knowledge_base.locks import sole
from crag.knowledge_base.records import State
from crag.knowledge_base.vector_store import VectorStore, remove_folder

_READERS_WAIT = 5.0
"""Seconds to wait for questions on the old version before its vectors are left to the next build."""
_SAMPLE = 32
_BLOAT_LEAST = 5000
_BLOAT_SHARE = 0.5
"""So many vectors removed, and so many for each that is there, and the index is made anew from the stored vectors."""

_log = logging.getLogger(__name__)


def generation_folder(chroma_dir: Path, generation: int) -> Path:
    return chroma_dir / f"index-{generation}"


def snapshots_lock(chroma_dir: Path) -> Path:
    """Questions of every process hold this lock while they read one version."""
    return chroma_dir / "snapshots.lock"


@dataclass
class Generation:
    """One generation, `number` (from 1), of one index fingerprint. `store` opens a generation's vectors; what is opened
    for writing closes with `sessions`."""

    chroma_dir: Path
    catalog: Catalog
    fingerprint: str
    store: Callable[[int, bool], VectorStore]
    sessions: ExitStack
    stop_if_cancelled: Callable[[], None]
    number: int = 0

    def prepare(self, state: State) -> VectorStore:
        """The store to write to, in step with the catalog: a crash or a damaged index is mended here."""
        if state.generation and state.fingerprint == self.fingerprint:
            self.number = state.generation
            if generation_folder(self.chroma_dir, self.number).is_dir():
                try:
                    store = self.opened(state)
                    if self._is_sound(store):
                        return store
                except KnowledgeBaseError as error:
                    _log.warning("the index %s is rebuilt from stored vectors: %s", self.number, error)
            self.number = self._new_generation(state)
        elif state.next_generation and state.next_fingerprint == self.fingerprint:
            self.number = state.next_generation
        else:
            self.number = self._new_generation(state)
        self.catalog.begin_generation(self.number, self.fingerprint)
        self.remove_old_folders({state.generation, self.number})
        store = self.writable(self.number, True)
        self._reconcile(store)
        return store

    def opened(self, state: State) -> VectorStore:
        """The store of the generation `number`, open for writing and in step with the catalog.

        Where the last session of writing ended in order and nobody has written since, nothing needs comparing.
        """
        store = self.writable(self.number, False)
        if state.sealed != self._seal(store.session_before) or store.count() != state.vectors:
            self._reconcile(store)
        self._sweep(store)
        return store

    def writable(self, generation: int, create: bool) -> VectorStore:
        """The store of a generation, open for writing until the end of the build."""
        store = self.store(generation, create)
        self.sessions.enter_context(store.writing())
        return store

    def seal(self, store: VectorStore) -> None:
        """The session ends in order: store and catalog are in step."""
        upkeep.seal(self.catalog.engine, self._seal(store.session), store.count())

    def clear(self, store: VectorStore) -> None:
        """After a publish: dead contents, their vectors and old generations go; what is in use waits."""
        self.catalog.purge()
        self._sweep(store)
        self.remove_old_folders({self.number})

    def is_bloated(self, store: VectorStore) -> bool:
        """Whether what was removed, whose room the index keeps, is much against what it holds."""
        removed = self.catalog.state().removed
        return removed >= _BLOAT_LEAST and removed > _BLOAT_SHARE * store.count()

    def begin_compaction(self) -> VectorStore:
        """An empty store in a folder of its own; `number` is its generation from now on."""
        self.number = self._new_generation(self.catalog.state())
        return self.writable(self.number, True)

    def refill(self, store: VectorStore) -> Iterator[tuple[int, int]]:
        """Passages without a vector get theirs back from the catalog; yields (done, in all)."""
        wanted = self.catalog.passage_ids(self.fingerprint)
        missing = wanted.keys() - store.ids()
        done = 0
        for ids, vectors in self.catalog.vectors(missing):
            store.add(ids, vectors, [wanted[identity] for identity in ids])
            done += len(ids)
            yield done, len(missing)

    def remove_old_folders(self, kept: set[int]) -> None:
        """Deletes the folders of other generations, but for those that are still read."""
        for folder in self.chroma_dir.glob("index-*"):
            number = folder.name[6:]
            if folder.is_dir() and number.isdigit() and int(number) not in kept:
                remove_folder(folder)

    def _seal(self, session: str) -> str:
        return f"{self.number}:{session}" if session else ""

    def _new_generation(self, state: State) -> int:
        taken = [int(path.name[6:]) for path in self.chroma_dir.glob("index-*") if path.name[6:].isdigit()]
        return max([state.generation, state.next_generation, *taken]) + 1

    def _reconcile(self, store: VectorStore) -> None:
        """Vectors without a passage go, passages without a vector get theirs back from the catalog."""
        extra = store.ids() - self.catalog.passage_ids(self.fingerprint).keys()
        upkeep.note_gone(self.catalog.engine, sorted(extra))
        self._sweep(store)
        for _ in self.refill(store):
            self.stop_if_cancelled()

    def _is_sound(self, store: VectorStore) -> bool:
        sample = upkeep.sample_ids(self.catalog.engine, self.fingerprint, _SAMPLE)
        return all(store.is_sound(vectors) for _, vectors in self.catalog.vectors(sample))

    def _sweep(self, store: VectorStore) -> None:
        """Removes the vectors of deleted passages, at the cost of these alone; while questions run, the next build."""
        gone = upkeep.gone_vectors(self.catalog.engine)
        if not gone:
            return
        with sole(snapshots_lock(self.chroma_dir), _READERS_WAIT) as nobody_reads:
            if not nobody_reads:
                return
            store.remove(gone)
        upkeep.forget_gone(self.catalog.engine, gone)
