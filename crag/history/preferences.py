"""Settings that people changed on the page, and keys that they asked to be remembered."""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa

from crag.database import writing
from crag.history.store import LOCAL, Store
from crag.history.tables import preferences


class Preferences:
    """The changed settings in a store, by their names in config.py. Thread-safe; raises HistoryError."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def all(self, user: str = LOCAL) -> dict[str, Any]:
        """What the user has changed; a value that is no JSON comes as the text that it is."""
        if not self._store.exists:
            return {}
        query = sa.select(preferences.c.name, preferences.c.value).where(preferences.c.user == user)
        with self._store.engine().connect() as connection:
            rows = connection.execute(query.order_by(preferences.c.name)).all()
        return {name: _read(value) for name, value in rows}

    def put(self, name: str, value: str | float, user: str = LOCAL) -> None:
        """Keeps a setting in place of what was kept under its name."""
        row = {"user": user, "name": name, "value": json.dumps(value, ensure_ascii=False)}
        with writing(self._store.engine()) as connection:
            _overwriting(connection)
            connection.execute(sa.delete(preferences).where(preferences.c.user == user, preferences.c.name == name))
            connection.execute(sa.insert(preferences).values(**row))

    def remove(self, *names: str, user: str = LOCAL) -> None:
        """Forgets settings; nothing of their values stays in the files, for a key may have been among them."""
        if not self._store.exists:
            return
        with writing(self._store.engine()) as connection:
            _overwriting(connection)
            connection.execute(sa.delete(preferences).where(preferences.c.user == user, preferences.c.name.in_(names)))
        self._empty_log()

    def _empty_log(self) -> None:
        """Takes what was written into the database and empties the write-ahead log, which still has older pages."""
        connection = self._store.engine().raw_connection()
        try:
            connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            connection.close()


def _overwriting(connection: sa.Connection) -> None:
    """What is deleted is overwritten with zeros."""
    connection.exec_driver_sql("PRAGMA secure_delete = ON")


def _read(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value
