"""From an answer to the place on its page, and from the table of files to a page as it was cut, in a real browser."""

from __future__ import annotations

import urllib.request
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from browsing import Browsing

pytestmark = [pytest.mark.browser, pytest.mark.full]

FILLER = "Sheep graze on the meadows of the island in summer. "
ANSWER = "The lighthouse of Karnholm was built in 1847 by the engineer Ida Brandt."


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    """The answer stands on the second page, which is turned, as text that reads upright."""
    path = tmp_path / "island.pdf"
    with pymupdf.open() as document:
        for rotation, text in ((0, FILLER * 6), (90, ANSWER), (0, FILLER * 4)):
            page = document.new_page()
            page.set_rotation(rotation)
            place = pymupdf.Point(72, 200) * page.derotation_matrix
            for number, start in enumerate(range(0, len(text), 78)):
                line = pymupdf.Point(72, 200 + 16 * number) * page.derotation_matrix if number else place
                page.insert_text(line, text[start : start + 78], fontsize=11, rotate=rotation)
        document.save(path)
    return path


def middle(box: dict[str, float]) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def inside(outer: dict[str, float], inner: dict[str, float]) -> bool:
    x, y = middle(inner)
    return outer["x"] < x < outer["x"] + outer["width"] and outer["y"] < y < outer["y"] + outer["height"]


def pointed(mark: Any) -> str:
    """How the mark is filled now."""
    return str(mark.evaluate("element => getComputedStyle(element).getPropertyValue('--crag-pointed')"))


def read_by_ocr(png: bytes) -> str:
    """What stands in a picture, for who cannot see the text behind it."""
    from rapidocr import RapidOCR

    threads = {f"EngineConfig.onnxruntime.{kind}_op_num_threads": 1 for kind in ("intra", "inter")}
    engine = RapidOCR(params={"Global.log_level": "critical", "Global.use_cls": False, **threads})
    return " ".join(engine(png).txts or ())


def squashed(text: str) -> str:
    """Without spaces, case and signs, which OCR may take for others."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def test_the_place_of_an_answer_is_shown_and_its_page_can_be_inspected(app: str, browsing: Browsing, pdf: Path) -> None:
    page = browsing.page
    browsing.add_and_read(app, pdf)
    browsing.ask("In which year was the lighthouse of Karnholm built?")

    page.locator("[class*=st-key-cited-] button:visible", has_text="island.pdf p. 2").first.press("Enter")
    image = page.locator(".crag-sheet-page img")
    image.wait_for()
    browsing.settled()
    mark = page.locator(".crag-mark-cited").first
    outer, inner = image.bounding_box(), mark.bounding_box()
    assert inside(outer, inner)
    assert outer["width"] > outer["height"], "the turned page lies on its side"
    assert inner["width"] > 5 * inner["height"], "the line reads from left to right"
    assert abs(inner["x"] - outer["x"] - 72 / 842 * outer["width"]) < 8
    page.locator(".crag-item-cited").first.focus()
    assert pointed(mark).strip() == "1", "the strip of the list is shown on the page"
    browsing.shot("7-on-the-page")
    picture = urllib.request.urlopen(image.get_attribute("src")).read()
    assert squashed(ANSWER) in squashed(read_by_ocr(picture)), "it is the page that holds the answer"
    with page.expect_download() as download:
        page.get_by_role("button", name="Image").click()
    assert download.value.suggested_filename == "island-p2.png"
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    page.get_by_text("200 %").click()
    browsing.settled()
    assert image.bounding_box()["width"] > 2000
    page.get_by_role("button", name="Next").click()
    page.get_by_text("Page 3 of 3").wait_for()
    page.get_by_alt_text("Page 3 of island.pdf").wait_for()
    browsing.settled()
    assert ANSWER not in page.locator(".crag-sheet-list").inner_text(), "the list follows the page"

    page.get_by_test_id("stPageLink").filter(has_text="Knowledge base").first.click()
    table = page.get_by_test_id("stDataFrame")
    table.wait_for()
    browsing.settled()
    browsing.shot("8-knowledge-base")
    place = table.bounding_box()
    page.mouse.click(place["x"] + 60, place["y"] + 55)
    page.get_by_role("button", name="Page 2").click()
    page.locator(".crag-mark-cut").first.wait_for()
    browsing.settled()
    assert ANSWER in page.locator(".crag-item-cut:not(.crag-elsewhere)").first.inner_text()
    browsing.shot("9-page")
    page.reload()
    page.locator(".crag-mark-cut").first.wait_for()
    page.get_by_test_id("stPageLink").filter(has_text="Chat").first.click()
    kept = page.get_by_test_id("stChatMessage").filter(has_text="In which year")
    kept.first.wait_for()

    page.get_by_test_id("stButtonGroup").get_by_text("On the page").click()
    page.get_by_test_id("stPageLink").filter(has_text="In the knowledge base").click()
    page.locator(".crag-mark-cut").first.wait_for()
    page.get_by_role("button", name="All pages").click()
    page.locator(".st-key-file-controls").wait_for()
    browsing.settled()
    page.get_by_text("Force", exact=True).click()
    browsing.settled()
    page.get_by_role("button", name="Read again").click()
    page.get_by_text("OCR, for this file: Force").wait_for(timeout=120_000)
    page.locator(".st-key-library").get_by_text("3 pages read by OCR").first.wait_for(timeout=120_000)
    browsing.settled()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete the PDF").wait_for()
    browsing.settled()
    browsing.shot("10-delete")
    page.get_by_role("button", name="Delete the PDF").click()
    page.get_by_text("Nothing is indexed yet").first.wait_for()
    browsing.settled()
    assert list((pdf.parent / "Files").glob("*.pdf")) == []
    assert browsing.foreign() == []
