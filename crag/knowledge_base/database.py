"""Opens the catalog's database (SQLite in WAL mode) and brings its schema up to date."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa

from crag import database
from crag.database import Kind, writing
from crag.errors import KnowledgeBaseError

__all__ = ["HEAD", "open_database", "writing"]

HEAD = "0004"
_CATALOG = Kind(
    migrations=Path(__file__).parent / "migrations",
    head=HEAD,
    error=KnowledgeBaseError,
    broken="The catalog cannot be used ({cause}): make room on the disk or free the file; if it is damaged, delete "
    "the index folder's contents and build again.",
    newer="The index was made by a newer version of this program: update it, or delete the index and build again.",
)


def open_database(path: Path) -> sa.Engine:
    """An engine on the catalog at `path`, created or migrated where needed. Raises KnowledgeBaseError.

    Transactions that write are opened with `writing(engine)`: they take SQLite's write lock at their start.
    """
    return database.open_database(path, _CATALOG)
