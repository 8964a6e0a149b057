"""Pages that are read from their pictures: what the user gets from scans, however they lie, and what is said."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from hashing import HashingEmbedder
from scans import scanned
from small_pdfs import built, pdf_bytes, texts

from crag.knowledge_base import ocr, recognition
from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.health import Need, Reading, need_of
from crag.knowledge_base.ocr_cache import OcrCache
from crag.knowledge_base.page_text import PageText, compose
from crag.knowledge_base.pdf_loader import RawPage, read_pages

LETTER = (
    "The committee met in the old library on Tuesday morning. It decided to buy three new lamps and to paint the door "
    "green. The lamps will cost forty dollars each.\n\nNobody spoke against the plan, although the treasurer asked for "
    "another offer before the summer."
)
CHINESE = (
    "委员会星期二上午在旧图书馆开会，决定购买三盏新灯，并把门漆成绿色。每盏灯四十元。司库要求在夏天之前再取一份报价。"
)


def read(data: bytes, folder: Path, need: Need | None = None) -> tuple[RawPage, PageText]:
    path = folder / "scan.pdf"
    path.write_bytes(data)
    (page,) = read_pages(path, 0, 1)
    wanted = need or need_of(page, "auto")
    assert wanted is not None
    found = ocr.read_by_ocr(path, page, wanted, folder / "cache")
    return found, compose([found])[0]


def words(text: str) -> list[str]:
    return text.split()


@pytest.mark.parametrize(
    ("turn", "skew", "noise"), [(0, 0.0, 0.0), (90, 0.0, 0.0), (180, 0.0, 0.0), (270, 0.0, 0.0), (0, 3.0, 15.0)]
)
def test_a_scan_is_read_word_for_word_however_it_lies(tmp_path: Path, turn: int, skew: float, noise: float) -> None:
    page, text = read(scanned(pdf_bytes([LETTER]), turn=turn, skew=skew, noise=noise), tmp_path)
    assert page.reading == Reading.READ
    assert words(text.text) == words(LETTER)
    assert len(text.blocks) == 2, "its paragraphs are told apart"
    assert text.facts.ocr


def test_chinese_is_read_without_spaces_and_every_character_has_its_place(tmp_path: Path) -> None:
    _, text = read(scanned(pdf_bytes([CHINESE], size=12)), tmp_path)
    assert text.text == CHINESE
    assert len(text.offsets) == len(CHINESE)
    assert (text.boxes[:, 2] > text.boxes[:, 0]).all()


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_words_read_stand_where_the_text_layer_has_them(tmp_path: Path, rotation: int) -> None:
    document = pymupdf.open("pdf", pdf_bytes([LETTER]))
    document[0].set_rotation(rotation)
    data = document.tobytes()
    (tmp_path / "layer.pdf").write_bytes(data)
    (layer,) = read_pages(tmp_path / "layer.pdf", 0, 1)
    page, _ = read(data, tmp_path, Need.WHOLE)
    assert page.words == layer.words
    middles = [(boxes[:, :2] + boxes[:, 2:]) / 2 for boxes in (page.boxes, layer.boxes)]
    assert np.abs(middles[0] - middles[1]).max() < 5
    assert page.lines[0].direction == pytest.approx(layer.lines[0].direction, abs=0.02)


def test_a_scan_below_a_printed_header_is_added_to_it(tmp_path: Path) -> None:
    document = pymupdf.open("pdf", scanned(pdf_bytes(["\n\n" + LETTER])))
    document[0].insert_text((72, 40), "Received by the registry on 4 May, number 117.", fontsize=10)
    page, text = read(document.tobytes(), tmp_path)
    assert page.reading == Reading.READ
    assert words(text.text) == words("Received by the registry on 4 May, number 117. " + LETTER)


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.insert_text((150, 60), "Minutes of the Library", fontsize=20)
    left = [
        "The committee met in the old library on",
        "Tuesday and bought three new lamps for the",
        "reading room.",
    ] * 3
    right = ["Nobody spoke against the plan, although the", "treasurer asked for another offer before the", "end."] * 3
    for number, (a, b) in enumerate(zip(left, right, strict=True)):
        page.insert_text((60, 110 + 14 * number), a, fontsize=11)
        page.insert_text((320, 110 + 14 * number), b, fontsize=11)
    _, text = read(scanned(document.tobytes(), skew=1.5), tmp_path)
    assert words(text.text) == words(" ".join(["Minutes of the Library", *left, *right]))


def test_a_picture_without_text_is_said_to_hold_none(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page()
    page.draw_circle((300, 400), 120, fill=(0.2, 0.2, 0.6))
    found, text = read(document.tobytes(), tmp_path)
    assert found.reading == Reading.NOTHING
    assert text.text == ""


def test_a_hidden_layer_of_nonsense_is_replaced_by_what_the_picture_says(tmp_path: Path) -> None:
    document = pymupdf.open("pdf", scanned(pdf_bytes([LETTER])))
    for number in range(6):
        document[0].insert_text(
            (72, 80 + 14 * number), "Teh comnnittcc rnct jn tbe o1d lihrarv qn Tucsdav", render_mode=3
        )
    page, text = read(document.tobytes(), tmp_path)
    assert page.reading == Reading.READ
    assert words(text.text) == words(LETTER)


def test_a_page_is_recognised_once_and_damaged_results_are_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = scanned(pdf_bytes(["Read me once."]))
    _, first = read(data, tmp_path)
    (entry,) = (tmp_path / "cache").glob("*/*.json.gz")
    with monkeypatch.context() as patched:
        patched.setattr(recognition, "recognise", None)
        assert read(data, tmp_path)[1].text == first.text
    entry.write_bytes(entry.read_bytes()[:20])
    assert read(data, tmp_path)[1].text == first.text


def test_the_cache_forgets_what_was_not_used_for_longest(tmp_path: Path) -> None:
    cache = OcrCache(tmp_path)
    keys = [cache.key(np.full((2, 2), shade, np.uint8)) for shade in range(10)]
    for age, key in enumerate(keys):
        cache.put(key, [])
        path = tmp_path / key[:2] / f"{key}.json.gz"
        os.utime(path, (age, age))
    size = sum(path.stat().st_size for path in tmp_path.glob("*/*"))
    cache.prune(size // 2)
    assert [cache.get(key) is not None for key in keys[:3]] == [False, False, False]
    assert cache.get(keys[-1]) == []


def test_a_scanned_file_is_indexed_and_says_which_pages_ocr_read(base: KnowledgeBase, files: Path) -> None:
    document = pymupdf.open("pdf", pdf_bytes(["A first page with a text layer, as it should be."]))
    document.insert_pdf(pymupdf.open("pdf", scanned(pdf_bytes([LETTER, "The lamps were lit in June."]))))
    document.save(files / "letter.pdf")
    built(base)
    (row,) = base.rows()
    assert (row.error, row.ocr_pages) == (None, 2)
    assert row.warnings == ("Pages 2-3 were read by OCR.",)
    assert "three new lamps" in " ".join(" ".join(texts(base)).split())


def test_with_ocr_off_the_pages_that_need_it_are_named(tmp_path: Path, files: Path) -> None:
    (files / "scan.pdf").write_bytes(scanned(pdf_bytes([LETTER])))
    document = pymupdf.open("pdf", pdf_bytes(["A first page with a text layer, as it should be."]))
    document.insert_pdf(pymupdf.open("pdf", scanned(pdf_bytes([LETTER]))))
    document.save(files / "half.pdf")
    base = KnowledgeBase(files, tmp_path / "index", HashingEmbedder(), parse_timeout=30, ocr="off")
    built(base)
    half, scan = sorted(base.rows(), key=lambda row: row.path)
    assert half.warnings == ("Page 2 needs OCR, which is off: set it to auto and read again.",)
    assert scan.error == "It has no usable text layer and needs OCR, which is off: set OCR to auto and read it again."
    base.close()


def test_a_page_that_takes_too_long_is_named_and_the_others_live(
    tmp_path: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = pymupdf.open("pdf", pdf_bytes(["A first page with a text layer, as it should be."]))
    document.insert_pdf(pymupdf.open("pdf", scanned(pdf_bytes([LETTER]))))
    document.save(files / "half.pdf")
    monkeypatch.setattr("crag.knowledge_base.workers.TIME_FACTOR", 0.001)
    base = KnowledgeBase(files, tmp_path / "index", HashingEmbedder(), parse_timeout=30)
    built(base)
    (row,) = base.rows()
    assert row.error is None
    assert row.warnings[0].startswith("OCR failed on page 2: It takes too long")
    assert "first page" in " ".join(texts(base))
    base.close()
