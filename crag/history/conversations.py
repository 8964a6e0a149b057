"""Conversations with their turns and traces: kept, listed, searched, renamed, deleted and brought back, branched."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa
from pydantic import Field
from sqlalchemy.dialects.sqlite import insert

from crag.database import writing
from crag.history.store import LOCAL, Store
from crag.history.tables import conversations, turns
from crag.history.traces import Gap, folded, packed, unpacked, words_of
from crag.schema import Frozen, Trace
from crag.text import visible

log = logging.getLogger(__name__)

LONGEST_TITLE: Final = 60
"""Characters of a question in a title."""
LONGEST_NAME: Final = 200
"""Characters of a title that is given by hand."""
UNDO_DAYS: Final = 30
"""For so long a deleted conversation can be brought back."""


class Listed(Frozen):
    """A conversation as the list shows it."""

    id: str
    title: str
    changed: str
    """When it was last asked or answered in: UTC, ISO 8601."""
    deleted: bool = False


class Begun(Frozen):
    """A turn as it is kept when it begins."""

    turn_id: str
    question: str
    files: tuple[str, ...] = ()
    """The paths that it may use; none: all."""
    settings: dict[str, Any] = Field(default_factory=dict)
    """Those that differ per turn, as JSON takes them; never a key."""
    made: str = "asked"
    """How this version came about."""


class KeptTurn(Begun):
    """A turn as it was found. With none of `trace`, `error` and `gap` nothing would be known: one of them is there."""

    position: int
    """From 0; versions of one answer share it."""
    shown: bool
    trace: Trace | None = None
    error: str | None = None
    """Why it failed, as a sentence."""
    gap: Gap | None = None
    liked: bool | None = None
    why: str = ""


class KeptConversation(Frozen):
    id: str
    title: str
    files: tuple[str, ...]
    turns: tuple[KeptTurn, ...]
    """By position, the oldest version first."""


def title_of(question: str) -> str:
    """The first words of a question, on one line; `…` where it has none that can be seen."""
    text = " ".join(visible(question).split()) or "…"
    if len(text) <= LONGEST_TITLE:
        return text
    cut = text[:LONGEST_TITLE]
    words = cut.rpartition(" ")[0]
    return f"{words if len(words) > LONGEST_TITLE // 2 else cut}…"


class Conversations:
    """The conversations in a store. Thread-safe; raises HistoryError. Those of other users are not there."""

    def __init__(self, store: Store, user: str = LOCAL) -> None:
        self._store = store
        self._user = user

    def begin(
        self, conversation: str, turn: Begun, title: str, files: Sequence[str] = (), beside: str | None = None
    ) -> None:
        """Keeps a turn that begins, at the end of the conversation, which is made where it is not there.

        With `beside`, the id of another turn, it is a further version at that one's place, and the one that is shown.
        What is kept already stays as it is. A conversation that was deleted elsewhere meanwhile is there again.
        """
        time = _instant()
        with writing(self._store.engine()) as connection:
            self._make(connection, conversation, title, files, time)
            if connection.scalar(_of(conversation, turn.turn_id)) is not None:
                return
            at = connection.scalar(_of(conversation, beside)) if beside else None
            mine = turns.c.conversation == conversation
            if at is None:
                at = connection.scalar(sa.select(sa.func.coalesce(sa.func.max(turns.c.position), -1) + 1).where(mine))
            here = mine & (turns.c.position == at)
            version = sa.select(sa.func.coalesce(sa.func.max(turns.c.version), -1) + 1).where(here)
            row = {
                **turn.model_dump(include={"turn_id", "question", "made"}),
                "conversation": conversation,
                "position": at,
                "version": connection.scalar(version),
                "created": time,
                "files": json.dumps(turn.files),
                "settings": json.dumps(turn.settings),
                "shown": True,
                "why": "",
                "words": folded(turn.question),
            }
            connection.execute(sa.update(turns).where(here).values(shown=False))
            connection.execute(sa.insert(turns).values(row))
            self._touch(connection, conversation, changed=time, files=json.dumps(list(files)), deleted=None)

    def end(self, turn_id: str, trace: Trace | None, error: str | None = None) -> None:
        """Keeps what a turn has led to: its trace, or the sentence why there is none."""
        values: dict[str, Any] = {"error": error, "trace": None}
        if trace is not None:
            values |= {"trace": packed(trace), "words": words_of(trace)}
        with writing(self._store.engine()) as connection:
            connection.execute(sa.update(turns).where(turns.c.turn_id == turn_id).values(values))
            holders = sa.select(turns.c.conversation).where(turns.c.turn_id == turn_id)
            connection.execute(
                sa.update(conversations).where(conversations.c.id.in_(holders)).values(changed=_instant())
            )

    def show(self, conversation: str, turn_id: str) -> None:
        """Remembers which version is shown."""
        here = (turns.c.conversation == conversation) & turns.c.position.in_(_of(conversation, turn_id))
        with writing(self._store.engine()) as connection:
            connection.execute(sa.update(turns).where(here).values(shown=turns.c.turn_id == turn_id))

    def rate(self, turn_id: str, liked: bool | None, why: str = "") -> None:
        """Keeps whether an answer was liked, and why; None takes it back."""
        with writing(self._store.engine()) as connection:
            connection.execute(sa.update(turns).where(turns.c.turn_id == turn_id).values(liked=liked, why=why))

    def latest(self, search: str = "", limit: int = 30, also: Sequence[str] = ()) -> list[Listed]:
        """The conversations, the last used first; with `search` those that hold it in title, question, answer or
        sources. `also`: ids of deleted ones that are listed too, since they can still be brought back there.
        """
        if not self._store.exists:
            return []
        columns = (conversations.c.id, conversations.c.title, conversations.c.changed, conversations.c.deleted)
        query = (
            sa.select(*columns)
            .where(conversations.c.user == self._user, conversations.c.deleted.is_(None) | conversations.c.id.in_(also))
            .order_by(conversations.c.changed.desc())
            .limit(limit)
        )
        if needle := folded(search).strip():
            holds = (turns.c.conversation == conversations.c.id) & (sa.func.instr(turns.c.words, needle) > 0)
            named = sa.func.instr(conversations.c.folded, needle) > 0
            query = query.where(named | sa.exists().where(holds))
        with self._store.engine().connect() as connection:
            rows = connection.execute(query).mappings().all()
        return [Listed(**{**row, "deleted": row["deleted"] is not None}) for row in rows]

    def load(self, conversation: str) -> KeptConversation | None:
        """The conversation with all its traces; None where it is not there or deleted."""
        if not self._store.exists:
            return None
        with self._store.engine().connect() as connection:
            query = sa.select(conversations).where(self._mine(conversation), conversations.c.deleted.is_(None))
            found = connection.execute(query).mappings().one_or_none()
            if found is None:
                return None
            query = sa.select(turns).where(turns.c.conversation == conversation)
            rows = connection.execute(query.order_by(turns.c.position, turns.c.version)).mappings().all()
        return KeptConversation(
            id=found["id"],
            title=found["title"],
            files=_list(found["files"]),
            turns=tuple(_turn(row) for row in rows),
        )

    def outline(self, conversation: str) -> dict[str, bool]:
        """The ids of its turns, and whether each has ended; none where it is not there."""
        if not self._store.exists:
            return {}
        ended = turns.c.trace.is_not(None) | turns.c.error.is_not(None)
        query = sa.select(turns.c.turn_id, ended).where(turns.c.conversation == conversation)
        with self._store.engine().connect() as connection:
            return {turn_id: bool(there) for turn_id, there in connection.execute(query)}

    def rename(self, conversation: str, title: str) -> str:
        """Gives it a title, and returns it; an empty one makes it the first words of its first question again."""
        name = " ".join(visible(title).split())[:LONGEST_NAME]
        mine = sa.select(conversations.c.id).where(self._mine(conversation))
        first = sa.select(turns.c.question).where(turns.c.conversation.in_(mine)).order_by(turns.c.position)
        with writing(self._store.engine()) as connection:
            shown = name or title_of(connection.scalar(first.limit(1)) or "")
            self._touch(connection, conversation, title=shown, folded=folded(shown), named=bool(name))
        return shown

    def delete(self, conversation: str) -> None:
        """Takes it out of the list; for `UNDO_DAYS` it can be brought back."""
        with writing(self._store.engine()) as connection:
            self._touch(connection, conversation, deleted=_instant())

    def restore(self, conversation: str) -> None:
        with writing(self._store.engine()) as connection:
            self._touch(connection, conversation, deleted=None)

    def purge(self, older_than: timedelta = timedelta(days=UNDO_DAYS)) -> int:
        """Removes for good what was deleted so long ago, of every user; returns how many conversations."""
        if not self._store.exists:
            return 0
        gone = sa.delete(conversations).where(conversations.c.deleted <= _instant(older_than))
        with writing(self._store.engine()) as connection:
            return int(connection.execute(gone).rowcount)

    def branch(self, source: str, turn_id: str, conversation: str, title: str, files: Sequence[str] = ()) -> None:
        """A new conversation with what stands before a turn of `source`, all versions."""
        before = turns.c.position < sa.select(_of(source, turn_id).scalar_subquery()).scalar_subquery()
        others = [column for column in turns.c if column.name != "conversation"]
        copied = sa.select(sa.literal(conversation), *others).where(turns.c.conversation == source, before)
        names = ["conversation", *(column.name for column in others)]
        with writing(self._store.engine()) as connection:
            self._make(connection, conversation, title, files, _instant(), branch_of=source)
            connection.execute(sa.insert(turns).from_select(names, copied))

    def _mine(self, conversation: str) -> sa.ColumnElement[bool]:
        return (conversations.c.id == conversation) & (conversations.c.user == self._user)

    def _make(
        self,
        connection: sa.Connection,
        conversation: str,
        title: str,
        files: Sequence[str],
        time: str,
        branch_of: str | None = None,
    ) -> None:
        """Does nothing where it is there."""
        row = {"id": conversation, "user": self._user, "title": title, "folded": folded(title), "named": False}
        row |= {"created": time, "changed": time, "files": json.dumps(list(files)), "branch_of": branch_of}
        connection.execute(insert(conversations).values(row).on_conflict_do_nothing())

    def _touch(self, connection: sa.Connection, conversation: str, **values: object) -> None:
        connection.execute(sa.update(conversations).where(self._mine(conversation)).values(values))


def _turn(row: sa.RowMapping) -> KeptTurn:
    found = unpacked(row["trace"]) if row["trace"] is not None else None
    gap: Gap | None = found if isinstance(found, str) else None
    if found is None and row["error"] is None:
        gap = "interrupted"
    return KeptTurn(
        turn_id=row["turn_id"],
        question=row["question"],
        files=_list(row["files"]),
        settings=_object(row["settings"]),
        made=row["made"],
        position=row["position"],
        shown=row["shown"],
        trace=found if isinstance(found, Trace) else None,
        error=row["error"],
        gap=gap,
        liked=row["liked"],
        why=row["why"],
    )


def _of(conversation: str, turn_id: str | None) -> sa.Select[tuple[int]]:
    """The position of a turn."""
    return sa.select(turns.c.position).where(turns.c.conversation == conversation, turns.c.turn_id == turn_id)


def _list(text: str) -> tuple[str, ...]:
    found = _json(text)
    return tuple(str(path) for path in found) if isinstance(found, list) else ()


def _object(text: str) -> dict[str, Any]:
    found = _json(text)
    return found if isinstance(found, dict) else {}


def _json(text: str) -> Any:
    """None where it is damaged: it is left out."""
    try:
        return json.loads(text)
    except ValueError:
        log.warning("a kept row is damaged: %.80s", text)
        return None


def _instant(ago: timedelta = timedelta()) -> str:
    """UTC, ISO 8601, to the microsecond: so that what follows at once is in order."""
    return (datetime.now(UTC) - ago).isoformat(timespec="microseconds")
