"""What keeps catalog and vectors in step from build to build, and small: seals, gone vectors, samples, room on disk."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa

from crag.database import writing
from crag.knowledge_base.tables import DEAD, content, gone_vector, passage, state

_MANY = 500
_WASTE_SHARE = 1 / 3
_WASTE_BYTES = 16 * 2**20
"""From so much unused room on, absolutely and of the whole file, the catalog is written anew."""

_log = logging.getLogger(__name__)


def seal(engine: sa.Engine, session: str, vectors: int) -> None:
    """Notes that after this session of writing the index holds the catalog's passages and what is noted as gone."""
    with writing(engine) as connection:
        connection.execute(sa.update(state).values(sealed=session, vectors=vectors))


def gone_vectors(engine: sa.Engine) -> list[str]:
    """Ids whose vectors have to go; those of passages that exist again are not among them."""
    query = sa.select(gone_vector.c.id).where(gone_vector.c.id.not_in(sa.select(passage.c.id)))
    with engine.connect() as connection:
        return list(connection.scalars(query))


def note_gone(engine: sa.Engine, ids: Sequence[str]) -> None:
    """Vectors of `ids`, which no passage has, are to be removed from the index."""
    if ids:
        with writing(engine) as connection:
            connection.execute(sa.insert(gone_vector).prefix_with("OR IGNORE"), [{"id": one} for one in ids])


def forget_gone(engine: sa.Engine, ids: Sequence[str]) -> None:
    """The index has forgotten `ids`; their room stays used until a fresh generation is made."""
    with writing(engine) as connection:
        for start in range(0, len(ids), _MANY):
            connection.execute(sa.delete(gone_vector).where(gone_vector.c.id.in_(ids[start : start + _MANY])))
        connection.execute(sa.update(state).values(removed=state.c.removed + len(ids)))


def sample_ids(engine: sa.Engine, fingerprint: str, n: int) -> list[str]:
    """Up to `n` ids spread over the passages of one fingerprint; costs as little for many as for few."""
    lived = (content.c.fingerprint == fingerprint) & (content.c.status != DEAD)
    with engine.connect() as connection:
        low, high = connection.execute(sa.select(sa.func.min(passage.c.row), sa.func.max(passage.c.row))).one()
        if low is None:
            return []
        rows = sorted({low + (high - low) * step // max(1, n - 1) for step in range(n)})
        found = [
            connection.scalar(
                sa.select(passage.c.id)
                .join_from(passage, content)
                .where(passage.c.row >= row, lived)
                .order_by(passage.c.row)
                .limit(1)
            )
            for row in rows
        ]
    return sorted({identity for identity in found if identity is not None})


def give_back_room(engine: sa.Engine) -> None:
    """Writes the catalog anew where much of its file is unused. A failure costs nothing but the room."""
    with engine.connect() as connection:
        pages, unused, size = (
            int(connection.exec_driver_sql(f"PRAGMA {name}").scalar() or 0)
            for name in ("page_count", "freelist_count", "page_size")
        )
    if unused * size < _WASTE_BYTES or unused < pages * _WASTE_SHARE:
        return
    raw = engine.raw_connection()  # SQLAlchemy would begin a transaction, in which nothing can be vacuumed
    try:
        raw.cursor().execute("VACUUM")
        raw.cursor().execute("PRAGMA busy_timeout = 1000")  # running questions keep the log a while longer
        raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        _log.warning("the catalog keeps its unused room: %s", error)
    finally:
        raw.invalidate()  # closed, with its setting, and not used again


def size_on_disk(folder: Path) -> int:
    """Bytes of everything below `folder`; 0 where there is nothing."""
    total = 0
    for directory, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(directory, name).stat().st_size
            except OSError:  # an old generation is being deleted
                continue
    return total
