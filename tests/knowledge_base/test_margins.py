"""Running headers, footers and page numbers stay out of the text, and nothing else does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pymupdf
import pytest

from crag.knowledge_base.page_text import PageText, compose
from crag.knowledge_base.paragraphs import Kind
from crag.knowledge_base.pdf_loader import read_head, read_pages

STORIES = (
    "The harvest of the northern fields was small in that year.",
    "A committee wrote to the owner of the mill about its noise.",
    "Every machine in the hall was stopped for an hour at noon.",
    "Nobody knew who had opened the gate of the lower garden.",
    "The letter arrived too late to change what had been agreed.",
    "In winter the river froze and the ferry could not cross it.",
)
Draw = Callable[[int], Sequence[tuple[float, float, str]]]
ROMAN = ("i", "ii", "iii", "iv", "v", "vi")


def margins(folder: Path, pages: int, draw: Draw, font: str = "helv") -> list[list[str]]:
    """What is kept out of each page; `draw` gives a page's (x, y, text) around its story."""
    document = pymupdf.open()
    for number in range(pages):
        page = document.new_page()
        page.insert_text((72, 300), STORIES[number], fontsize=11)
        for x, y, text in draw(number + 1):
            page.insert_text((x, y), text, fontsize=9, fontname=font)
    document.save(folder / "margins.pdf")
    composed = read(folder / "margins.pdf")
    assert all(STORIES[page.number - 1] in page.text for page in composed)
    return [
        [page.text[block.start : block.end] for block in page.blocks if block.kind == Kind.MARGIN] for page in composed
    ]


def read(path: Path) -> list[PageText]:
    head = read_head(path)
    return compose(read_pages(path, 0, head.pages), head.outline)


def chinese(number: int) -> str:
    return "一二三四五六"[number - 1]


@pytest.mark.parametrize(
    ("label", "font"),
    [
        (lambda n: f"{n}", "helv"),
        (lambda n: f"- {n} -", "helv"),
        (lambda n: f"Page {n} of 6", "helv"),
        (lambda n: f"{n} / 6", "helv"),
        (lambda n: ROMAN[n - 1], "helv"),
        (lambda n: f"第{n}页", "china-s"),
        (lambda n: f"第{chinese(n)}页", "china-s"),
        (lambda n: f"第 {n} 页 共 6 页", "china-s"),
        (lambda n: f"Seite {n + 10} von 40", "helv"),
    ],
)
@pytest.mark.parametrize("pages", [2, 3, 6])
def test_page_numbers_stay_out_of_every_page(
    tmp_path: Path, label: Callable[[int], str], font: str, pages: int
) -> None:
    found = margins(tmp_path, pages, lambda number: [(300, 810, label(number))], font)
    assert ["".join(texts).replace(" ", "") for texts in found] == [
        label(n).replace(" ", "") for n in range(1, pages + 1)
    ]


def test_left_and_right_headers_that_take_turns_stay_out_after_their_first_page(tmp_path: Path) -> None:
    names = ("A history of the mill", "Chapter of the river")
    found = margins(tmp_path, 6, lambda number: [(72 if number % 2 else 300, 40, names[number % 2])])
    assert found == [[], [], *([names[number % 2]] for number in range(3, 7))]


def test_a_header_with_the_page_number_inside_stays_out(tmp_path: Path) -> None:
    found = margins(tmp_path, 6, lambda number: [(72, 40, f"Manual 2.3 page {number} Terminal Responses")])
    assert [len(texts) for texts in found] == [0, 1, 1, 1, 1, 1]


def test_section_titles_in_headers_stay_out_after_their_first_page(tmp_path: Path) -> None:
    found = margins(tmp_path, 6, lambda number: [(72, 40, "Part of the harvest" if number <= 3 else "Part of winter")])
    assert [len(texts) for texts in found] == [0, 1, 1, 0, 1, 1]


def test_a_header_of_two_pages_stays_in_on_the_first_alone(tmp_path: Path) -> None:
    found = margins(tmp_path, 2, lambda number: [(72, 40, "Contract on the use of the mill")])
    assert found == [[], ["Contract on the use of the mill"]]


def test_numbers_that_do_not_count_pages_stay_in(tmp_path: Path) -> None:
    amounts = (417, 98, 1200, 33, 560, 71)
    assert margins(tmp_path, 6, lambda number: [(300, 40, str(amounts[number - 1]))]) == [[]] * 6


def test_equal_cells_at_the_foot_of_many_pages_stay_in(tmp_path: Path) -> None:
    names = ("Miller", "Baker", "Smith", "Fisher", "Weaver", "Carter")
    rows = margins(tmp_path, 6, lambda number: [(72, 800, names[number - 1]), (300, 800, "Layoff permanent")])
    assert rows == [[]] * 6


def test_headers_of_pages_on_their_side_are_known_by_where_the_reader_sees_them(tmp_path: Path) -> None:
    document = pymupdf.open()
    for number in range(6):
        page = document.new_page()
        page.insert_text((300, 700), STORIES[number], fontsize=11, rotate=90)
        page.insert_text((40, 700), "A history of the mill", fontsize=9, rotate=90)
        page.set_rotation(90)
    document.save(tmp_path / "side.pdf")
    pages = read(tmp_path / "side.pdf")
    kinds = [[block.kind for block in page.blocks].count(Kind.MARGIN) for page in pages]
    assert kinds == [0, 1, 1, 1, 1, 1]
