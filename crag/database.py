"""SQLite files that outlive a process: opened in WAL mode, migrated by Alembic, their failures told in a sentence."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from crag.errors import CragError


@dataclass(frozen=True)
class Kind:
    """What sets one database apart: its schema, and how its failures are told."""

    migrations: Path
    """Folder of its Alembic migrations."""
    head: str
    """The newest revision; a database at it is not migrated."""
    error: type[CragError]
    broken: str
    """The sentence for a full disk, a locked or a damaged file; `{cause}` is SQLite's own word."""
    newer: str
    """The sentence for a file that a newer version of this program has written."""


def open_database(path: Path, kind: Kind) -> sa.Engine:
    """An engine on the file at `path`, created or migrated where needed. Raises `kind.error`.

    Transactions that write are opened with `writing(engine)`: they take SQLite's write lock at their start.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise kind.error(kind.broken.format(cause=error.strerror)) from error
    engine = sa.create_engine(sa.engine.URL.create("sqlite", database=str(path)), max_overflow=64)

    def in_a_sentence(context: sa.engine.ExceptionContext) -> CragError | None:
        """Never SQL and its parameters, but what to do."""
        error = context.original_exception
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(
            error, (sqlite3.IntegrityError, sqlite3.ProgrammingError)
        ):
            return kind.error(kind.broken.format(cause=error))
        return None

    sa.event.listen(engine, "connect", _configure)
    sa.event.listen(engine, "begin", _begin)
    sa.event.listen(engine, "handle_error", in_a_sentence)
    try:
        _migrate(engine, kind)
    except BaseException:
        engine.dispose()
        raise
    return engine


def writing(engine: sa.Engine) -> Any:
    """Context manager of a connection in a write transaction: committed at its end, undone on an error."""
    return engine.execution_options(crag_write=True).begin()


def _configure(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by `_begin`, not by the driver
    for pragma in ("busy_timeout = 20000", "journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: sa.Connection) -> None:
    write = connection.get_execution_options().get("crag_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _migrate(engine: sa.Engine, kind: Kind) -> None:
    if _revision(engine) == kind.head:
        return
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    with writing(engine) as connection:
        config = Config()
        config.set_main_option("script_location", str(kind.migrations).replace("%", "%%"))
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError:
            raise kind.error(kind.newer) from None


def _revision(engine: sa.Engine) -> str | None:
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table("alembic_version"):
            return None
        revision: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
        return revision
