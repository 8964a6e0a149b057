"""Chroma: one collection per index generation, in a folder of its own."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crag.errors import KnowledgeBaseError
from crag.knowledge_base.locks import Gate, hold, sole

Vectors = npt.NDArray[np.float32]

_COLLECTION = "passages"
_CONFIGURATION: Any = {"hnsw": {"space": "cosine", "ef_search": 1000}}
"""Only read at creation; the default ef_search of 100 loses most neighbours at 20 000 vectors."""
_BATCH = 2000
_FILTERED_CONTENTS = 500
"""Up to so many contents Chroma filters by itself; beyond, the caller's filter does."""

_log = logging.getLogger(__name__)


class VectorStoreGoneError(KnowledgeBaseError):
    """The generation's folder was removed, because a newer one is published."""


class VectorStore:
    """Vectors by passage id. Thread-safe; one process may write, others read and `reopen` after a publish.

    While open it holds a shared lock, so that no process removes the folder under it. Raises KnowledgeBaseError.
    """

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        self.folder = folder
        self._gate = Gate()
        folder.parent.mkdir(parents=True, exist_ok=True)
        self._hold = hold(_lock_of(folder))
        try:
            if not create and not folder.is_dir():
                raise VectorStoreGoneError(
                    f"The index folder {folder.name} is missing: build the knowledge base again."
                )
            self._open()
        except BaseException:
            self._hold.close()
            raise

    def _open(self) -> None:
        import chromadb
        from chromadb.config import Settings

        try:
            self._client: Any = chromadb.PersistentClient(
                str(self.folder), settings=Settings(anonymized_telemetry=False)
            )
            self._collection = self._client.get_or_create_collection(
                _COLLECTION, embedding_function=None, configuration=_CONFIGURATION
            )
        except Exception as error:
            raise _damaged(self.folder, error) from error

    def reopen(self) -> None:
        """Makes visible what another process has written; waits for running queries."""
        with self._gate.change():
            self._client.close()
            self._open()

    def close(self) -> None:
        """Gives the folder free; waits for running queries. Not to be used afterwards."""
        with self._gate.change():
            self._client.close()
            self._hold.close()

    def add(self, ids: Sequence[str], vectors: Vectors, contents: Sequence[str]) -> None:
        """Adds or replaces; shapes (n,), (n, dimension), (n,): `contents` are the sha256 of their files."""
        for a in range(0, len(ids), _BATCH):
            b = a + _BATCH
            metadatas: Any = [{"content": content} for content in contents[a:b]]
            with self._gate.read():
                self._call("upsert", ids=list(ids[a:b]), embeddings=vectors[a:b], metadatas=metadatas)

    def remove(self, ids: Sequence[str]) -> None:
        """Removes; unknown ids are passed over."""
        for a in range(0, len(ids), _BATCH):
            with self._gate.read():
                self._call("delete", ids=list(ids[a : a + _BATCH]))

    def ids(self) -> set[str]:
        """All ids, whatever their status in the catalog."""
        with self._gate.read():
            return set(self._call("get", include=[])["ids"])

    def count(self) -> int:
        with self._gate.read():
            return int(self._call("count"))

    def nearest(self, vector: Vectors, contents: Collection[str] | None = None, first: int = 50) -> Iterator[str]:
        """Ids by cosine distance, nearest first, searched for in growing portions as the caller goes on."""
        where: Any = None
        if contents is not None and len(contents) <= _FILTERED_CONTENTS:
            where = {"content": {"$in": sorted(contents)}}
        seen: set[str] = set()
        total, portion = self.count(), max(first, 1)
        while True:
            with self._gate.read():
                found = self._call(
                    "query",
                    query_embeddings=np.asarray(vector, np.float32)[None, :],
                    n_results=min(portion, max(total, 1)),
                    where=where,
                    include=[],
                )["ids"][0]
            new = [identity for identity in found if identity not in seen]
            seen.update(new)
            yield from new
            if not new or portion >= total:
                return
            portion *= 4

    def is_sound(self, vectors: Vectors) -> bool:
        """Whether each of `vectors`, known to be stored, is found again: a lost HNSW file loses them in silence."""
        try:
            with self._gate.read():
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
        lock.unlink(missing_ok=True)
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
