"""The index generation that a build writes to: chosen, mended, in step with the catalog, cleared of the old."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from crag.errors import KnowledgeBaseError
from crag.knowledge_base.catalog import Catalog
from crag.knowledge_base.locks import sole
from crag.knowledge_base.records import State
from crag.knowledge_base.vector_store import VectorStore, remove_folder

_READERS_WAIT = 5.0
"""Seconds to wait for questions on the old version before its vectors are left to the next build."""
_SAMPLE = 32

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
    number: int = 0

    def prepare(self, state: State) -> VectorStore:
        """The store to write to, in step with the catalog: a crash or a damaged index is mended here."""
        if state.generation and state.fingerprint == self.fingerprint:
            self.number = state.generation
            if generation_folder(self.chroma_dir, self.number).is_dir():
                try:
                    store = self.writable(self.number, False)
                    self._reconcile(store)
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
        self._remove_old_folders({state.generation, self.number})
        store = self.writable(self.number, True)
        self._reconcile(store)
        return store

    def writable(self, generation: int, create: bool) -> VectorStore:
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

    def clear(self, store: VectorStore) -> None:
        """After a publish: dead contents, their vectors and old generations go; what is in use waits."""
        self.catalog.purge()
        extra = store.ids() - self.catalog.passage_ids(self.fingerprint).keys()
        if extra:
            self._remove_vectors(store, extra)
        self._remove_old_folders({self.number})

    def _remove_vectors(self, store: VectorStore, ids: set[str]) -> None:
        with sole(snapshots_lock(self.chroma_dir), _READERS_WAIT) as nobody_reads:
            if nobody_reads:
                store.remove(sorted(ids))

    def _remove_old_folders(self, kept: set[int]) -> None:
        for folder in self.chroma_dir.glob("index-*"):
            number = folder.name[6:]
            if folder.is_dir() and number.isdigit() and int(number) not in kept:
                remove_folder(folder)
