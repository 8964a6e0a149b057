"""Pages are read the way a person reads them, however the file orders its text."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest

from crag.knowledge_base.chunker import chunk
from crag.knowledge_base.page_text import PageText, compose
from crag.knowledge_base.paragraphs import Kind
from crag.knowledge_base.pdf_loader import read_head, read_pages

NAMES = (
    "harvest winter committee report letter machine valve pressure garden river season member answer question "
    "paper engine signal bridge window market bread salt copper iron wheat barley wool linen timber stone"
)


def pages_of(path: Path) -> list[PageText]:
    head = read_head(path)
    return compose(read_pages(path, 0, head.pages), head.outline)


def prose(seed: int, lines: int, width: int = 40) -> list[str]:
    """Lines of running text, each filled nearly to its width; no two alike."""
    source = random.Random(seed)
    found = []
    for number in range(lines):
        line = f"{seed}x{number}"
        while len(line) < width - 8:
            line += " " + source.choice(NAMES.split())
        found.append(line)
    return found


def flat(text: str) -> str:
    return " ".join(text.split())


def put(page: pymupdf.Page, x: float, y: float, lines: list[str], size: float = 9, leading: float = 12) -> None:
    for row, line in enumerate(lines):
        page.insert_text((x, y + leading * row), line, fontsize=size)


@pytest.fixture
def made(tmp_path: Path) -> Callable[[Callable[[pymupdf.Document], None]], list[PageText]]:
    def make(draw: Callable[[pymupdf.Document], None]) -> list[PageText]:
        document = pymupdf.open()
        draw(document)
        document.save(tmp_path / "made.pdf")
        return pages_of(tmp_path / "made.pdf")

    return make


Made = Callable[[Callable[[pymupdf.Document], None]], list[PageText]]


@pytest.mark.parametrize("columns", [2, 3])
def test_columns_written_line_by_line_are_read_column_by_column(made: Made, columns: int) -> None:
    texts = [prose(column, 14, 34 if columns == 3 else 48) for column in range(columns)]
    width = 480 / columns

    def draw(document: pymupdf.Document) -> None:
        page = document.new_page()
        page.insert_text((60, 60), "A title across all the columns", fontsize=18)
        for row in range(14):
            for column in range(columns):
                put(page, 60 + column * (width + 12), 100 + 12 * row, [texts[column][row]], size=8)

    page = made(draw)[0]
    read = flat(page.text)
    assert read == flat("A title across all the columns " + " ".join(line for text in texts for line in text))
    assert page.facts.columns == columns


def test_columns_whose_paragraphs_the_file_mixes_are_put_in_order(made: Made) -> None:
    parts = {(column, part): prose(10 * column + part, 5, 48) for column in range(2) for part in range(4)}
    order = [(1, 2), (0, 0), (1, 0), (0, 3), (0, 1), (1, 3), (0, 2), (1, 1)]

    def draw(document: pymupdf.Document) -> None:
        page = document.new_page()
        for column, part in order:
            put(page, 60 + 260 * column, 100 + 90 * part, parts[column, part])

    read = flat(made(draw)[0].text)
    assert read == flat(" ".join(line for key in sorted(parts) for line in parts[key]))


def test_a_figure_across_the_columns_parts_them_into_bands(made: Made) -> None:
    upper = [prose(1, 8, 48), prose(2, 8, 48)]
    lower = [prose(3, 8, 48), prose(4, 8, 48)]
    caption = "Figure 1: the flow of wheat and wool over the river in every season that the committee wrote about."

    def draw(document: pymupdf.Document) -> None:
        page = document.new_page()
        put(page, 320, 320, lower[1])
        put(page, 60, 320, lower[0])
        put(page, 320, 100, upper[1])
        put(page, 60, 100, upper[0])
        put(page, 60, 260, [caption], size=10)

    read = flat(made(draw)[0].text)
    assert read == flat(" ".join([*upper[0], *upper[1], caption, *lower[0], *lower[1]]))


def test_the_cells_of_a_table_are_read_row_by_row(made: Made) -> None:
    rows = [(f"Part {row}", f"{row}.50", f"{row * 7} pieces") for row in range(1, 9)]

    def draw(document: pymupdf.Document) -> None:
        page = document.new_page()
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                page.insert_text((72 + 150 * column, 100 + 40 * row), cell, fontsize=10)

    assert flat(made(draw)[0].text) == " ".join(cell for row in rows for cell in row)


def test_vertical_tiers_are_read_from_the_right_and_from_the_top(made: Made) -> None:
    upper = [
        "春天的报告写得很长很详细",
        "夏天的会议讨论了水闸问题",
        "秋天的收成比去年好了许多",
        "冬天的仓库已经全部装满了",
    ]
    lower = [
        "第二年的报告由新人来书写",
        "他们修好了旧桥和两座磨坊",
        "河水上涨时没有人受到伤害",
        "因此大家决定继续这个计划",
    ]

    def draw(document: pymupdf.Document) -> None:
        page = document.new_page()
        for y, tier in ((100, upper), (400, lower)):
            for column, text in reversed(list(enumerate(tier))):
                for place, char in enumerate(text):
                    page.insert_text((400 - 24 * column, y + 12 * place), char, fontname="china-s", fontsize=12)

    assert "".join(made(draw)[0].text.split()) == "".join(upper + lower)


def test_text_turned_by_a_quarter_reads_like_upright_text(made: Made) -> None:
    lines = prose(5, 6, 60)

    def draw(document: pymupdf.Document) -> None:
        page = document.new_page()
        for row, line in enumerate(lines):
            page.insert_text((100 + 14 * row, 700), line, fontsize=10, rotate=90)

    assert flat(made(draw)[0].text) == " ".join(lines)


def test_letters_set_apart_spell_a_word(made: Made) -> None:
    def draw(document: pymupdf.Document) -> None:
        page = document.new_page()
        x = 72.0
        for word in ("CHAPTER", "ONE"):
            for letter in word:
                page.insert_text((x, 100), letter, fontsize=12)
                x += 14
            x += 14

    assert made(draw)[0].text == "CHAPTER ONE"


@pytest.mark.parametrize("shift", [0.3, 1.0, 1.8])
def test_characters_printed_twice_are_read_once(made: Made, shift: float) -> None:
    def draw(document: pymupdf.Document) -> None:
        page = document.new_page()
        for dx in (0.0, shift):
            for place, char in enumerate("年度报告"):
                page.insert_text((72 + 20 * place + dx, 100), char, fontname="china-s", fontsize=18)

    assert made(draw)[0].text == "年度报告"


def test_a_part_that_is_printed_again_inside_a_whole_is_read_once(made: Made) -> None:
    def draw(document: pymupdf.Document) -> None:
        page = document.new_page()
        page.insert_text((72, 100), "股票代码", fontname="china-s", fontsize=18)
        page.insert_text((72, 100), "股票代码：300218", fontname="china-s", fontsize=18)

    assert made(draw)[0].text == "股票代码：300218"


def test_equal_narrow_characters_side_by_side_are_both_kept(made: Made) -> None:
    def draw(document: pymupdf.Document) -> None:
        page = document.new_page()
        for place, char in enumerate("1133"):
            page.insert_text((72 + 4.2 * place, 100), char, fontsize=6)

    assert "".join(made(draw)[0].text.split()) == "1133"


def test_every_word_stands_in_one_block_and_every_block_in_a_passage(made: Made) -> None:
    source = random.Random(7)

    def draw(document: pymupdf.Document) -> None:
        for _ in range(6):
            page = document.new_page()
            for part in range(12):
                x, y = source.choice((60, 250, 440)), source.randrange(60, 760)
                size = source.choice((8, 9, 9, 9, 14))
                put(page, x, y, prose(source.randrange(10_000), source.randrange(1, 6), 30 + part), size=size)

    pages = made(draw)
    spans: set[tuple[int, int]] = set()
    headings = ""
    for passage in chunk("c", "f", pages):
        headings += " " + passage.heading
        spans |= {(span.page, place) for span in passage.spans for place in range(span.start, span.end)}
    for page in pages:
        covered = Counter(place for block in page.blocks for place in range(block.start, block.end))
        for start, end in page.offsets:
            assert all(covered[place] == 1 for place in range(start, end))
        for block in page.blocks:
            text = page.text[block.start : block.end]
            inside = all((page.number, block.start + i) in spans for i, char in enumerate(text) if not char.isspace())
            assert block.kind == Kind.MARGIN or inside or flat(text) in headings
