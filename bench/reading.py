"""One index over a folder of hard PDFs: what became of each file, and whether questions find the page that answers.

    python -m bench.reading --pdfs DIR [--questions FILE] [--outcomes FILE] [--index DIR] [--files-only] [--only ID ...]

Builds everything with the product as it is; then files that need a password get theirs (from the folder's
`manifest.csv`) and are read by a second, incremental build. The outcome of each file is printed beside the expected
one. Each question goes through the whole flow without the web. Printed per kind and language, with 95 % Wilson
intervals: **hit@8** and **hit@1**, a retrieved passage stands on a right page; **passage**, one of those holds the
answer string; **read**, the page's text in the catalog holds it; **context**, what the generator is given holds it;
and the actions. Misses are listed with what was found instead and where the answer was lost.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa

from bench._pdf_questions import (
    OUTCOMES,
    QUESTIONS,
    Expected,
    PdfQuestion,
    differences,
    outcome,
    passwords,
    place,
    read_outcomes,
    read_questions,
)
from config import Settings, load_settings
from crag.assembly import House, answer_now, open_house
from crag.evaluation.matching import holds
from crag.evaluation.metrics import share
from crag.events import BuildFinished, FileFinished, FileRow, Finished, Retrieved
from crag.knowledge_base import tables
from crag.schema import Action, Document, Trace

TARGETS = {"all": 0.95, "table": 0.90, "ocr": 0.85}
"""hit@8 to reach, by kind."""


@dataclass(frozen=True)
class Asked:
    """One question and what came of it."""

    question: PdfQuestion
    rank: int | None
    """Of the first retrieved document on a right page."""
    passage: bool
    read: bool
    context: bool
    trace: Trace
    documents: tuple[Document, ...]
    """Those of the first look, best first."""


def build(house: House, label: str) -> list[FileRow]:
    """Builds and prints how long it took; returns the rows of the files that this build has read."""
    start, read = time.perf_counter(), []
    for event in house.knowledge_base.build():
        if isinstance(event, FileFinished):
            read.append(event.row)
        elif isinstance(event, BuildFinished):
            pages, taken = sum(row.pages for row in read), time.perf_counter() - start
            print(
                f"{label}: {len(read)} files, {pages} pages, {event.passages} passages in {taken:.1f} s "
                f"({pages / taken:.1f} pages per second, embedding and writing included)",
                flush=True,
            )
    return read


def unlock(house: House, known: dict[str, str]) -> bool:
    """Gives the files their passwords; False where there are none, or this version takes none."""
    give: Callable[[str, str], object] | None = getattr(house.knowledge_base, "set_password", None)
    if give is None or not known:
        return False
    for path, password in known.items():
        give(path, password)
    return True


def readable(path: str) -> Expected:
    """What must become of a file once its password is known."""
    return Expected(path, frozenset(("indexed", "warned")), "", None, "opens with its password")


def report_files(expected: dict[str, Expected], rows: Sequence[FileRow]) -> None:
    """The table of outcomes; what differs from the expectation is marked."""
    right = 0
    print("\n| file | expected | came | pages | OCR | passages | seconds | said |\n|---|---|---|---|---|---|---|---|")
    for row in sorted(rows, key=lambda row: row.path):
        wanted = expected.get(row.path)
        wrong = differences(wanted, row) if wanted else ["not expected at all"]
        right += not wrong
        said = "; ".join((*([row.error] if row.error else []), *row.warnings))
        mark = f" **{'; '.join(wrong)}**" if wrong else ""
        allowed = " or ".join(sorted(wanted.outcomes)) if wanted else "-"
        cells = (_short(row.path), allowed, outcome(row), row.pages, row.ocr_pages, row.passages, f"{row.seconds:.1f}")
        print(f"| {' | '.join(map(str, cells))} | {said}{mark} |")
    missing = sorted(set(expected) - {row.path for row in rows})
    print(
        f"\noutcomes as expected: {share(right, len(rows))}" + "".join(f"\nno row at all: {path}" for path in missing)
    )


@contextmanager
def page_texts(folder: Path) -> Iterator[Callable[[str, int], str]]:
    """A look-up of the canonical text of (path, physical page); empty where it is not indexed."""
    engine = sa.create_engine(f"sqlite:///{folder / 'catalog.db'}")

    def text(path: str, number: int) -> str:
        query = (
            sa.select(tables.page.c.text)
            .join(tables.file, tables.file.c.content_id == tables.page.c.content_id)
            .where(tables.file.c.path == path, tables.page.c.number == number)
        )
        return connection.scalar(query) or ""

    with engine.connect() as connection:
        yield text
    engine.dispose()


def has_answer(question: PdfQuestion, text: str) -> bool:
    """Whether one of the answer strings stands in `text` as whole words, whatever the spaces of a script without."""
    normal = unicodedata.normalize("NFKC", text)
    return any(holds(unicodedata.normalize("NFKC", answer), normal) for answer in question.answers)


async def ask(house: House, settings: Settings, question: PdfQuestion) -> tuple[tuple[Document, ...], Trace]:
    """The documents of the first look, best first, and the trace."""
    documents: tuple[Document, ...] | None = None
    async for event in answer_now(house, settings, question.question, question.id):
        if isinstance(event, Retrieved) and documents is None:
            documents = event.documents
        if isinstance(event, Finished):
            return documents or (), event.trace
    raise AssertionError("a turn ends with its trace")


def ask_all(house: House, settings: Settings, questions: Sequence[PdfQuestion]) -> list[Asked]:
    found = []
    with page_texts(settings.chroma_dir) as text_of:
        for question in questions:
            documents, trace = asyncio.run(ask(house, settings, question))
            read = any(has_answer(question, text_of(question.file, page)) for page in question.pages)
            context = has_answer(question, trace.knowledge)
            passage = any(place(question, [one]) and has_answer(question, one.text) for one in documents)
            found.append(Asked(question, place(question, documents), passage, read, context, trace, documents))
    return found


def report_questions(asked: Sequence[Asked]) -> None:
    """Shares per kind and language, then the misses."""
    languages = sorted({one.question.language for one in asked})
    kinds = sorted({kind for one in asked for kind in one.question.kinds})
    groups = [("all", list(asked))]
    groups += [(kind, [one for one in asked if kind in one.question.kinds]) for kind in kinds]
    groups += [(f"in {name}", [one for one in asked if one.question.language == name]) for name in languages]
    head = ("questions", "n", "hit@8", "hit@1", "passage", "read", "context", *Action)
    print(f"\n| {' | '.join(map(str, head))} |\n|{'---|' * len(head)}")
    for label, group in groups:
        n = len(group)
        hits = sum(one.rank is not None for one in group)
        target = f" (to reach {TARGETS[label]:.2f})" if label in TARGETS else ""
        marks = [(one.rank == 1, one.passage, one.read, one.context) for one in group]
        others = [f"{sum(column) / n:.2f}" for column in zip(*marks, strict=True)]
        actions = [sum(one.trace.action == action for one in group) for action in Action]
        cells = (f"{label}{target}", n, share(hits, n), *others, *actions)
        print(f"| {' | '.join(map(str, cells))} |")
    for label, chosen in (
        ("not found among the 8", [one for one in asked if one.rank is None]),
        (
            "page found, but what the generator is given lacks the answer",
            [o for o in asked if o.rank and not o.context],
        ),
    ):
        print(f"\n{label}: {len(chosen)}")
        for one in chosen:
            report_miss(one)


def report_miss(one: Asked) -> None:
    """Two lines: the question with where its answer stands, and what came instead."""
    asked, documents = one.question, one.documents
    where = f"{_short(asked.file)} p. {', '.join(map(str, sorted(asked.pages)))}"
    if not one.read:
        fault = "reading: the page's text lacks the answer"
    elif not one.passage:
        fault = "retrieval: no passage that holds the answer"
    else:
        fault = "grading: the passage was there, its strip was not kept"
    print(f"- [{asked.id}] {asked.question} -> {asked.answers[0]} ({where}; {'/'.join(asked.kinds)}; {fault})")
    best = max((document.score or 0.0 for document in one.trace.documents), default=0.0)
    found = "; ".join(f"{_short(document.file)} p. {document.page}" for document in documents[:3])
    print(f"  {one.trace.action}, best {best:.2f}; first: {found}")


def _short(path: str) -> str:
    return path if len(path) <= 40 else f"{path[:24]}…{path[-12:]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--pdfs", type=Path, default=os.environ.get("CRAG_PDFS"), required="CRAG_PDFS" not in os.environ
    )
    parser.add_argument("--questions", type=Path, default=QUESTIONS)
    parser.add_argument("--outcomes", type=Path, default=OUTCOMES)
    parser.add_argument(
        "--index", type=Path, help="folder of the index, kept for the next run; default a temporary one"
    )
    parser.add_argument("--files-only", action="store_true", help="build and list the files, ask nothing")
    parser.add_argument("--only", nargs="+", metavar="ID", help="ask these questions alone")
    args = parser.parse_args()
    known, asking = passwords(args.pdfs), read_questions(args.questions)
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.index or Path(temporary)
        settings = load_settings(
            files_dir=args.pdfs, chroma_dir=folder / "chroma_db", data_dir=Path(temporary), web_provider="none"
        )
        house = open_house(settings)
        build(house, "without passwords")
        report_files(read_outcomes(args.outcomes), house.knowledge_base.rows())
        if unlock(house, known):
            report_files({path: readable(path) for path in known}, build(house, "\nwith passwords"))
        else:
            print("\nThis version takes no passwords: questions about files that need one are left out.")
            asking = [question for question in asking if question.file not in known]
        if not args.files_only:
            report_questions(ask_all(house, settings, [q for q in asking if not args.only or q.id in args.only]))
        house.close()


if __name__ == "__main__":
    main()
