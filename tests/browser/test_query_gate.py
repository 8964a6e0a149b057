"""The gate before the web in a real browser: nothing leaves before the click, then exactly what was edited."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest
from browsing import ROOT, Browsing, served

from tests.search.tavily_server import KEY, TavilyServer, a_result, serving

pytestmark = pytest.mark.browser

LOCAL = "The harbour of Karnholm has three piers. The ferry to the mainland leaves from the eastern pier twice a day."
QUESTION = "Who painted the Mona Lisa in the Louvre?"
EDITED = "mona lisa painter name"


@pytest.fixture
def tavily() -> Iterator[TavilyServer]:
    with serving() as server:
        server.finds(
            a_result(
                "The Mona Lisa was painted by Leonardo da Vinci between 1503 and 1519.", "https://art.example/", "Art"
            )
        )
        yield server


@pytest.fixture
def asking_app(tmp_path: Path, tavily: TavilyServer) -> Iterator[str]:
    """The running app with one PDF, a web search that asks first, and its server on this machine."""
    (tmp_path / "Files").mkdir()
    with pymupdf.open() as pdf:
        pdf.new_page().insert_textbox(pymupdf.Rect(72, 72, 520, 760), LOCAL, fontsize=11)
        pdf.save(tmp_path / "Files" / "harbour.pdf")
    own = {
        "CRAG_FILES_DIR": str(tmp_path / "Files"),
        "CRAG_CHROMA_DIR": str(tmp_path / "chroma_db"),
        "CRAG_DATA_DIR": str(tmp_path / "own"),
        "CRAG_WEB_PROVIDER": "tavily",
        "TAVILY_API_KEY": KEY,
        "CRAG_TAVILY_URL": tavily.url,
        "CRAG_WEB": "ask",
    }
    with served(ROOT / "app_streamlit.py", tmp_path, **own) as address:
        yield address


def test_the_query_is_edited_sent_by_the_keyboard_and_found_in_the_panel(
    asking_app: str, tavily: TavilyServer, browsing: Browsing
) -> None:
    page = browsing.page
    page.goto(asking_app)
    page.get_by_role("button", name="Rebuild").click(timeout=240_000)  # the first start converts the embedding model
    page.get_by_text("Last rebuild: 1 read").wait_for(timeout=120_000)
    browsing.settled()
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(QUESTION)
    box.press("Enter")
    field = page.get_by_label("Search query")
    field.wait_for(timeout=60_000)
    proposed = field.input_value()
    assert "Mona" in proposed
    page.get_by_text("May this query be sent to tavily?").wait_for()
    browsing.shot("gate-1-asking")
    assert tavily.requests == []

    page.reload()
    field = page.get_by_label("Search query")
    field.wait_for(timeout=30_000)
    assert field.input_value() == proposed, "it waits still"
    field.click()
    field.press("Control+a")
    field.press_sequentially(EDITED, delay=120)  # slower than the page looks for news: what is typed stays
    page.wait_for_timeout(800)
    assert field.input_value() == EDITED
    assert tavily.requests == []
    field.press("Enter")

    answer = page.get_by_test_id("stChatMessage").last
    answer.get_by_test_id("stButtonGroup").first.wait_for(timeout=60_000)
    browsing.settled()
    assert [request["query"] for request in tavily.requests] == [EDITED]
    assert "Leonardo da Vinci" in answer.inner_text()
    answer.get_by_test_id("stButtonGroup").first.get_by_text("Web 1").click()
    answer.get_by_text(f"“{EDITED}” was sent to tavily").first.wait_for(timeout=20_000)
    assert f"You edited it; proposed was “{proposed}”." in answer.inner_text().replace("\u2060", "")
    browsing.shot("gate-2-answered")
    assert browsing.foreign() == []


def test_declined_by_the_keyboard_nothing_is_sent(asking_app: str, tavily: TavilyServer, browsing: Browsing) -> None:
    page = browsing.page
    page.goto(asking_app)
    page.get_by_role("button", name="Rebuild").click(timeout=240_000)
    page.get_by_text("Last rebuild: 1 read").wait_for(timeout=120_000)
    browsing.settled()
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(QUESTION)
    box.press("Enter")
    page.get_by_label("Search query").focus(timeout=60_000)
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert "Do not search" in page.evaluate("document.activeElement.innerText")
    page.keyboard.press("Enter")
    answer = page.get_by_test_id("stChatMessage").last
    answer.get_by_test_id("stButtonGroup").first.wait_for(timeout=60_000)
    assert "The query was not sent" in answer.inner_text()
    assert tavily.requests == []
