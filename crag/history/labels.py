"""Labels: what people said of a document, that it answers a question or that it does not."""

from __future__ import annotations

import hashlib

import sqlalchemy as sa

from crag.database import writing
from crag.history.store import LOCAL, Store, now
from crag.history.tables import labels
from crag.schema import Document, Frozen, Unit


class Label(Frozen):
    """What somebody said of one document for one question."""

    question: str
    document: str
    """Id of the document."""
    content: str
    """sha256 (hex) of the PDF's bytes."""
    file: str
    page: int
    text: str
    answers: bool
    """Whether the text holds information that answers the question."""
    score: Unit | None = None
    """What the evaluator had said, None where it was ungraded."""
    evaluator: str = ""
    """Version of that evaluator."""
    note: str = ""
    user: str = LOCAL
    created: str = ""
    """UTC, ISO 8601; filled in when it is stored."""

    @property
    def key(self) -> str:
        return text_key(self.text)


def label_of(question: str, document: Document, answers: bool, score: float | None, evaluator: str) -> Label:
    """A label for a retrieved document as the trace of `question` holds it."""
    return Label(
        question=question,
        document=document.id,
        content=document.content,
        file=document.file,
        page=document.page,
        text=document.text,
        answers=answers,
        score=score,
        evaluator=evaluator,
    )


def text_key(text: str) -> str:
    """sha256 (hex) of a text: what a label belongs to, whatever becomes of the index and its ids."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Labels:
    """The labels in a store. Thread-safe; raises HistoryError."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, label: Label) -> None:
        """Keeps a label; an earlier one of the same user, question and text no longer holds."""
        row = label.model_dump(exclude={"answers", "created"})
        row |= {"created": now(), "label": label.answers, "text_sha256": label.key}
        with writing(self._store.engine()) as connection:
            connection.execute(sa.insert(labels).values(**row))

    def latest(self, user: str = LOCAL, question: str | None = None) -> list[Label]:
        """The labels that hold, oldest first: all of the user's, or those of one question."""
        if not self._store.exists:
            return []
        newest = sa.select(sa.func.max(labels.c.id)).group_by(labels.c.user, labels.c.question, labels.c.text_sha256)
        query = sa.select(labels).where(labels.c.user == user, labels.c.id.in_(newest)).order_by(labels.c.id)
        if question is not None:
            query = query.where(labels.c.question == question)
        with self._store.engine().connect() as connection:
            rows = connection.execute(query).mappings().all()
        return [Label.model_validate({**row, "answers": row["label"]}) for row in rows]

    def delete(self, question: str, text: str, user: str = LOCAL) -> int:
        """Forgets what the user said of a text for a question, the earlier labels too; returns how many rows."""
        if not self._store.exists:
            return 0
        gone = sa.delete(labels).where(
            labels.c.user == user, labels.c.question == question, labels.c.text_sha256 == text_key(text)
        )
        with writing(self._store.engine()) as connection:
            return int(connection.execute(gone).rowcount)
