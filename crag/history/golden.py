"""Golden questions: what is asked and expected; the last answer to each, and the runs over all of them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from pydantic import ValidationError

from crag.database import writing
from crag.errors import HistoryError
from crag.history.store import LOCAL, Store, now
from crag.history.tables import golden_answers, golden_questions, golden_runs
from crag.schema import Action, Frozen, Trace


class Golden(Frozen):
    """A question with what is expected of it; all but the question may be unknown."""

    id: int = 0
    """Given when it is stored; 0: not stored yet."""
    question: str
    expected: Action | None = None
    file: str | None = None
    """Path below Files/, or base name, of the PDF that holds the answer."""
    page: int | None = None
    """1-based physical page of `file`."""
    answers: tuple[str, ...] = ()
    """Strings any of which an answer holds."""
    note: str = ""
    turn_id: str | None = None
    """The turn that it was saved from."""
    created: str = ""
    """UTC, ISO 8601; filled in when it is stored."""


class Answered(Frozen):
    """What is known of the last answer to a golden question, without the answer itself."""

    created: str
    asked: Mapping[str, Any]
    """The question as it was asked."""
    under: Mapping[str, Any]
    """Index, evaluator, thresholds and what else decides the answer, as they were."""
    failed: bool
    swept_under: Mapping[str, Any]
    """Likewise of the run that thresholds are tried on; empty where there is none."""


class Run(Frozen):
    """One run over the golden questions."""

    id: int
    created: str
    asked: int
    """So many questions were asked in it; the answers to the others held still."""
    left: int
    """So many were not asked, since it was stopped."""


class Goldens:
    """Golden questions, answers and runs in a store. Thread-safe; raises HistoryError."""

    def __init__(self, store: Store) -> None:
        self._store = store

    # --- questions

    def all(self, user: str = LOCAL) -> list[Golden]:
        """The user's questions in the order in which they came."""
        query = sa.select(golden_questions).where(golden_questions.c.user == user).order_by(golden_questions.c.id)
        return [_golden(row) for row in self._rows(query)]

    def like(self, question: str, turn_id: str, user: str = LOCAL) -> Golden | None:
        """The one that was saved from this turn, otherwise one with the same words."""
        c = golden_questions.c
        query = sa.select(golden_questions).where(c.user == user, sa.or_(c.turn_id == turn_id, c.question == question))
        found = [_golden(row) for row in self._rows(query.order_by(c.id))]
        return next((one for one in found if one.turn_id == turn_id), found[0] if found else None)

    def save(
        self,
        added: Iterable[Golden] = (),
        changed: Iterable[Golden] = (),
        deleted: Iterable[int] = (),
        user: str = LOCAL,
    ) -> None:
        """Adds, edits (by id) and deletes, all or nothing. A deleted question's last answer goes with it."""
        c = golden_questions.c
        with writing(self._store.engine()) as connection:
            for id_ in deleted:
                connection.execute(sa.delete(golden_questions).where(c.id == id_, c.user == user))
            for one in changed:
                edit = sa.update(golden_questions).where(c.id == one.id, c.user == user)
                connection.execute(edit.values(**_columns(one)))
            fresh = [{**_columns(one), "user": user, "created": now()} for one in added]
            if fresh:
                connection.execute(sa.insert(golden_questions), fresh)

    # --- answers

    def keep_answer(
        self,
        id_: int,
        asked: Mapping[str, Any],
        under: Mapping[str, Any],
        trace: Trace,
        swept_under: Mapping[str, Any],
        swept: Trace | None,
    ) -> None:
        """Keeps an answer in the place of the one before; nothing is kept for a question that is gone meanwhile."""
        values = {
            "golden": id_,
            "created": now(),
            "asked": _text(asked),
            "under": _text(under),
            "failed": trace.error is not None,
            "trace": _packed(trace.model_dump_json()),
            "swept_under": _text(swept_under),
            "swept": None if swept is None else _packed(swept.model_dump_json()),
        }
        with writing(self._store.engine()) as connection:
            there = sa.select(golden_questions.c.id).where(golden_questions.c.id == id_)
            if connection.scalar(there) is None:
                return
            connection.execute(sa.delete(golden_answers).where(golden_answers.c.golden == id_))
            connection.execute(sa.insert(golden_answers).values(**values))

    def answered(self, user: str = LOCAL) -> dict[int, Answered]:
        """By id of the question: what its last answer was given to, and under."""
        c = golden_answers.c
        query = sa.select(c.golden, c.created, c.asked, c.under, c.failed, c.swept_under)
        return {
            row["golden"]: Answered(
                created=row["created"],
                asked=json.loads(row["asked"]),
                under=json.loads(row["under"]),
                failed=row["failed"],
                swept_under=json.loads(row["swept_under"]),
            )
            for row in self._rows(self._of(query, user))
        }

    def trace(self, id_: int, user: str = LOCAL) -> Trace | None:
        """The last answer to a question; None without one."""
        query = self._of(sa.select(golden_answers.c.trace), user).where(golden_answers.c.golden == id_)
        return next((_trace(row["trace"]) for row in self._rows(query)), None)

    def traces(self, user: str = LOCAL) -> Iterator[tuple[int, Trace]]:
        """The last answers with the ids of their questions, one after the other: all at once would fill the memory."""
        query = self._of(sa.select(golden_answers.c.golden, golden_answers.c.trace), user)
        for row in self._rows(query.order_by(golden_answers.c.golden)):
            yield row["golden"], _trace(row["trace"])

    def swept(self, user: str = LOCAL) -> Iterator[tuple[int, Trace]]:
        """Likewise the runs that thresholds are tried on, of the questions that have one."""
        c = golden_answers.c
        query = self._of(sa.select(c.golden, c.swept), user).where(c.swept.is_not(None)).order_by(c.golden)
        for row in self._rows(query):
            yield row["golden"], _trace(row["swept"])

    def swept_of(self, id_: int, user: str = LOCAL) -> Trace | None:
        """That of one question; None without one."""
        query = self._of(sa.select(golden_answers.c.swept), user).where(golden_answers.c.golden == id_)
        return next((_trace(row["swept"]) for row in self._rows(query) if row["swept"] is not None), None)

    @staticmethod
    def _of(query: sa.Select[Any], user: str) -> sa.Select[Any]:
        return query.join(golden_questions, golden_questions.c.id == golden_answers.c.golden).where(
            golden_questions.c.user == user
        )

    # --- runs

    def add_run(self, report: str, asked: int, left: int = 0, user: str = LOCAL) -> None:
        """Keeps a run; `report` is JSON."""
        values = {"user": user, "created": now(), "asked": asked, "left": left, "report": _packed(report)}
        with writing(self._store.engine()) as connection:
            connection.execute(sa.insert(golden_runs).values(**values))

    def runs(self, most: int, user: str = LOCAL) -> list[Run]:
        """The newest runs, the newest first."""
        c = golden_runs.c
        query = sa.select(c.id, c.created, c.asked, c.left).where(c.user == user).order_by(c.id.desc()).limit(most)
        return [Run.model_validate(dict(row)) for row in self._rows(query)]

    def report(self, run: int, user: str = LOCAL) -> str | None:
        """The report of a run, JSON; None where it is gone."""
        query = sa.select(golden_runs.c.report).where(golden_runs.c.user == user, golden_runs.c.id == run)
        return next((_unpacked(row["report"]) for row in self._rows(query)), None)

    def _rows(self, query: sa.Select[Any]) -> Sequence[sa.RowMapping]:
        """Who only reads makes no file."""
        if not self._store.exists:
            return []
        with self._store.engine().connect() as connection:
            return connection.execute(query).mappings().all()


def _golden(row: sa.RowMapping) -> Golden:
    return Golden(
        id=row["id"],
        question=row["question"],
        expected=Action(row["action"]) if row["action"] else None,
        file=row["file"] or None,
        page=row["page"],
        answers=tuple(json.loads(row["answers"])),
        note=row["note"],
        turn_id=row["turn_id"],
        created=row["created"],
    )


def _columns(one: Golden) -> dict[str, Any]:
    return {
        "question": one.question,
        "action": one.expected,
        "file": one.file or "",
        "page": one.page,
        "answers": json.dumps(one.answers, ensure_ascii=False),
        "note": one.note,
        "turn_id": one.turn_id,
    }


def _text(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, sort_keys=True)


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8"))


def _unpacked(data: bytes) -> str:
    return zlib.decompress(data).decode("utf-8")


def _trace(data: bytes) -> Trace:
    try:
        return Trace.model_validate_json(_unpacked(data))
    except (zlib.error, ValidationError):
        raise HistoryError("A kept answer to a golden question cannot be read: run the questions again.") from None
