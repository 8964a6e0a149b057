"""An answer replayed with other thresholds and handed on as a report, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browsing import ARTIFACTS, Browsing

pytestmark = [pytest.mark.browser, pytest.mark.full]

ANSWER = "The lighthouse of Karnholm was built in 1847 by the engineer Ida Brandt."


def test_an_answer_is_replayed_by_keyboard_and_handed_on_as_a_report_that_loads_nothing(
    app: str, browsing: Browsing, browser: Any, island: Path
) -> None:
    page = browsing.page
    browsing.add_and_read(app, island)
    browsing.ask("In which year was the lighthouse of Karnholm built?")
    panel = browsing.panel("Replay")
    panel.get_by_text("nothing changes").wait_for()
    thumbs = panel.get_by_role("slider")
    assert thumbs.count() == 3
    lower, upper = thumbs.nth(0), thumbs.nth(1)
    for thumb in (lower, upper):
        assert "lower and upper threshold" in named(thumb)
    upper.focus()
    upper.press("End")
    panel.get_by_text("the action would be Ambiguous").wait_for()
    assert panel.get_by_role("button", name="Answer with these").is_enabled()
    browsing.settled()
    browsing.shot("11-replay")
    lower.focus()
    lower.press("End")
    panel.get_by_text("no evidence is left").wait_for()
    assert lower.get_attribute("aria-valuenow") == upper.get_attribute("aria-valuenow"), "lower never passes upper"
    panel.get_by_role("button", name="Back").click()
    panel.get_by_text("nothing changes").wait_for()

    browsing.settled()  # the popover stays where it opened: nothing above it may still grow
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Report with page images").click()
    assert download.value.suggested_filename.endswith("in-which-year-was-the-lighthouse-of-karnholm-built.html")
    report = island.with_name("report.html")
    download.value.save_as(report)
    looks_as_it_should(browser, report)
    assert browsing.foreign() == []


def named(thumb: Any) -> str:
    """What a screen reader calls it."""
    return str(
        thumb.evaluate(
            """element => element.getAttribute('aria-label')
            || (element.getAttribute('aria-labelledby') || '').split(' ')
               .map(id => document.getElementById(id)?.textContent || '').join(' ')"""
        )
    )


def looks_as_it_should(browser: Any, report: Path) -> None:
    """The report alone, in a browser that has never seen the app: it asks for nothing but itself."""
    for width, scheme in ((1280, "light"), (420, "dark")):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
        page = context.new_page()
        asked, said = [], []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.on("console", lambda message, said=said: said.append(message.text))
        page.goto(report.as_uri())
        assert ANSWER in page.locator(".answer").inner_text()
        assert page.locator("h4").filter(has_text="island.pdf p. 2").filter(has_text="cited").count() == 1
        image = page.get_by_alt_text("Page 2 of island.pdf")
        assert image.evaluate("element => element.complete && element.naturalWidth") > 500
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"
        assert [address for address in asked if not address.startswith("data:")] == [report.as_uri()]
        assert said == [], "the policy has nothing to refuse"
        ARTIFACTS.mkdir(exist_ok=True)
        page.screenshot(path=ARTIFACTS / f"12-report-{width}-{scheme}.png", full_page=True)
        context.close()
