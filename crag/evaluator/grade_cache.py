"""What the LLM judge has said before, kept in a SQLite file: losing it costs a call, never an answer."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import insert

log = logging.getLogger(__name__)

T = TypeVar("T")

LIMIT: Final = 50_000
"""Entries kept, about 50 MB. Beyond it those not used for longest go, down to nine tenths."""
_AT_ONCE: Final = 500
"""Keys per statement."""

_KEPT: Final = sa.Table(
    "kept",
    sa.MetaData(),
    sa.Column("key", sa.String, primary_key=True),
    sa.Column("value", sa.String, nullable=False),
    sa.Column("made", sa.String, nullable=False),  # ISO days: they sort as they follow each other
    sa.Column("used", sa.String, nullable=False, index=True),
)


class GradeCache:
    """Texts by key, each with the day it was made. Blocking, thread-safe; several processes may share the file.

    Nothing here raises: a file that cannot be used holds nothing, and a damaged one is set aside as `*.damaged`.
    """

    def __init__(self, path: Path, limit: int = LIMIT) -> None:
        self._path = path
        self._limit = limit
        self._engine: sa.Engine | None = None
        self._lock = threading.Lock()

    def get(self, keys: Iterable[str], since: date, today: date) -> dict[str, str]:
        """What is kept under those of `keys` that have something made on the day `since` or later."""
        wanted = list(dict.fromkeys(keys))

        def read(connection: sa.Connection) -> dict[str, str]:
            found: dict[str, str] = {}
            for start in range(0, len(wanted), _AT_ONCE):
                among = _KEPT.c.key.in_(wanted[start : start + _AT_ONCE])
                fresh = sa.and_(among, _KEPT.c.made >= since.isoformat())
                rows = connection.execute(sa.select(_KEPT.c.key, _KEPT.c.value, _KEPT.c.used).where(fresh)).all()
                found.update({key: value for key, value, _ in rows})
                if any(used < today.isoformat() for _, _, used in rows):
                    connection.execute(sa.update(_KEPT).where(fresh).values(used=today.isoformat()))
            return found

        return self._done(read) or {} if wanted else {}

    def put(self, values: Mapping[str, str], today: date) -> None:
        """Keeps `values` by key, in place of what was there."""
        rows = [
            {"key": key, "value": value, "made": today.isoformat(), "used": today.isoformat()}
            for key, value in values.items()
        ]

        def write(connection: sa.Connection) -> None:
            new = insert(_KEPT)
            connection.execute(
                new.on_conflict_do_update(
                    index_elements=[_KEPT.c.key],
                    set_={name: new.excluded[name] for name in ("value", "made", "used")},
                ),
                rows,
            )
            self._prune(connection)

        if rows:
            self._done(write)

    def close(self) -> None:
        """Lets go of the file; it is opened again when it is needed."""
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
            self._engine = None

    def _prune(self, connection: sa.Connection) -> None:
        held = connection.scalar(sa.select(sa.func.count()).select_from(_KEPT)) or 0
        if held > self._limit:
            oldest = sa.select(_KEPT.c.key).order_by(_KEPT.c.used, _KEPT.c.made).limit(held - int(0.9 * self._limit))
            connection.execute(sa.delete(_KEPT).where(_KEPT.c.key.in_(oldest)))

    def _done(self, work: Callable[[sa.Connection], T]) -> T | None:
        """The result of `work`; None where the file cannot be used. A damaged one is set aside first."""
        for attempt in (1, 2):
            try:
                with self._opened().begin() as connection:
                    return work(connection)
            except (sa.exc.SQLAlchemyError, OSError) as error:
                log.info("the cache of grades cannot be used: %s", type(error).__name__)
                if attempt == 2 or not _damaged(error) or not self._set_aside():
                    return None
        return None

    def _opened(self) -> sa.Engine:
        with self._lock:
            if self._engine is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                engine = sa.create_engine(sa.engine.URL.create("sqlite", database=str(self._path)))
                sa.event.listen(engine, "connect", _configure)
                try:
                    with engine.begin() as connection:  # whoever else opens it meanwhile may be first
                        connection.execute(sa.schema.CreateTable(_KEPT, if_not_exists=True))
                        for index in _KEPT.indexes:
                            connection.execute(sa.schema.CreateIndex(index, if_not_exists=True))
                except BaseException:
                    engine.dispose()
                    raise
                self._engine = engine
            return self._engine

    def _set_aside(self) -> bool:
        self.close()
        with self._lock:
            try:
                os.replace(self._path, self._path.with_name(f"{self._path.name}.damaged"))
                self._path.with_name(f"{self._path.name}-journal").unlink(missing_ok=True)
            except OSError:
                return False
        log.warning("the cache of grades was damaged; it lies beside the new one as %s.damaged", self._path.name)
        return True


def _configure(connection: Any, _record: object) -> None:
    for pragma in ("busy_timeout = 5000", "synchronous = NORMAL"):
        connection.execute(f"PRAGMA {pragma}")


def _damaged(error: Exception) -> bool:
    """Whether the file itself is broken or of another make: neither locked, nor full, nor read-only."""
    cause = getattr(error, "orig", None)
    code = getattr(cause, "sqlite_errorcode", None)
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return True
    return isinstance(cause, sqlite3.OperationalError) and str(cause).startswith(("no such column", "table kept has"))
