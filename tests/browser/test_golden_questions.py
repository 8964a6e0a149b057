"""Golden questions in a real browser: kept under an answer, edited in the table, run, and opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsing import Browsing

pytestmark = [pytest.mark.browser, pytest.mark.full]

KNOWN = "Who built the lighthouse of Karnholm?"
UNKNOWN = "Who painted the Mona Lisa?"
ROW, HEAD = 35, 38
"""Pixels of a row of the table, and of its head."""


def test_a_question_goes_from_an_answer_into_the_table_is_edited_run_and_opened(
    app: str, browsing: Browsing, island: Path
) -> None:
    page = browsing.page
    browsing.add_and_read(app, island)
    browsing.ask("In which year was the lighthouse of Karnholm built?")
    page.get_by_role("button", name="Golden", exact=True).click()
    page.get_by_role("textbox", name="Question", exact=True).fill(KNOWN)
    page.get_by_role("textbox", name="Answer holds").fill("Ida Brandt")
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Golden: saved").wait_for()

    page.get_by_role("link", name="Evaluate").click()
    page.get_by_text("1 golden question. 1 is to be asked").wait_for()
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("textbox", name="Question", exact=True).fill(UNKNOWN)
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_text("2 golden questions.").wait_for()
    browsing.settled()
    page.keyboard.press("Escape")

    table = page.get_by_test_id("stDataFrame").first.bounding_box()
    page.mouse.dblclick(table["x"] + 150, table["y"] + HEAD + ROW * 1.5)
    page.wait_for_timeout(500)
    page.keyboard.press("Control+A")
    page.keyboard.type(KNOWN, delay=20)
    page.keyboard.press("Enter")
    page.get_by_text("Row 2: The same question is there already").wait_for()
    assert page.get_by_role("button", name="Save", exact=True).is_disabled()
    page.get_by_role("button", name="Discard").click()
    page.get_by_text("Not saved yet").wait_for(state="detached")

    page.get_by_role("button", name="Run changed (2)").click()
    page.get_by_text("All have an answer that still holds").wait_for(timeout=120_000)
    page.get_by_text("Only 1 labelled question: fewer than 30 say little").wait_for()
    browsing.settled()
    browsing.shot("evaluate")
    results = page.get_by_test_id("stDataFrame").nth(1)
    results.scroll_into_view_if_needed()
    box = results.bounding_box()
    page.mouse.click(box["x"] + 250, box["y"] + HEAD + ROW / 2)
    page.get_by_text("The answer holds “Ida Brandt”.").wait_for()
    page.reload()
    page.get_by_text("Back to the evaluation").wait_for()
    assert page.get_by_text("Ida Brandt").count() >= 2
    assert browsing.foreign() == []
