"""What becomes live, what dies and what is deleted: the catalog's transactions in which versions change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa

from crag.knowledge_base import lexical_index
from crag.knowledge_base.records import State, Target
from crag.knowledge_base.tables import (
    DEAD,
    LIVE,
    STAGED,
    content,
    file,
    file_option,
    gone_vector,
    passage,
    staged_file,
    state,
)


def read_state(connection: sa.Connection) -> State:
    row = connection.execute(sa.select(state)).one()
    return State(*tuple(row)[1:])


def publish(
    connection: sa.Connection, targets: Sequence[Target], generation: int, fingerprint: str, embedding: str
) -> State:
    """Makes exactly `targets` the published files. The version moves only if they, or the generation, differ."""
    before = read_state(connection)
    published = _contents_by_path(connection)
    purge(connection)
    connection.execute(sa.delete(file))
    if targets:
        connection.execute(sa.insert(file), [columns(target) for target in targets])
    _switch(connection)
    mapping = _contents_by_path(connection)
    _rename(connection, published, mapping)
    moved = mapping != published or generation != before.generation or fingerprint != before.fingerprint
    values: dict[str, Any] = {
        "version": before.version + moved,
        "generation": generation,
        "fingerprint": fingerprint,
        "embedding": embedding,
        "next_generation": 0,
        "next_fingerprint": "",
    }
    if generation != before.generation:
        values["removed"] = 0
    connection.execute(sa.update(state).values(**values))
    return read_state(connection)


def remove(connection: sa.Connection, path: str) -> bool:
    """Takes one path out of what is published, of what is staged and of the options; was it published?

    Staged contents of an unfinished build stay.
    """
    purge(connection)
    published = _contents_by_path(connection)
    for table in (file, staged_file, file_option):
        connection.execute(sa.delete(table).where(table.c.path == path))
    mapping = {name: owner for name, owner in published.items() if name != path}
    if mapping == published:
        return False
    _bury(connection)
    _rename(connection, published, mapping)
    connection.execute(sa.update(state).values(version=state.c.version + 1))
    return True


def purge(connection: sa.Connection) -> None:
    """Deletes the contents that no version refers to any more."""
    dead = sa.select(content.c.id).where(content.c.status == DEAD)
    delete(connection, [row.id for row in connection.execute(dead)])


def delete(connection: sa.Connection, content_ids: Sequence[int]) -> None:
    """Deletes contents; vectors of theirs that lie in an index that is still used are noted as gone."""
    now = read_state(connection)
    for content_id in content_ids:
        lexical_index.remove(connection, content_id)
        theirs = (
            sa.select(passage.c.id)
            .join_from(passage, content)
            .where(content.c.id == content_id, content.c.fingerprint.in_((now.fingerprint, now.next_fingerprint)))
        )
        connection.execute(sa.insert(gone_vector).prefix_with("OR IGNORE").from_select(["id"], theirs))
        connection.execute(sa.delete(content).where(content.c.id == content_id))


def columns(target: Target) -> dict[str, Any]:
    """The target as a row of the table of files."""
    return {
        "path": target.path,
        "content_id": target.content_id,
        "size": target.size,
        "mtime_ns": target.mtime_ns,
        "error": target.error,
    }


def _switch(connection: sa.Connection) -> None:
    """Statuses follow the table of files: what it refers to lives, what it left dies, staged leftovers go."""
    older, newer = content.alias(), content.alias()
    again = (  # a content that was read again replaces its older reading for every path
        sa.select(newer.c.id)
        .where(
            older.c.id == file.c.content_id,
            newer.c.status == STAGED,
            newer.c.sha256 == older.c.sha256,
            newer.c.fingerprint == older.c.fingerprint,
            newer.c.id.in_(_used()),
        )
        .scalar_subquery()
    )
    connection.execute(sa.update(file).values(content_id=sa.func.coalesce(again, file.c.content_id)))
    _bury(connection)
    connection.execute(sa.update(content).where(content.c.id.in_(_used())).values(status=LIVE))
    leftover = sa.select(content.c.id).where(content.c.id.not_in(_used()), content.c.status == STAGED)
    delete(connection, [row.id for row in connection.execute(leftover)])
    connection.execute(sa.delete(staged_file))


def _used() -> sa.Select[Any]:
    other = file.alias()
    return sa.select(other.c.content_id).where(other.c.content_id.is_not(None))


def _bury(connection: sa.Connection) -> None:
    lost = content.c.id.not_in(_used()) & (content.c.status == LIVE)
    connection.execute(sa.update(content).where(lost).values(status=DEAD))


def _contents_by_path(connection: sa.Connection) -> dict[str, int | None]:
    return {row.path: row.content_id for row in connection.execute(sa.select(file.c.path, file.c.content_id))}


def _rename(connection: sa.Connection, before: dict[str, int | None], after: dict[str, int | None]) -> None:
    """Brings the file names in the lexical index up to date, of the contents whose names have changed."""
    earlier = _names(before)
    for content_id, names in _names(after).items():
        if content_id is not None and names != earlier.get(content_id):
            lexical_index.rename(connection, content_id, names)


def _names(mapping: dict[str, int | None]) -> dict[int | None, str]:
    """The paths of each content, one a line."""
    names: dict[int | None, list[str]] = {}
    for path in sorted(mapping):
        names.setdefault(mapping[path], []).append(path)
    return {owner: "\n".join(paths) for owner, paths in names.items()}
