"""Questions about hard PDFs and what must become of each file, both written by eye before the first run."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from crag.events import FileRow
from crag.schema import Document

HERE = Path(__file__).resolve().parent
QUESTIONS = HERE / "pdf_questions.jsonl"
OUTCOMES = HERE / "pdf_outcomes.csv"


class PdfQuestion(NamedTuple):
    """One question; any of `answers` is right, and stands on any of `pages` (1-based physical pages of `file`)."""

    id: str
    question: str
    language: str
    file: str
    pages: frozenset[int]
    kinds: tuple[str, ...]
    answers: tuple[str, ...]


class Expected(NamedTuple):
    """What must become of one file."""

    file: str
    outcomes: frozenset[str]
    """Of "indexed", "warned" and "refused"."""
    named: str
    """Words (a regular expression) of which the warning or the reason must hold one; empty: not judged."""
    ocr_pages: int | None
    """How many pages only their picture tells; None: not judged."""
    why: str


def read_questions(path: Path = QUESTIONS) -> list[PdfQuestion]:
    """The questions of a JSON Lines file, in its order."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        PdfQuestion(
            row["id"],
            row["question"],
            row["language"],
            row["file"],
            frozenset((row["page"], *row["pages"])),
            tuple(row["kinds"]),
            tuple(row["answers"]),
        )
        for row in rows
    ]


def read_outcomes(path: Path = OUTCOMES) -> dict[str, Expected]:
    """What is expected of each file, by its name."""
    with path.open(encoding="utf-8", newline="") as lines:
        return {
            row["file"]: Expected(
                row["file"],
                frozenset(row["outcome"].split("|")),
                row["named"],
                int(row["ocr_pages"]) if row["ocr_pages"] else None,
                row["why"],
            )
            for row in csv.DictReader(lines)
        }


def passwords(pdfs: Path) -> dict[str, str]:
    """Password by file from the folder's `manifest.csv`; empty where there is none."""
    manifest = pdfs / "manifest.csv"
    if not manifest.exists():
        return {}
    with manifest.open(encoding="utf-8", newline="") as lines:
        return {row["file"]: row["password"] for row in csv.DictReader(lines) if row["password"]}


def outcome(row: FileRow) -> str:
    """ "refused" where the file is not indexed, "warned" where something is said about it, otherwise "indexed"."""
    if row.error:
        return "refused"
    return "warned" if row.warnings else "indexed"


def differences(expected: Expected, row: FileRow) -> list[str]:
    """How the outcome of a file differs from what is expected; empty where it does not."""
    came, said = outcome(row), " ".join((row.error or "", *row.warnings))
    found = []
    if came not in expected.outcomes:
        found.append(f"{came}, expected {' or '.join(sorted(expected.outcomes))}")
    elif expected.named and came != "indexed" and not re.search(expected.named, said, re.IGNORECASE):
        found.append(f"does not name {expected.named}")
    if expected.ocr_pages is not None and came != "refused" and row.ocr_pages != expected.ocr_pages:
        found.append(f"{row.ocr_pages} pages read by OCR, expected {expected.ocr_pages}")
    return found


def place(question: PdfQuestion, documents: Sequence[Document]) -> int | None:
    """1-based rank of the first document that stands on a right page; None where none does."""
    for rank, document in enumerate(documents, 1):
        if question.file in document.files and question.pages & set(document.pages):
            return rank
    return None
