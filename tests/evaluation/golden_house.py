"""A real house over documents in memory, graded by marks, for runs over golden questions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crag.assembly import House
from crag.events import FileRow
from crag.schema import Document, DocumentGrade
from tests.pipeline_stage import Flat, Library, Marked, a_document

NAMES = ("anvil", "hammer", "tongs")


class Shelf(Library):
    """The library with what a report and the page ask of a knowledge base; any query finds the document it names."""

    def __init__(self, names: Sequence[str] = NAMES) -> None:
        super().__init__([a_document(name) for name in names], names, "")
        self.names = names
        self.published = 7

    @property
    def version(self) -> int:  # type: ignore[override]
        return self.published

    def lexical(self, question: str, n: int, contents: object = None) -> list[str]:
        return sorted(self.names, key=lambda name: name not in question)[:n]

    def headings(self, n: int) -> list[tuple[str, str]]:
        return []

    def rows(self) -> list[FileRow]:
        return [FileRow(path=f"{name}.pdf", content=name, pages=1, passages=1) for name in self.names]


class Versioned:
    """What `House.knowledge_base` is to a run: the shelf, whose version is a method there and a property here."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.snapshot = shelf.snapshot
        self.rows = shelf.rows

    def version(self) -> int:
        return self.shelf.published


class Naming(Marked):
    """Grades a document by whether the question names it; a question with "fail" breaks it."""

    async def grade(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
        if "fail" in question:
            raise RuntimeError("the engine broke")
        self.marks = {document.id: 0.9 if document.id in question else 0.1 for document in documents}
        return await super().grade(question, documents)


def a_house(folder: Path | None = None) -> House:
    """`folder` is where calibrations are kept; None: nowhere."""
    return House(Flat(), Versioned(Shelf()), Naming({}), calibrations_dir=folder)  # type: ignore[arg-type]
