"""The catalog, the truth about what is indexed: contents, files, pages, passages, and which of them are published."""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import sqlalchemy as sa

from crag.events import FileRow
from crag.knowledge_base import publishing
from crag.knowledge_base.database import open_database, writing
from crag.knowledge_base.health import OcrMode
from crag.knowledge_base.publishing import read_state
from crag.knowledge_base.records import Held, Known, Reading, State, Target, Vectors
from crag.knowledge_base.rows import pack, store_reading, unpack
from crag.knowledge_base.tables import (
    DEAD,
    LIVE,
    STAGED,
    content,
    file,
    file_option,
    passage,
    staged_file,
    state,
    strip_vector,
)

_MANY = 500
"""Ids per statement: SQLite limits the number of parameters."""


class Catalog:
    """Opens `catalog.db` on first use, and again when it was deleted or replaced meanwhile. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._engine: sa.Engine | None = None
        self._inode = 0

    @property
    def engine(self) -> sa.Engine:
        """The database, opened again where its file was deleted or replaced. Raises KnowledgeBaseError."""
        with self._lock:
            inode = self.path.stat().st_ino if self.path.exists() else -1
            if self._engine is None or inode != self._inode:
                if self._engine is not None:
                    self._engine.dispose()
                self._engine = open_database(self.path)
                self._inode = self.path.stat().st_ino
            return self._engine

    def close(self) -> None:
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
            self._engine = None

    # --- reading ------------------------------------------------------------------------------------------------

    def state(self) -> State:
        with self.engine.connect() as connection:
            return read_state(connection)

    def files(self) -> dict[str, Known]:
        """The published paths."""
        read = (content.c.sha256, content.c.fingerprint, content.c.transient, content.c.options)
        query = sa.select(file, *read).outerjoin_from(file, content)
        with self.engine.connect() as connection:
            return {
                row.path: Known(
                    row.sha256 or "",
                    row.fingerprint or "",
                    row.size,
                    row.mtime_ns,
                    row.error,
                    bool(row.transient),
                    row.options or "",
                )
                for row in connection.execute(query)
            }

    def rows(self) -> list[FileRow]:
        """The published paths as the page lists them."""
        query = sa.select(file.c.path, file.c.error.label("unopened"), content).outerjoin_from(file, content)
        with self.engine.connect() as connection:
            return [
                FileRow(
                    path=row.path,
                    content=row.sha256 or "",
                    pages=row.pages or 0,
                    passages=row.passages or 0,
                    seconds=row.seconds or 0.0,
                    ocr_pages=row.ocr_pages or 0,
                    warnings=tuple(json.loads(row.warnings or "[]")),
                    error=row.unopened or row.error,
                )
                for row in connection.execute(query.order_by(file.c.path))
            ]

    def held(self, fingerprint: str) -> list[Held]:
        """The contents that have been read under this fingerprint, the live before the staged and the dead."""
        query = sa.select(content).where(content.c.fingerprint == fingerprint)
        order = sa.case({LIVE: 0, STAGED: 1}, value=content.c.status, else_=2)
        with self.engine.connect() as connection:
            return [
                Held(
                    row.id,
                    row.sha256,
                    row.options,
                    row.revision,
                    row.status != DEAD and not row.transient,
                    row.error is not None,
                )
                for row in connection.execute(query.order_by(order))
            ]

    def options(self) -> dict[str, OcrMode]:
        """How paths are to be read; what is not named is read as usual."""
        with self.engine.connect() as connection:
            return {row.path: row.ocr for row in connection.execute(sa.select(file_option))}

    def set_options(self, paths: Iterable[str], ocr: OcrMode) -> None:
        """Remembers how `paths` are to be read from now on."""
        with writing(self.engine) as connection:
            for path in paths:
                connection.execute(sa.delete(file_option).where(file_option.c.path == path))
                connection.execute(sa.insert(file_option).values(path=path, ocr=ocr))

    def targets(self) -> list[Target]:
        """The published paths with the content they refer to."""
        with self.engine.connect() as connection:
            return [Target(*tuple(row)) for row in connection.execute(sa.select(file))]

    def staged(self) -> list[Target]:
        """What an unfinished build has finished: paths that will refer to something else than is published."""
        query = (
            sa.select(staged_file)
            .outerjoin_from(staged_file, file, staged_file.c.path == file.c.path)
            .where(
                file.c.path.is_(None)
                | staged_file.c.content_id.is_distinct_from(file.c.content_id)
                | staged_file.c.error.is_distinct_from(file.c.error)
            )
        )
        with self.engine.connect() as connection:
            return [Target(*tuple(row)) for row in connection.execute(query)]

    def passage_ids(self, fingerprint: str) -> dict[str, str]:
        """Id -> sha256 of every passage, live or staged, under one fingerprint."""
        query = (
            sa.select(passage.c.id, content.c.sha256)
            .join_from(passage, content)
            .where(content.c.fingerprint == fingerprint, content.c.status.in_((LIVE, STAGED)))
        )
        with self.engine.connect() as connection:
            return {row.id: row.sha256 for row in connection.execute(query)}

    def vectors(self, ids: Iterable[str]) -> Iterator[tuple[list[str], Vectors]]:
        """The stored vectors in portions: ids, and shape (ids, dimension)."""
        with self.engine.connect() as connection:
            for some in _portions(sorted(ids)):
                query = sa.select(passage.c.id, passage.c.vector).where(passage.c.id.in_(some))
                rows = connection.execute(query).all()
                if rows:
                    yield [row.id for row in rows], np.stack([unpack(row.vector) for row in rows])

    # --- writing ------------------------------------------------------------------------------------------------

    def begin_generation(self, generation: int, fingerprint: str) -> None:
        """Remembers what is being built; contents staged for anything but it and the published one go."""
        with writing(self.engine) as connection:
            live = read_state(connection).fingerprint
            connection.execute(sa.update(state).values(next_generation=generation, next_fingerprint=fingerprint))
            stale = sa.select(content.c.id).where(
                content.c.status == STAGED, content.c.fingerprint.not_in((fingerprint, live))
            )
            publishing.delete(connection, [row.id for row in connection.execute(stale)])

    def stage(self, reading: Reading) -> int:
        """Stores a content, invisible to questions, in one transaction; returns its id."""
        with writing(self.engine) as connection:
            same = (content.c.sha256 == reading.sha256) & (content.c.fingerprint == reading.fingerprint)
            older = sa.select(content.c.id).where(same, content.c.status == STAGED)
            publishing.delete(connection, [row.id for row in connection.execute(older)])
            inserted = connection.execute(
                sa.insert(content).values(
                    sha256=reading.sha256,
                    fingerprint=reading.fingerprint,
                    status=STAGED,
                    pages=len(reading.pages),
                    passages=len(reading.passages),
                    seconds=round(reading.seconds, 3),
                    warnings=json.dumps(list(reading.warnings)),
                    error=reading.error,
                    transient=reading.transient,
                    ocr_pages=sum(page.facts.ocr for page in reading.pages),
                    options=reading.options,
                    revision=reading.revision,
                )
            )
            assert inserted.inserted_primary_key is not None
            content_id = int(inserted.inserted_primary_key[0])
            if reading.vectors is not None and reading.passages:
                store_reading(connection, content_id, reading, reading.vectors)
            return content_id

    def stage_file(self, target: Target) -> None:
        """Remembers that a build is done with this path."""
        with writing(self.engine) as connection:
            connection.execute(sa.delete(staged_file).where(staged_file.c.path == target.path))
            connection.execute(sa.insert(staged_file).values(**publishing.columns(target)))

    def publish(self, targets: Sequence[Target], generation: int, fingerprint: str, embedding: str) -> State:
        """Makes exactly `targets` the published files, in one transaction. The version moves only if they differ."""
        with writing(self.engine) as connection:
            return publishing.publish(connection, targets, generation, fingerprint, embedding)

    def remove(self, path: str) -> bool:
        """Takes one path out of everything, in one transaction; returns whether it was published."""
        with writing(self.engine) as connection:
            return publishing.remove(connection, path)

    def purge(self) -> None:
        """Deletes the contents that no version refers to any more."""
        with writing(self.engine) as connection:
            publishing.purge(connection)

    # --- vectors of strips --------------------------------------------------------------------------------------

    def save_strips(self, sha256: str, embedding: str, strips: dict[str, Vectors]) -> None:
        """Keeps strip vectors of a live content; passed over where it is gone or the embedding is another."""
        with writing(self.engine) as connection:
            if read_state(connection).embedding != embedding:
                return
            query = sa.select(content.c.id).where(content.c.sha256 == sha256, content.c.status == LIVE)
            content_id = connection.scalar(query)
            if content_id is not None and strips:
                rows = [
                    {"content_id": content_id, "strip_id": key, "vector": pack(vector)}
                    for key, vector in strips.items()
                ]
                connection.execute(sa.insert(strip_vector).prefix_with("OR REPLACE"), rows)

    def load_vectors(self, passages: Collection[str], strips: Collection[str], embedding: str) -> dict[str, Vectors]:
        """The stored vectors of live passages and strips by id, of length 1; none if the embedding is another."""
        found: dict[str, Vectors] = {}
        with self.engine.connect() as connection:
            if read_state(connection).embedding != embedding:
                return found
            for table, key, ids in (
                (passage, passage.c.id, passages),
                (strip_vector, strip_vector.c.strip_id, strips),
            ):
                for some in _portions(sorted(ids)):
                    query = (
                        sa.select(key, table.c.vector)
                        .join_from(table, content, table.c.content_id == content.c.id)
                        .where(key.in_(some), content.c.status == LIVE)
                    )
                    found.update((row[0], unpack(row.vector)) for row in connection.execute(query))
        return found


def _portions(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _MANY):
        yield ids[start : start + _MANY]
