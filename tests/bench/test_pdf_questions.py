"""The questions about hard PDFs and the table of outcomes fit together, and misses are told from hits."""

from collections import Counter

import pytest

from bench._pdf_questions import Expected, PdfQuestion, differences, place, read_outcomes, read_questions
from crag.events import FileRow
from crag.schema import Document, Span

QUESTION = PdfQuestion("q", "How much?", "en", "a.pdf", frozenset({3, 4}), ("table",), ("7",))


def passage(file: str, *pages: int) -> Document:
    spans = tuple(Span(page=page, start=0, end=1) for page in pages)
    return Document(id=f"{file}{pages}", content="c", files=(file,), text="7", spans=spans, strips=())


def test_the_questions_cover_what_the_figures_are_about() -> None:
    questions = read_questions()
    kinds = Counter(kind for question in questions for kind in question.kinds)
    assert len({question.id for question in questions}) == len(questions) >= 60
    assert len({question.file for question in questions}) >= 28
    assert sum(question.language == "zh" for question in questions) >= 14
    assert kinds["table"] >= 15
    assert kinds["ocr"] >= 10
    assert all(question.answers and all(question.answers) and question.pages for question in questions)


def test_every_file_that_is_asked_about_has_an_expected_outcome() -> None:
    expected = read_outcomes()
    assert {question.file for question in read_questions()} <= set(expected)
    assert all(one.outcomes <= {"indexed", "warned", "refused"} for one in expected.values())


def test_a_hit_is_the_right_page_of_the_right_file() -> None:
    assert place(QUESTION, [passage("b.pdf", 3), passage("a.pdf", 2), passage("a.pdf", 2, 3)]) == 3
    assert place(QUESTION, [passage("b.pdf", 3), passage("a.pdf", 5)]) is None


@pytest.mark.parametrize(
    ("outcomes", "named", "ocr", "row", "wrong"),
    [
        ({"refused"}, "password", None, {"error": "It is protected by a password."}, []),
        ({"refused"}, "password", None, {"error": "It is damaged."}, ["does not name password"]),
        ({"indexed"}, "", 0, {"warnings": ("Page 3 has no text.",)}, ["warned, expected indexed"]),
        ({"indexed", "warned"}, "", 2, {"ocr_pages": 1}, ["1 pages read by OCR, expected 2"]),
        ({"warned"}, "page 3", 0, {"warnings": ("Page 3 has no text.",)}, []),
    ],
)
def test_an_outcome_is_held_against_the_expected_one(
    outcomes: set[str], named: str, ocr: int | None, row: dict, wrong: list[str]
) -> None:
    expected = Expected("a.pdf", frozenset(outcomes), named, ocr, "")
    assert differences(expected, FileRow(path="a.pdf", content="c", **row)) == wrong
