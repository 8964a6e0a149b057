"""Opens the catalog's database (SQLite in WAL mode) and brings its schema up to date."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from crag.errors import KnowledgeBaseError

HEAD = "0001"
_MIGRATIONS = Path(__file__).parent / "migrations"


def open_database(path: Path) -> sa.Engine:
    """An engine on the catalog at `path`, created or migrated where needed. Raises KnowledgeBaseError.

    Transactions that write are opened with `writing(engine)`: they take SQLite's write lock at their start.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    engine = sa.create_engine(sa.engine.URL.create("sqlite", database=str(path)), max_overflow=64)
    sa.event.listen(engine, "connect", _configure)
    sa.event.listen(engine, "begin", _begin)
    sa.event.listen(engine, "handle_error", _in_a_sentence)
    try:
        _migrate(engine)
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


def _in_a_sentence(context: sa.engine.ExceptionContext) -> KnowledgeBaseError | None:
    """What is raised for a full disk, a locked or a damaged file: never SQL and its parameters, but what to do."""
    error = context.original_exception
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, (sqlite3.IntegrityError, sqlite3.ProgrammingError)
    ):
        return KnowledgeBaseError(
            f"The catalog cannot be used ({error}): make room on the disk or free the file; if it is damaged, delete "
            "the index folder's contents and build again."
        )
    return None


def _begin(connection: sa.Connection) -> None:
    write = connection.get_execution_options().get("crag_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")


def _migrate(engine: sa.Engine) -> None:
    if _revision(engine) == HEAD:
        return
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    with writing(engine) as connection:
        config = Config()
        config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError:
            raise KnowledgeBaseError(
                "The index was made by a newer version of this program: update it, or delete the index and build again."
            ) from None


def _revision(engine: sa.Engine) -> str | None:
    with engine.connect() as connection:
        if not sa.inspect(connection).has_table("alembic_version"):
            return None
        revision: str | None = connection.scalar(sa.text("SELECT version_num FROM alembic_version"))
        return revision
