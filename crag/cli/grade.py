"""`python -m crag grade`: the evaluator alone, for scripts and evaluations; JSON lines in, JSON lines out."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence

from config import Settings
from crag.assembly import House
from crag.cli.console import DONE, opened
from crag.errors import ConfigurationError
from crag.refinement import decompose
from crag.schema import Document, DocumentGrade, Span, Thresholds

GRADE_BATCH = 32
"""Texts that are graded in one go, so that their vectors are made in full batches."""


def grade(_: argparse.Namespace, settings: Settings) -> int:
    """Reads standard input to its end, a line at a time; returns the exit code."""
    with opened(settings) as house:
        limits = house.in_force(settings).thresholds
        for number, line in enumerate(sys.stdin, 1):
            if line.strip():
                grades = asyncio.run(_grade_line(house, *_graded_input(line, number)))
                print(json.dumps(_graded_output(grades, limits), ensure_ascii=False), flush=True)
    return DONE


def _graded_input(line: str, number: int) -> tuple[str, list[str]]:
    try:
        row = json.loads(line.lstrip("\ufeff"))
        question, texts = row["question"], row["texts"]
        if (
            not isinstance(question, str)
            or not isinstance(texts, list)
            or not all(isinstance(text, str) for text in texts)
        ):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ConfigurationError(
            f'Line {number} of standard input is not {{"question": "…", "texts": ["…"]}}: correct it.'
        ) from None
    return _encodable(question), [_encodable(text) for text in texts]


def _encodable(text: str) -> str:
    """JSON can spell halves of characters that no encoder takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


async def _grade_line(house: House, question: str, texts: Sequence[str]) -> list[DocumentGrade]:
    documents = [_raw_document(text, number) for number, text in enumerate(texts)]
    grades: list[DocumentGrade] = []
    for start in range(0, len(documents), GRADE_BATCH):
        grades += await house.evaluator.grade(question, documents[start : start + GRADE_BATCH])
    return grades


def _raw_document(text: str, number: int) -> Document:
    """A text that stands in no file, so that nothing of it is looked up or kept."""
    span = Span(page=1, start=0, end=len(text))
    return Document(
        id=f"text-{number}", content="", files=("",), number=number, text=text, spans=(span,), strips=decompose(text)
    )


def _graded_output(grades: Sequence[DocumentGrade], limits: Thresholds) -> dict[str, list[object]]:
    documents = [grade.document for grade in grades]
    return {
        "scores": [grade.score for grade in documents],
        "verdicts": [limits.verdict(grade.score).value for grade in documents],
        "reasons": [grade.reason or grade.cause for grade in documents],
    }
