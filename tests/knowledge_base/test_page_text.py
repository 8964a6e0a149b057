"""What of a PDF's pages becomes canonical text, where its words stand, and what is kept out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pymupdf
import pytest
from small_pdfs import Write, pdf_bytes

from crag.knowledge_base.clean import clean_word, joint, vocabulary
from crag.knowledge_base.health import is_garbled
from crag.knowledge_base.page_text import PageText, compose
from crag.knowledge_base.paragraphs import Kind
from crag.knowledge_base.pdf_loader import read_head, read_pages

LONG = "The committee met on Monday and agreed that every member should bring a written report to the next session."


def pages_of(path: Path) -> list[PageText]:
    head = read_head(path)
    return compose(read_pages(path, 0, head.pages), head.outline)


def block_texts(page: PageText, kind: Kind) -> list[str]:
    return [page.text[block.start : block.end] for block in page.blocks if block.kind == kind]


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("eﬃcient", "efficient"),
        ("ＡＢＣ１２", "ABC12"),
        ("价格：１００，", "价格：100，"),
        ("6½", "6½"),
        ("10²", "10²"),
        ("soft\u00adhyphen", "softhyphen"),
        ("line\u00ad", "line-"),
        ("a\x00b\x07c", "abc"),
        ("x\ud835y", "xy"),
        ("\ufeffword\u200b", "word"),
        ("\uf0b7", "•"),
        ("Chapter........7", "Chapter…7"),
        ("e\u0301", "é"),
    ],
)
def test_characters_keep_their_meaning(raw: str, kept: str) -> None:
    assert clean_word(raw) == kept


def test_line_ends_are_joined_as_the_document_itself_writes_the_word() -> None:
    words = vocabulary(["self-corrective", "information", "infor-"])
    assert joint("infor-", "mation", words) == (True, "")
    assert joint("Self-", "corrective", words) == (False, "")
    assert joint("unheard-", "ofness", Counter()) == (True, "")
    assert joint("2015-", "2016", words) == (False, "")
    assert joint("the", "next", words) == (False, " ")
    assert joint("知识", "库", words) == (False, "")


def test_noise_is_told_from_writing() -> None:
    assert is_garbled(["䴀甀氀琀椀挀漀氀漀爀", "䈀氀愀挀欀"])
    assert is_garbled(["\ue001\ue002\ue003abcdef"])
    assert not is_garbled(["知识图谱与检索增强生成", "是常见的方法"])
    assert not is_garbled(["Ordinary", "words,", "with", "stops."])
    assert not is_garbled([])


def test_words_have_boxes_at_their_offsets(write: Write) -> None:
    page = pages_of(write("a.pdf", f"# Minutes\n\n{LONG}\n\nSecond paragraph about infor-\nmation."))[0]
    assert len(page.offsets) == len(page.boxes) > 20
    assert "information." in page.text
    previous = 0
    for (start, end), (x0, y0, x1, y1) in zip(page.offsets, page.boxes, strict=True):
        assert previous <= start < end <= len(page.text)
        assert not any(char.isspace() for char in page.text[start:end])
        assert 0 < x0 < x1 < page.width
        assert 0 < y0 < y1 < page.height
        previous = end
    covered = "".join(page.text[start:end] for start, end in page.offsets)
    assert covered == "".join(page.text.split())


def test_a_box_stands_where_the_word_is_printed(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((100, 200), "alpha beta", fontsize=12)
    page.insert_text((100, 400), "gamma", fontsize=12)
    document.save(tmp_path / "boxes.pdf")
    found = pages_of(tmp_path / "boxes.pdf")[0]
    where = {found.text[a:b]: box for (a, b), box in zip(found.offsets, found.boxes, strict=True)}
    assert where["gamma"][0] == pytest.approx(100, abs=1)
    assert where["gamma"][1] < 400 < where["gamma"][3] + 3
    assert where["beta"][0] > where["alpha"][2]


def test_headings_are_told_from_text(write: Write) -> None:
    page = pages_of(write("a.pdf", f"# Minutes of May\n\n{LONG}\n\n{LONG}"))[0]
    assert block_texts(page, Kind.HEADING) == ["Minutes of May"]
    assert block_texts(page, Kind.TEXT) == [LONG, LONG]


def test_running_headers_and_page_numbers_stay_out_and_the_first_header_stays_in(tmp_path: Path) -> None:
    document = pymupdf.open()
    for number in range(6):
        page = document.new_page()
        page.insert_text((72, 40), "Annual report ERR-4012", fontsize=9)
        page.insert_text((72, 120), f"Page body number {number} tells its own story about the harvest.", fontsize=11)
        page.insert_text((300, 810), str(number + 1), fontsize=9)
    document.save(tmp_path / "headers.pdf")
    pages = pages_of(tmp_path / "headers.pdf")
    assert "Annual report ERR-4012" in block_texts(pages[0], Kind.TEXT) + block_texts(pages[0], Kind.HEADING)
    assert [block_texts(page, Kind.MARGIN) for page in pages[1:]] == [
        ["Annual report ERR-4012", str(n)] for n in range(2, 7)
    ]


def test_dates_at_the_top_of_many_pages_are_no_header(tmp_path: Path) -> None:
    document = pymupdf.open()
    for number in range(6):
        page = document.new_page()
        page.insert_text((72, 60), f"0{number + 1}/17/2015 0{number + 1}/20/2015", fontsize=11)
    document.save(tmp_path / "dates.pdf")
    assert all(not block_texts(page, Kind.MARGIN) for page in pages_of(tmp_path / "dates.pdf"))


def test_two_columns_are_read_one_after_the_other_and_a_sentence_goes_on_in_the_second(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    left = ["Trust in evidence grows with every source that can", "be opened and read, while the rest is believed and"]
    right = [
        "then soon forgotten by those who had to rely on it.",
        "Readers ask for proof because claims are cheap now.",
    ]
    for column, lines in ((60, left), (320, right)):
        for row, line in enumerate(lines):
            page.insert_text((column, 100 + 14 * row), line, fontsize=9.5)
    document.save(tmp_path / "columns.pdf")
    found = pages_of(tmp_path / "columns.pdf")[0]
    assert " ".join(found.text.split()) == " ".join([*left, *right])
    assert [block.glue for block in found.blocks] == [None, " "]


def test_a_sentence_goes_on_over_the_page_and_past_its_number(tmp_path: Path) -> None:
    document = pymupdf.open()
    for number, line in enumerate(["The report that was written in spring", "was never read by anyone at all."] * 3):
        page = document.new_page()
        page.insert_text((72, 700), line, fontsize=11)
        page.insert_text((300, 810), str(number + 1), fontsize=9)
    document.save(tmp_path / "over.pdf")
    pages = pages_of(tmp_path / "over.pdf")
    assert [page.blocks[0].glue for page in pages] == [None, " ", None, " ", None, " "]


def test_fake_bold_is_read_once(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    for shift in (0, 0.2, 0.4):
        page.insert_text((72 + shift, 100 + shift), "Printed thrice", fontsize=14)
    document.save(tmp_path / "bold.pdf")
    assert pages_of(tmp_path / "bold.pdf")[0].text == "Printed thrice"


def test_chinese_lines_are_joined_without_spaces(write: Write) -> None:
    sentence = "检索增强生成先从知识库中找出相关的段落，然后交给语言模型，由它写出带有引用的回答，说明哪些可以相信。"
    page = pages_of(write("zh.pdf", sentence))[0]
    assert page.text == sentence


def test_rows_of_a_table_stay_rows(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    rows = [("Part", "Price", "Stock"), ("Bolt", "0.10", "900"), ("Nut", "0.05", "120"), ("Gear", "7.40", "31")]
    for y, row in enumerate(rows):
        for x, cell in enumerate(row):
            page.insert_text((72 + 150 * x, 100 + 16 * y), cell, fontsize=11)
    document.save(tmp_path / "table.pdf")
    found = pages_of(tmp_path / "table.pdf")[0]
    assert found.text.split("\n") == [
        "| Part | Price | Stock |",
        "|---|---|---|",
        *(f"| {' | '.join(r)} |" for r in rows[1:]),
    ]


def test_rotated_pages_read_like_upright_ones(tmp_path: Path) -> None:
    (tmp_path / "upright.pdf").write_bytes(pdf_bytes([LONG]))
    document = pymupdf.open(tmp_path / "upright.pdf")
    document[0].set_rotation(90)
    document.save(tmp_path / "turned.pdf")
    upright, turned = pages_of(tmp_path / "upright.pdf")[0], pages_of(tmp_path / "turned.pdf")[0]
    assert turned.text == upright.text == LONG
    assert turned.rotation == 90
    assert (turned.boxes == upright.boxes).all()
