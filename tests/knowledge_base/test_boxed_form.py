"""Printed forms: what stands in a box is read together, a value with its label, however the file orders them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from crag.knowledge_base.page_text import compose
from crag.knowledge_base.pdf_loader import read_pages

LINES = [(50, y, 550, y) for y in (50, 230, 262, 340)] + [(50, y, 300, y) for y in (110, 170)]
COLUMNS = [(x, 50, x, 340) for x in (50, 550)] + [(300, 50, 300, 230)] + [(x, 230, x, 340) for x in (216, 383)]
CODE = [(430, 50, 430, 80), (430, 80, 550, 80)]
LABELS = [
    ((55, 64), "Sender (full name and address)"),
    ((305, 70), "托运单号码"),
    ((55, 124), "Consignee (full name)"),
    ((55, 184), "Port of loading"),
    ((55, 250), "Marks and numbers"),
    ((221, 250), "Gross weight"),
    ((388, 250), "Measurement"),
]
TERMS = [((305, 100 + 12 * n), f"Clause {n}: the carrier answers for the goods on board.") for n in range(10)]
"""So much text in one box that no table is made of them."""
VALUES = [
    ((388, 290), "22 cbm"),
    ((221, 290), "16 T"),
    ((435, 70), "OSTHYS24060771"),
    ((55, 204), "Ningbo"),
    ((55, 144), "African Logistic Services"),
    ((55, 84), "Sinorich Transport Limited"),
    ((55, 290), "AB 17-19"),
]


def read(path: Path, words: Sequence[tuple[tuple[float, float], str]], rotation: int = 0) -> list[str]:
    """The canonical lines of a page with these boxes and words, written in this order."""
    document = pymupdf.open()
    page = document.new_page(width=600, height=400)
    for x0, y0, x1, y1 in [*LINES, *COLUMNS, *CODE]:
        page.draw_line((x0, y0), (x1, y1))
    for place, text in words:
        chinese = any(ord(char) > 0x3000 for char in text)
        page.insert_text(place, text, fontsize=10, fontname="china-s" if chinese else "helv")
    page.set_rotation(rotation)
    document.save(path)
    return compose(read_pages(path, 0, 1))[0].text.split("\n")


@pytest.mark.parametrize("rotation", [0, 90])
def test_a_value_beside_its_label_is_read_with_it(tmp_path: Path, rotation: int) -> None:
    lines = read(tmp_path / "form.pdf", [*LABELS, *TERMS, *VALUES], rotation)
    assert "托运单号码 OSTHYS24060771" in lines


def test_values_under_a_row_of_labels_are_a_table_below_the_boxes(tmp_path: Path) -> None:
    text = "\n".join(read(tmp_path / "form.pdf", [*LABELS, *TERMS, *VALUES]))
    assert text.endswith(
        "| Marks and numbers | Gross weight | Measurement |\n|---|---|---|\n| AB 17-19 | 16 T | 22 cbm |"
    )


def test_what_stands_in_one_box_is_read_together(tmp_path: Path) -> None:
    text = " ".join(read(tmp_path / "form.pdf", [*LABELS, *TERMS, *VALUES]))
    assert "Sender (full name and address) Sinorich Transport Limited" in text
    assert "Port of loading Ningbo" in text


def test_no_word_is_lost_or_doubled(tmp_path: Path) -> None:
    lines = read(tmp_path / "form.pdf", [*LABELS, *TERMS, *VALUES])
    written = [word for _, text in [*LABELS, *TERMS, *VALUES] for word in text.split()]
    assert sorted(" ".join(lines).replace("|---", "").replace("|", " ").split()) == sorted(written)
