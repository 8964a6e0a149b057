"""Tables, form fields, annotations and attachments: what a reader sees in a cell is found with its column's name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest

from crag.knowledge_base.chunker import chunk
from crag.knowledge_base.page_text import PageText, compose
from crag.knowledge_base.paragraphs import Kind
from crag.knowledge_base.pdf_loader import read_pages

ROWS = [["City", "Trains", "Delay"], ["Aachen", "120", "4.5"], ["Bonn", "87", "2.1"], ["Celle", "19", "7.0"]]


def composed(document: pymupdf.Document, path: Path) -> list[PageText]:
    document.save(path)
    return compose(read_pages(path, 0, document.page_count))


def write_rows(
    page: pymupdf.Page, rows: Sequence[Sequence[str]], top: float, *, grid: bool, width: float = 120
) -> None:
    """Rows 20 points apart from x = 72, with a line around every cell if `grid`."""
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            box = pymupdf.Rect(72 + width * x, top + 20 * y, 72 + width * (x + 1), top + 20 * (y + 1))
            page.insert_text((box.x0 + 4, box.y1 - 6), cell, fontsize=10, fontname="china-s")
            if grid:
                page.draw_rect(box)


def markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return [lines[0], "|---" * len(rows[0]) + "|", *lines[1:]]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("grid", [True, False])
def test_a_table_is_markdown_with_its_caption_on_pages_turned_any_way(
    tmp_path: Path, rotation: int, grid: bool
) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 90), "Table 3: Trains by city", fontsize=10)
        write_rows(page, ROWS, 100, grid=grid)
        page.set_rotation(rotation)
        (found,) = composed(document, tmp_path / "t.pdf")
    assert found.text.split("\n") == ["Table 3: Trains by city", *markdown(ROWS)]
    assert found.facts.tables == 1


def test_a_table_between_rules_keeps_the_heading_over_two_columns(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        for y in (100, 146, 212):
            page.draw_line((72, y), (440, y))
        page.draw_line((180, 122), (350, 122))
        page.insert_text((240, 118), "Accuracy", fontsize=10)
        rows = [
            ["Model", "dev", "test"],
            ["Small", "61.0", "60.2"],
            ["Medium", "64.5", "63.9"],
            ["Large", "70.1", "69.9"],
        ]
        for y, row in enumerate(rows):
            for x, cell in zip((76, 200, 310), row, strict=True):
                page.insert_text((x, 138 + 22 * y), cell, fontsize=10)
        (found,) = composed(document, tmp_path / "t.pdf")
    assert found.text.split("\n") == markdown([["Model", "Accuracy dev", "Accuracy test"], *rows[1:]])


def test_chinese_cells_a_pipe_and_an_empty_cell_come_out_readable(tmp_path: Path) -> None:
    rows = [["项目", "结果", "单位"], ["血糖", "5.6", "a|b"], ["血压", "", "kPa"], ["白细胞", "3.9", "E+9"]]
    with pymupdf.open() as document:
        write_rows(document.new_page(), rows, 100, grid=True)
        (found,) = composed(document, tmp_path / "t.pdf")
    assert found.text.split("\n")[2:4] == ["| 血糖 | 5.6 | a\\|b |", "| 血压 | | kPa |"]


def test_every_word_of_a_cell_has_its_box(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        write_rows(page, ROWS, 100, grid=True)
        (found,) = composed(document, tmp_path / "t.pdf")
        for (start, end), box in zip(found.offsets, found.boxes, strict=True):
            inside = page.get_textbox(pymupdf.Rect([float(side) for side in box])).split()
            assert found.text[start:end] in inside


def test_a_long_table_repeats_its_column_names_also_on_the_next_page(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        data = [[f"City{n}", str(100 + n), f"{n}.5"] for n in range(60)]
        write_rows(document.new_page(), [ROWS[0], *data[:34]], 72, grid=True)
        write_rows(document.new_page(), data[34:], 72, grid=True)
        pages = composed(document, tmp_path / "t.pdf")
    passages = chunk("0" * 64, "f", pages)
    assert len(passages) > 1
    assert all(passage.text.startswith("| City | Trains | Delay |") for passage in passages)
    strips = [strip for passage in passages for strip in passage.strips]
    (found,) = [strip for strip in strips if "City50 " in strip.text]
    assert found.text.startswith("| City | Trains | Delay |")
    assert {span.page for span in found.spans} == {2}


def test_a_running_footer_in_the_columns_of_a_table_is_no_row_of_it(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        for n in range(5):
            rows = [
                ROWS[0],
                *([f"City{n}x{k}", str(k), f"{k}.5"] for k in range(33)),
                ["Rail Office", "2026.1", str(n + 1)],
            ]
            write_rows(document.new_page(), rows, 80, grid=False)
        pages = composed(document, tmp_path / "t.pdf")
    assert all(page.facts.tables == 1 for page in pages)
    assert not any("| Rail Office" in page.text for page in pages[1:])
    assert "Rail Office" in pages[3].text


@pytest.mark.parametrize("columns", [1, 2])
def test_prose_in_a_frame_or_in_two_columns_is_no_table(tmp_path: Path, columns: int) -> None:
    text = "The committee met in spring and agreed that the harbour should be dredged before winter. " * 8
    with pymupdf.open() as document:
        page = document.new_page()
        page.draw_rect(pymupdf.Rect(60, 60, 540, 400))
        for column in range(columns):
            page.insert_textbox(pymupdf.Rect(70 + 240 * column, 70, 290 + 240 * column, 390), text, fontsize=10)
        (found,) = composed(document, tmp_path / "t.pdf")
    assert found.facts.tables == 0
    assert "|" not in found.text


def test_contents_with_page_numbers_are_no_table(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        for n, title in enumerate(["Purpose", "Scope", "Method", "Results", "Annex"]):
            page.insert_text((72, 100 + 16 * n), title, fontsize=11)
            page.insert_text((480, 100 + 16 * n), str(3 + 4 * n), fontsize=11)
        (found,) = composed(document, tmp_path / "t.pdf")
    assert found.facts.tables == 0


def add_field(page: pymupdf.Page, kind: int, name: str, value: object, box: tuple[float, ...], **more: object) -> None:
    widget = pymupdf.Widget()
    widget.field_type, widget.field_name, widget.rect = kind, name, pymupdf.Rect(box)
    for key, attribute in more.items():
        setattr(widget, key, attribute)
    widget.field_value = value
    page.add_widget(widget)


def test_filled_form_fields_are_lines_with_their_labels_and_passwords_are_not_read(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 100), "Surname", fontsize=11)
        add_field(page, pymupdf.PDF_WIDGET_TYPE_TEXT, "f1_1", "Lovelace", (140, 86, 300, 104))
        add_field(
            page, pymupdf.PDF_WIDGET_TYPE_TEXT, "f1_2", "12 May", (140, 120, 300, 138), field_label="Day of birth"
        )
        add_field(page, pymupdf.PDF_WIDGET_TYPE_TEXT, "Pin", "s3cret", (140, 150, 300, 168), field_flags=1 << 13)
        add_field(page, pymupdf.PDF_WIDGET_TYPE_TEXT, "f1_4", "", (140, 180, 300, 198))
        page.insert_text((160, 220), "Married", fontsize=11)
        add_field(page, pymupdf.PDF_WIDGET_TYPE_CHECKBOX, "c1", True, (140, 208, 154, 222))
        (found,) = composed(document, tmp_path / "f.pdf")
    lines = found.text.split("\n")
    assert {"Surname: Lovelace", "Day of birth: 12 May", "Married: yes"} <= set(lines)
    assert "s3cret" not in found.text
    assert found.text.count("Lovelace") == 1
    place = found.text.index("Lovelace")
    at = [tuple(map(float, box)) for (start, _), box in zip(found.offsets, found.boxes, strict=True) if start == place]
    assert at == [(140, 86, 300, 104)]


def test_notes_are_read_with_their_author_and_attachments_are_named(tmp_path: Path) -> None:
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 100), "The rent is due on the third working day.", fontsize=11)
        note = page.add_text_annot((300, 200), "Ask whether Saturday counts.")
        note.set_info(title="Ada")
        note.update()
        document.embfile_add("prices.xlsx", b"PK", filename="prices.xlsx")
        (found,) = composed(document, tmp_path / "n.pdf")
    assert "Note by Ada: Ask whether Saturday counts." in found.text.split("\n")
    assert "Attachments: prices.xlsx" in found.text
    assert found.facts.notes == ("It carries attachments that are not read: prices.xlsx.",)
    assert all(block.kind == Kind.TEXT for block in found.blocks)
