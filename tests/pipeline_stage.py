"""A pipeline over documents in memory, graded by the marks that a test gives them."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from crag.events import Finished, TurnEvent
from crag.generator.extractive import ExtractiveGenerator
from crag.pipeline import Parts, answer
from crag.schema import Document, DocumentGrade, Grade, Span, Strip, Thresholds, Trace


def a_document(name: str, page: int = 1) -> Document:
    text = f"The {name} weighs {len(name)} kilograms in every test."
    span = Span(page=page, start=0, end=len(text))
    strip = Strip(id=f"strip-{name}", text=text, spans=(span,))
    return Document(id=name, content=name, files=(f"{name}.pdf",), text=text, spans=(span,), strips=(strip,))


class Library:
    """A searchable index over documents in memory; `first` are found by the question, all by any other query."""

    version = 7

    def __init__(self, documents: Sequence[Document], first: Sequence[str], question: str) -> None:
        self._documents = {document.id: document for document in documents}
        self._first, self._question = first, question
        self.open = 0

    def contents(self, files: Collection[str]) -> dict[str, str]:
        return {doc.file: doc.content for doc in self._documents.values() if doc.file in files}

    def dense(self, vector: np.ndarray, n: int, contents: Collection[str] | None = None) -> list[str]:
        return []

    def lexical(self, question: str, n: int, contents: Collection[str] | None = None) -> list[str]:
        found = self._first if question == self._question else self._documents
        return [key for key in found if contents is None or self._documents[key].content in contents][:n]

    def documents(self, ids: Sequence[str]) -> list[Document]:
        return [self._documents[key] for key in ids]

    @contextmanager
    def snapshot(self) -> Iterator[Library]:
        self.open += 1
        try:
            yield self
        finally:
            self.open -= 1


class Marked:
    """An evaluator that gives the marks it was told; a name without a mark stays ungraded."""

    name, version = "marked", "1"

    def __init__(self, marks: dict[str, float]) -> None:
        self.marks = marks
        self.asked: list[tuple[str, str]] = []

    async def grade(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
        self.asked += [(question, document.id) for document in documents]
        return [self._of(document) for document in documents]

    def _of(self, document: Document) -> DocumentGrade:
        mark = self.marks.get(document.id)
        grade = Grade(score=mark, reason="marked") if mark is not None else Grade(score=None, cause="no mark")
        return DocumentGrade(document=grade, strips=tuple(grade for _ in document.strips))


class Flat:
    fingerprint, dimension = "flat", 2

    def embed_query(self, text: str) -> np.ndarray:
        return np.array([1, 0], dtype=np.float32)

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        return np.tile(self.embed_query(""), (len(texts), 1))


QUESTION = "What does the anvil weigh?"


def always(query: str) -> Callable[[str], Awaitable[str]]:
    """A rewriter that makes the same of every question."""

    async def rewrite(question: str) -> str:
        return query

    return rewrite


def parts(marks: dict[str, float], first: Sequence[str] | None = None, **changed: object) -> Parts:
    names = list(dict.fromkeys([*(first or []), *marks, "hammer"]))
    library = Library([a_document(name) for name in names], first if first is not None else names, QUESTION)
    given: dict[str, object] = {
        "knowledge_base": library,
        "embedder": Flat(),
        "evaluator": Marked({"hammer": 0.1, **marks}),
        "rewriter": always("anvil weight"),
        "generator": ExtractiveGenerator(quotes=3),
        "thresholds": Thresholds(),
        "k": 4,
    }
    return Parts(**(given | changed))  # type: ignore[arg-type]


async def run(made: Parts, question: str = QUESTION, stop: threading.Event | None = None) -> list[TurnEvent]:
    return [event async for event in answer(made, question, "turn-1", stop or threading.Event())]


def trace_of(events: Sequence[TurnEvent]) -> Trace:
    assert isinstance(events[-1], Finished)
    return events[-1].trace
