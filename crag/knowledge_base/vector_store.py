"""Chroma: one collection per index generation, in a folder of its own."""

from __future__ import annotations

import logging
import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crag.errors import KnowledgeBaseError
from crag.knowledge_base.locks import Gate, hold, sole

Vectors = npt.NDArray[np.float32]

_COLLECTION = "passages"
_CONFIGURATION: Any = {"hnsw": {"space": "cosine", "ef_search": 1000, "max_neighbors": 32, "ef_construction": 200}}
"""Only read at creation. The default ef_search of 100 loses most neighbours at 20 000 vectors; the default 16
neighbours leave vectors of near-duplicate passages unreachable (22 of 1 440 did not find themselves; with 32, none)."""
_BATCH = 2000

_QUERIES_WAIT = 60.0

_log = logging.getLogger(__name__)


class VectorStoreGoneError(KnowledgeBaseError):
    """The generation's folder was removed, because a newer one is published."""


class VectorStore:
    """Vectors by passage id. Thread-safe. Raises KnowledgeBaseError.

    Chroma damages its index in silence when one process reads or writes while another writes. So a writer holds the
    access lock for its whole session, readers of other processes are refused meanwhile, and whoever finds that
    another process has written opens the folder afresh. While a store lives, no process removes its folder.
    """

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        self.folder = folder
        self._gate = Gate()
        self._client: Any = None
        self._collection: Any = None
        self._seen = ""
        self.session_before = ""
        self._writing = False
        folder.parent.mkdir(parents=True, exist_ok=True)
        self._hold = hold(_lock_of(folder))
        if not create and not folder.is_dir():
            self._hold.close()
            raise VectorStoreGoneError(f"The index folder {folder.name} is missing: build the knowledge base again.")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A session of writing: `add` and `remove` are called inside it; waits for the queries of other processes.

        `session` is its name, `session_before` that of the one before it, of whatever process.
        """
        with sole(self.folder.with_suffix(".access"), _QUERIES_WAIT) as alone:
            if not alone:
                raise KnowledgeBaseError("Another process reads the index without end: close it and build again.")
            self._refresh()
            self.session_before = self._seen
            self._seen = uuid.uuid4().hex
            self.folder.with_suffix(".writer").write_text(self._seen)
            self._writing = True
            try:
                yield
            finally:
                self._writing = False

    @contextmanager
    def _reading(self) -> Iterator[None]:
        if self._writing:
            with self._gate.read():
                yield
            return
        with hold(self.folder.with_suffix(".access"), wait=False):
            self._refresh()
            with self._gate.read():
                yield

    def _refresh(self) -> None:
        """Opens the folder, or opens it again when another process has written since; waits for running queries."""
        writer = self.folder.with_suffix(".writer")
        last = writer.read_text() if writer.exists() else ""
        if self._client is not None and last == self._seen:
            return
        with self._gate.change():
            if self._client is None or last != self._seen:
                self._shut()
                self._open()
                self._seen = last

    def _open(self) -> None:
        import chromadb
        from chromadb.config import Settings

        try:
            self._client = chromadb.PersistentClient(str(self.folder), settings=Settings(anonymized_telemetry=False))
            self._collection = self._client.get_or_create_collection(
                _COLLECTION, embedding_function=None, configuration=_CONFIGURATION
            )
        except Exception as error:
            raise _damaged(self.folder, error) from error

    def _shut(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None

    def in_place(self) -> bool:
        """Whether its folder is still the one that was opened."""
        try:
            same = os.fstat(self._hold.fileno()).st_ino == _lock_of(self.folder).stat().st_ino
        except OSError:
            return False
        return same and self.folder.is_dir()

    def close(self) -> None:
        """Gives the folder free; waits for running queries. Not to be used afterwards."""
        with self._gate.change():
            self._shut()
            self._hold.close()

    def add(self, ids: Sequence[str], vectors: Vectors, contents: Sequence[str]) -> None:
        """Adds or replaces; shapes (n,), (n, dimension), (n,): `contents` are the sha256 of their files."""
        for a in range(0, len(ids), _BATCH):
            b = a + _BATCH
            metadatas: Any = [{"content": content} for content in contents[a:b]]
            with self._reading():
                self._call("upsert", ids=list(ids[a:b]), embeddings=vectors[a:b], metadatas=metadatas)

    def remove(self, ids: Sequence[str]) -> None:
        """Removes; unknown ids are passed over."""
        for a in range(0, len(ids), _BATCH):
            with self._reading():
                self._call("delete", ids=list(ids[a : a + _BATCH]))

    def ids(self) -> set[str]:
        """All ids, whatever their status in the catalog."""
        with self._reading():
            return set(self._call("get", include=[])["ids"])

    @property
    def session(self) -> str:
        """The last session of writing that was seen here."""
        return self._seen

    def count(self) -> int:
        """How many vectors there are, whatever their status in the catalog."""
        with self._reading():
            return int(self._call("count"))

    def nearest(self, vector: Vectors, first: int = 50) -> Iterator[list[str]]:
        """Ids by cosine distance, nearest first, in growing portions that are searched for as the caller goes on."""
        seen: set[str] = set()
        portion = max(first, 1)
        while True:
            query = np.asarray(vector, np.float32)[None, :]
            with self._reading():
                found = self._call("query", query_embeddings=query, n_results=portion, include=[])["ids"][0]
            new = [identity for identity in found if identity not in seen]
            seen.update(new)
            yield new
            if len(found) < portion:
                return
            portion *= 4

    def is_sound(self, vectors: Vectors) -> bool:
        """Whether each of `vectors`, known to be stored, is found again: a lost HNSW file loses them in silence."""
        try:
            with self._reading():
                found = self._call("query", query_embeddings=vectors, n_results=1, include=["distances"])
        except KnowledgeBaseError:
            return False
        distances = found["distances"]
        return all(row and row[0] < 0.01 for row in distances)

    def _call(self, method: str, **arguments: Any) -> Any:
        try:
            return getattr(self._collection, method)(**arguments)
        except Exception as error:
            raise _damaged(self.folder, error) from error


def remove_folder(folder: Path) -> bool:
    """Deletes a generation unless a store of any process is open on it; returns whether it is gone."""
    lock = _lock_of(folder)
    with sole(lock) as free:
        if not free:
            return False
        shutil.rmtree(folder, ignore_errors=True)
        gone = not folder.exists()
    if gone:
        for beside in (lock, folder.with_suffix(".access"), folder.with_suffix(".writer")):
            beside.unlink(missing_ok=True)
    else:
        _log.warning("The old index folder %s could not be deleted; the next build tries again.", folder)
    return gone


def _lock_of(folder: Path) -> Path:
    return folder.with_name(folder.name + ".lock")


def _damaged(folder: Path, error: Exception) -> KnowledgeBaseError:
    brief = " ".join(str(error).split())[:200]
    return KnowledgeBaseError(
        f"The vectors in {folder.name} cannot be used ({brief}): build the knowledge base again, "
        "they are restored from the catalog without embedding."
    )
