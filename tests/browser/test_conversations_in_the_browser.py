"""Conversations in a real browser: kept over a restart, answered again, branched off, deleted and brought back."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browsing import ROOT, Browsing, folders, served

pytestmark = pytest.mark.browser

FIRST = "What is a strip?"


def named(page: Any, name: str) -> Any:
    """The button that is read out as `name`."""
    return page.get_by_role("button", name=name, exact=True)


def listed(page: Any, title: str) -> Any:
    """The row's button in the list."""
    return page.locator("[class*=st-key-talk-]").get_by_role("button", name=title, exact=True)


def ask(browsing: Browsing, question: str, answers: int) -> None:
    """Asks, and waits for so many answers on the page."""
    box = browsing.page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")
    browsing.page.locator(".crag-answer").nth(answers - 1).wait_for()
    named(browsing.page, "Regenerate").nth(answers - 1).wait_for()
    browsing.settled()


def test_a_conversation_is_asked_restarted_answered_again_branched_off_deleted_and_brought_back(
    browsing: Browsing, tmp_path: Path
) -> None:
    page = browsing.page
    page.set_default_timeout(60_000)
    (tmp_path / "Files").mkdir()
    shutil.copy(ROOT / "Files" / "crag-guide.pdf", tmp_path / "Files")
    with served(ROOT / "app_streamlit.py", tmp_path, **folders(tmp_path)) as app:
        page.goto(app)
        named(page, "Rebuild").click(timeout=240_000)
        page.get_by_text("Last rebuild: 1 read").wait_for(timeout=120_000)
        ask(browsing, FIRST, 1)
        ask(browsing, "Where is the index stored?", 2)
        query, said = urlsplit(page.url).query, page.locator(".crag-answer").all_inner_texts()
    with served(ROOT / "app_streamlit.py", tmp_path, **folders(tmp_path)) as app:
        page.goto(f"{app}/knowledge")
        listed(page, FIRST).click()
        page.locator(".crag-answer").nth(1).wait_for()
        browsing.settled()
        assert urlsplit(page.url).query == query
        assert page.locator(".crag-answer").all_inner_texts() == said
        named(page, "Regenerate").nth(1).click()
        page.get_by_text("2 of 2").wait_for()
        browsing.settled()
        named(page, "Version before").click()
        page.get_by_text("1 of 2").wait_for()
        browsing.shot("12-versions")
        named(page, "Edit the question").last.click()
        field = page.get_by_role("textbox", name="Edit the question")
        field.fill("Where do your own things lie?")
        named(page, "Ask in a new conversation").click()
        page.locator("h2", has_text="Where do your own things lie?").wait_for()
        page.locator(".crag-answer").nth(1).wait_for()
        browsing.settled()
        assert urlsplit(page.url).query != query
        branch = listed(page, "Where do your own things lie?")
        page.get_by_role("button", name="More about “Where do your own things lie?”").click()
        named(page, "Delete").click()
        branch.wait_for(state="detached")
        assert not urlsplit(page.url).query
        browsing.settled()
        browsing.shot("13-conversations")
        named(page, "Undo").click()
        branch.wait_for()
        browsing.settled()
        assert page.locator(".crag-question").all_inner_texts() == [FIRST, "Where do your own things lie?"]
        search = page.get_by_placeholder("Search conversations")
        search.fill("OWN things")
        search.press("Enter")
        listed(page, FIRST).wait_for(state="detached")
        assert branch.is_visible()
    assert browsing.foreign() == []
