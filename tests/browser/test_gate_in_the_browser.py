"""The gate before the web in a real browser: nothing leaves before the click, then exactly what was edited."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browsing import ROOT, Browsing, a_pdf, build, folders, served

from tests.search.tavily_server import KEY, TavilyServer, a_result, serving

pytestmark = [pytest.mark.browser, pytest.mark.full]

LOCAL = "The harbour of Karnholm has three piers. The ferry to the mainland leaves from the eastern pier twice a day."
QUESTION = "Who painted the Mona Lisa in the Louvre?"
EDITED = "mona lisa painter name"


@pytest.fixture
def tavily(asking_app: tuple[str, TavilyServer]) -> TavilyServer:
    """The web search of the running app, with nothing asked yet."""
    asking_app[1].requests.clear()
    return asking_app[1]


@pytest.fixture(scope="module")
def asking_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, TavilyServer]]:
    """The running app with one PDF, a web search that asks first, and its server on this machine."""
    folder = tmp_path_factory.mktemp("gate")
    a_pdf(folder / "Files" / "harbour.pdf", LOCAL)
    with serving() as server:
        server.finds(a_result("The Mona Lisa was painted by Leonardo da Vinci.", "https://art.example/", "Art"))
        own = folders(folder) | {
            "CRAG_WEB_PROVIDER": "tavily",
            "TAVILY_API_KEY": KEY,
            "CRAG_TAVILY_URL": server.url,
            "CRAG_WEB": "ask",
            "CRAG_WEB_CACHE_HOURS": "0",
        }
        build(own)
        with served(ROOT / "app_streamlit.py", folder, **own) as address:
            yield address, server


def asked(browsing: Browsing, app: str) -> Any:
    """The field with the query, once the question has led to it."""
    browsing.page.goto(app)
    box = browsing.box()
    box.fill(QUESTION)
    box.press("Enter")
    field = browsing.page.get_by_label("Search query")
    field.wait_for(timeout=60_000)
    return field


def test_the_query_is_edited_sent_by_the_keyboard_and_found_in_the_panel(
    asking_app: tuple[str, TavilyServer], tavily: TavilyServer, browsing: Browsing
) -> None:
    page, field = browsing.page, asked(browsing, asking_app[0])
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


def test_declined_by_the_keyboard_nothing_is_sent(
    asking_app: tuple[str, TavilyServer], tavily: TavilyServer, browsing: Browsing
) -> None:
    page = browsing.page
    asked(browsing, asking_app[0]).focus()
    for _ in range(4):  # past the field's own parts and the other button
        page.keyboard.press("Tab")
        if "Do not search" in page.evaluate("document.activeElement.innerText"):
            break
    assert "Do not search" in page.evaluate("document.activeElement.innerText")
    page.keyboard.press("Enter")
    answer = page.get_by_test_id("stChatMessage").last
    answer.get_by_test_id("stButtonGroup").first.wait_for(timeout=60_000)
    assert "The query was not sent" in answer.inner_text()
    assert tavily.requests == []
