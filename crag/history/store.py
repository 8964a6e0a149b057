"""The database of people's own things: labels, conversations, golden questions, personal settings."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import sqlalchemy as sa

from crag.database import Kind, open_database
from crag.errors import HistoryError

HEAD: Final = "0004"
FILE: Final = "crag.db"
"""Name of the database in the data folder."""
LOCAL: Final = "local"
"""The user, as long as there is but one."""
_HISTORY = Kind(
    migrations=Path(__file__).parent / "migrations",
    head=HEAD,
    error=HistoryError,
    broken="Your conversations, corrections and settings cannot be read or kept ({cause}): make room on the disk or "
    "free the file crag.db; if it is damaged, move it out of the data folder.",
    newer="The file crag.db in the data folder was written by a newer version of this program: update it.",
)


class Store:
    """The database at `path`, which is made when something is first kept. Thread-safe; raises HistoryError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._engine: sa.Engine | None = None

    @property
    def exists(self) -> bool:
        """Whether anything was kept: who only reads makes no file."""
        return self.path.exists()

    def engine(self) -> sa.Engine:
        """Opened, and migrated where needed; made anew where the file was moved away while the app runs."""
        with self._lock:
            if self._engine is not None and not self.exists:
                self._engine.dispose()
                self._engine = None
            if self._engine is None:
                _for_its_owner_alone(self.path)
                self._engine = open_database(self.path, _HISTORY)
            return self._engine

    def close(self) -> None:
        with self._lock:
            if self._engine is not None:
                self._engine.dispose()
            self._engine = None


def _for_its_owner_alone(path: Path) -> None:
    """Makes the file before SQLite does, so that nobody else on this machine can read it; its logs follow it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.chmod(0o600)
    except OSError as error:
        raise HistoryError(_HISTORY.broken.format(cause=error.strerror)) from None


def now() -> str:
    """UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
