"""One version of the knowledge base, pinned: a read transaction of the catalog and the vectors of its generation."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Collection, Sequence

import numpy as np
import sqlalchemy as sa

from crag.errors import IndexMismatchError, KnowledgeBaseError
from crag.knowledge_base import lexical_index
from crag.knowledge_base.kept_vectors import dimension_under
from crag.knowledge_base.records import State, Vectors
from crag.knowledge_base.rows import SPANS, STRIPS
from crag.knowledge_base.tables import LIVE, content, file, passage
from crag.knowledge_base.telling_headings import is_telling
from crag.knowledge_base.vector_store import VectorStore
from crag.schema import Document

_log = logging.getLogger(__name__)

_MANY = 500
_EXACT, _EXACT_SHARE = 2_000, 0.1
"""Up to so many passages of the chosen files, or where these are so small a share, all of them are compared."""
_WIDER = 2
"""So many times a search with a filter grows fourfold before all passages of the chosen files are compared."""


class Snapshot:
    """What `KnowledgeBase.snapshot` yields. Thread-safe; not to be used after its end."""

    def __init__(self, connection: sa.Connection, state: State, store: VectorStore) -> None:
        self._connection = connection
        self._store = store
        self._lock = threading.Lock()
        self.version = state.version

    @property
    def size(self) -> int:
        """Number of live passages."""
        with self._lock:
            return live_passages(self._connection)

    def dense(self, vector: Vectors, n: int, contents: Collection[str] | None = None) -> list[str]:
        """Ids of the live passages nearest to `vector` (shape (dimension,)), nearest first, at most `n`.

        `contents` (sha256) limits the search. Staged and dead vectors are passed over by searching wider. Raises
        IndexMismatchError where the index holds vectors of another size.
        """
        self._refuse_other(len(vector))
        chosen = None if contents is None else frozenset(contents)
        if chosen is not None and self._are_few(chosen):
            return self._exact(vector, n, chosen)  # surer than a filter inside Chroma, and as quick
        try:
            found = self._from_store(vector, n, chosen)
        except KnowledgeBaseError as error:
            _log.info("exact search instead: %s", error)
            found = []
        if len(found) < n and len(found) < self._searchable(chosen)[0]:
            found = self._exact(vector, n, chosen)  # Chroma failed, lost vectors in silence, or has others nearer
        return found

    def _refuse_other(self, size: int) -> None:
        with self._lock:
            held = dimension_under(self._connection)
        if held is not None and held != size:
            raise IndexMismatchError(
                f"The embedding makes vectors of {size} numbers, those of the index have {held}: another model answers "
                "to its name. Choose the model that the index was built with, or empty the folder of the index and "
                "build again."
            )

    def _from_store(self, vector: Vectors, n: int, contents: Collection[str] | None) -> list[str]:
        """Searches wider until there are `n`; with a filter only so far, since everything nearer may be left out."""
        found: list[str] = []
        for turn, portion in enumerate(self._store.nearest(vector, first=n + 20)):
            found += self._live(portion, contents)
            if len(found) >= n or (contents is not None and turn >= _WIDER):
                break
        return found[:n]

    def _exact(self, vector: Vectors, n: int, contents: Collection[str] | None) -> list[str]:
        """The same from the vectors in the catalog: slower (0.4 s for 100 000), and independent of Chroma."""
        query = sa.select(passage.c.id, passage.c.vector).join_from(content, passage)
        if contents is not None:
            query = query.where(content.c.sha256.in_(_members(contents)))
        ids: list[str] = []
        cosines: list[Vectors] = []
        with self._lock:
            for rows in self._connection.execute(query.where(content.c.status == LIVE)).partitions(5000):
                ids += [row.id for row in rows]
                matrix = np.frombuffer(b"".join(row.vector for row in rows), np.float16).reshape(len(rows), -1)
                single = matrix.astype(np.float32)
                cosines.append(single @ vector / np.maximum(np.linalg.norm(single, axis=1), 1e-6))
        if not cosines:
            return []
        return [ids[place] for place in np.argsort(-np.concatenate(cosines), kind="stable")[:n]]

    def _are_few(self, contents: Collection[str]) -> bool:
        there, everything = self._searchable(contents)
        return there <= _EXACT or there < _EXACT_SHARE * everything

    def _searchable(self, contents: Collection[str] | None) -> tuple[int, int]:
        """How many live passages the chosen contents have, and how many there are."""
        query = sa.select(content.c.sha256, content.c.passages).where(content.c.status == LIVE)
        with self._lock:
            rows = self._connection.execute(query).all()
        chosen = sum(row.passages for row in rows if contents is None or row.sha256 in contents)
        return chosen, sum(row.passages for row in rows)

    def lexical(self, question: str, n: int, contents: Collection[str] | None = None) -> list[str]:
        """Ids of the live passages that share words with the question, best BM25 first, at most `n`."""
        with self._lock:
            return lexical_index.search(self._connection, question, n, contents)

    def contents(self, files: Collection[str]) -> dict[str, str]:
        """Path -> sha256 of those of `files` that can be asked; what is not indexed is left out."""
        query = (
            sa.select(file.c.path, content.c.sha256)
            .join_from(file, content)
            .where(content.c.status == LIVE, content.c.passages > 0, file.c.path.in_(_members(files)))
        )
        with self._lock:
            return {row.path: row.sha256 for row in self._connection.execute(query)}

    def documents(self, ids: Sequence[str]) -> list[Document]:
        """The passages in the given order with all paths of their content; ids that are not live are left out."""
        found: dict[str, Document] = {}
        with self._lock:
            for start in range(0, len(ids), _MANY):
                query = (
                    sa.select(passage, content.c.sha256)
                    .join_from(passage, content)
                    .where(passage.c.id.in_(ids[start : start + _MANY]), content.c.status == LIVE)
                )
                rows = self._connection.execute(query).all()
                paths = self._paths({row.content_id for row in rows})
                found.update({row.id: _document(row, paths[row.content_id]) for row in rows})
        return [found[identity] for identity in ids if identity in found]

    def headings(self, n: int) -> list[tuple[str, str]]:
        """Up to `n` headings as (file, heading), spread over the files in turn; for example questions."""
        query = (
            sa.select(file.c.path, passage.c.heading)
            .join_from(file, content)
            .join(passage, passage.c.content_id == content.c.id)
            .where(content.c.status == LIVE, passage.c.heading != "")
            .order_by(file.c.path, passage.c.number)
        )
        by_file: dict[str, list[str]] = {}
        with self._lock:
            for path, heading in self._connection.execute(query):
                known = by_file.setdefault(path, [])
                if len(known) < n and heading not in known and is_telling(heading):
                    known.append(heading)
        turns = [(path, known[turn]) for turn in range(n) for path, known in by_file.items() if turn < len(known)]
        return turns[:n]

    def _live(self, ids: Sequence[str], contents: Collection[str] | None) -> list[str]:
        live: set[str] = set()
        with self._lock:
            for start in range(0, len(ids), _MANY):
                query = (
                    sa.select(passage.c.id, content.c.sha256)
                    .join_from(passage, content)
                    .where(passage.c.id.in_(ids[start : start + _MANY]), content.c.status == LIVE)
                )
                live.update(row.id for row in self._connection.execute(query) if contents is None or row[1] in contents)
        return [identity for identity in ids if identity in live]

    def _paths(self, content_ids: Collection[int]) -> dict[int, tuple[str, ...]]:
        query = sa.select(file.c.content_id, file.c.path).where(file.c.content_id.in_(content_ids))
        paths: dict[int, tuple[str, ...]] = {}
        for owner, path in self._connection.execute(query.order_by(file.c.path)):
            paths[owner] = (*paths.get(owner, ()), path)
        return paths


def _members(values: Collection[str]) -> sa.Select[tuple[str]]:
    """Any number of values as one parameter: SQLite limits how many a statement may have."""
    each = sa.func.json_each(json.dumps(sorted(values))).table_valued("value")
    return sa.select(each.c.value)


def live_passages(connection: sa.Connection) -> int:
    """Number of passages that can be asked."""
    query = sa.select(sa.func.coalesce(sa.func.sum(content.c.passages), 0)).where(content.c.status == LIVE)
    return int(connection.scalar(query) or 0)


def _document(row: sa.Row[tuple[object, ...]], paths: tuple[str, ...]) -> Document:
    return Document(
        id=row.id,
        content=row.sha256,
        files=paths,
        number=row.number,
        text=row.text,
        heading=row.heading,
        spans=SPANS.validate_json(row.spans),
        strips=STRIPS.validate_json(row.strips),
    )
