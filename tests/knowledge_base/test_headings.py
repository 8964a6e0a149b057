"""Every passage says below which headings it stands, and no heading is made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest

from crag.knowledge_base.chunker import chunk
from crag.knowledge_base.page_text import compose
from crag.knowledge_base.paragraphs import Kind
from crag.knowledge_base.pdf_loader import read_head, read_pages
from crag.knowledge_base.sections import heading_of

Row = tuple[str, float, str]
Write = Callable[..., Path]


def story(number: int) -> list[Row]:
    text = f"Story {number} tells of the harvest of the northern fields and of the mill by the river in that dry year."
    return [(f"{text} Line {line} of it goes on.", 9, "helv") for line in range(6)]


@pytest.fixture
def written(tmp_path: Path) -> Write:
    def write(rows: list[Row], outline: list[tuple[int, str, int]] | None = None) -> Path:
        document = pymupdf.open()
        page, y = document.new_page(), 60.0
        for text, size, font in rows:
            if y > 780:
                page, y = document.new_page(), 60.0
            page.insert_text((60, y), text, fontsize=size, fontname=font)
            y += size * (1.3 if font == "helv" else 2.2)
        if outline:
            document.set_toc([[level, title, page] for page, title, level in outline])
        document.save(tmp_path / "headings.pdf")
        return tmp_path / "headings.pdf"

    return write


def paths(path: Path) -> dict[int, str]:
    """The heading of the passages of each story."""
    head = read_head(path)
    passages = chunk("c", "f", compose(read_pages(path, 0, head.pages), head.outline))
    return {
        number: passage.heading for passage in passages for number in range(1, 9) if f"Story {number} " in passage.text
    }


def test_the_path_follows_sizes_and_starts_with_the_title(written: Write) -> None:
    rows: list[Row] = [("On mills and rivers", 20, "hebo"), *story(1), ("Method", 14, "hebo"), *story(2)]
    rows += [("Loss", 11, "hebo"), *story(3), ("Results", 14, "hebo"), *story(4)]
    assert paths(written(rows)) == {
        1: "On mills and rivers",
        2: "On mills and rivers › Method",
        3: "On mills and rivers › Method › Loss",
        4: "On mills and rivers › Results",
    }


def test_the_path_follows_numbers_where_sizes_are_equal(written: Write) -> None:
    rows: list[Row] = [("3 Method", 11, "hebo"), *story(1), ("3.2 Loss", 11, "hebo"), *story(2)]
    rows += [("3.2.1 Weights", 11, "hebo"), *story(3), ("4 Results", 11, "hebo"), *story(4)]
    assert paths(written(rows)) == {
        1: "3 Method",
        2: "3 Method › 3.2 Loss",
        3: "3 Method › 3.2 Loss › 3.2.1 Weights",
        4: "4 Results",
    }


def test_the_path_follows_the_outline(written: Write) -> None:
    rows: list[Row] = [("Method", 11, "hebo"), *story(1), ("Loss", 11, "hebo"), *story(2), ("Results", 11, "hebo")]
    outline = [(1, "Method", 1), (1, "Loss", 2), (1, "Results", 1)]
    assert paths(written([*rows, *story(3)], outline)) == {1: "Method", 2: "Method › Loss", 3: "Results"}


def test_bold_cells_and_items_and_repeated_labels_head_nothing(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for row in range(4):
        for column, cell in enumerate(("Wheat", "Barley", "Wool")):
            page.insert_text((60 + 150 * column, 80 + 50 * row), cell, fontsize=10, fontname="hebo")
    page.insert_text((60, 320), "• Bring the report", fontsize=10, fontname="hebo")
    for number in range(5):
        page.insert_text((60, 360 + 60 * number), "Example", fontsize=10, fontname="hebo")
        page.insert_text((60, 380 + 60 * number), "The harvest of the northern fields was small in that dry year.")
    document.save(tmp_path / "cells.pdf")
    found = compose(read_pages(tmp_path / "cells.pdf", 0, 1))[0]
    assert not [found.text[b.start : b.end] for b in found.blocks if b.kind == Kind.HEADING]


def test_a_long_path_keeps_the_title_and_the_deepest_heading() -> None:
    path = ("On mills and rivers", "a" * 70, "b" * 70, "The loss")
    assert heading_of(path) == f"On mills and rivers › {'b' * 70} › The loss"
    assert heading_of(("a" * 140, "b" * 30)) == "b" * 30
    assert heading_of(()) == ""
