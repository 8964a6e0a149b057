"""A real knowledge base of one PDF, and the trace of a question that was put to it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pymupdf
import pytest
from pipeline_stage import Flat, parts, run, trace_of

from crag.knowledge_base.base import KnowledgeBase
from crag.schema import Document, DocumentGrade, Grade, Trace

QUESTION = "Who built the lighthouse of Karnholm?"
FILLER = "Sheep graze on the meadows of the island in summer, and the ferry leaves twice a day. "
ANSWER = "The lighthouse of Karnholm was built in 1847 by the engineer Ida Brandt."


class AboutKarnholm:
    """Grades by whether the island's lighthouse is named."""

    name, version = "about", "1"

    async def grade(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
        return [
            DocumentGrade(document=_grade(d.text), strips=tuple(_grade(strip.text) for strip in d.strips))
            for d in documents
        ]


def _grade(text: str) -> Grade:
    named = "Karnholm" in text
    return Grade(score=0.92 if named else 0.14, reason="names it" if named else "does not name it")


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    folder = tmp_path_factory.mktemp("export")
    files = folder / "Files"
    files.mkdir()
    with pymupdf.open() as document:
        for text in (FILLER * 8, f"{ANSWER} {FILLER * 4}"):
            document.new_page().insert_textbox(pymupdf.Rect(72, 72, 520, 760), text, fontsize=11)
        document.save(files / "island <b>.pdf")
    made = KnowledgeBase(files, folder / "chroma_db", Flat())
    list(made.build())
    yield made
    made.close()


@pytest.fixture(scope="session")
def trace(base: KnowledgeBase) -> Trace:
    made = parts({}, knowledge_base=base, evaluator=AboutKarnholm(), k=8)
    return trace_of(asyncio.run(run(made, QUESTION)))
