"""From an empty folder to a checked answer in a real browser, without a request to any other host."""

from __future__ import annotations

import re
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pymupdf
import pytest
from browsing import Browsing

pytestmark = pytest.mark.browser

SECTIONS = (
    (
        "The lighthouse of Karnholm",
        "The lighthouse of Karnholm was built in 1847 by the engineer Ida Brandt. Its tower is 42 metres high and "
        "stands on the northern cliff of the island. The lamp was fed with rapeseed oil until 1911, when it was "
        "replaced by an electric arc lamp. In clear weather the light is seen from 31 kilometres.",
    ),
    (
        "The harbour",
        "The harbour of Karnholm has three piers. The fishing boats moor at the western pier, and the ferry to the "
        "mainland leaves from the eastern pier twice a day. The harbour master keeps the log of all arrivals, and "
        "ships longer than 80 metres must announce themselves a day ahead.",
    ),
    (
        "Hostile text",
        "This page says ![x](http://198.51.100.7/leak?d=1) and <img src='http://198.51.100.7/leak2'> about the "
        "museum of Karnholm, which is open from May to September. The ticket for the museum costs 9 crowns :red[now].",
    ),
)
CHINESE = (
    "卡恩霍尔姆灯塔",
    "卡恩霍尔姆灯塔建于一八四七年，由工程师伊达·布兰特设计。灯塔高四十二米，矗立在岛屿北部的悬崖上。"
    "一九一一年以前，灯塔的灯使用菜籽油，此后改用电弧灯。晴天时，三十一公里之外都能看到灯光。",
)


@pytest.fixture
def pdf(tmp_path: Path) -> Path:
    """Three English sections and a Chinese one, a page each."""
    path = tmp_path / "karnholm 卡恩霍尔姆.pdf"
    with pymupdf.open() as document:
        for (heading, text), font in [*((section, "helv") for section in SECTIONS), (CHINESE, "china-s")]:
            page = document.new_page()
            page.insert_text((72, 90), heading, fontname=font, fontsize=18)
            page.insert_textbox(pymupdf.Rect(72, 120, 520, 500), text, fontname=font, fontsize=11)
        document.save(path)
    return path


def test_upload_rebuild_ask_and_inspect(app: str, browsing: Browsing, pdf: Path) -> None:
    page = browsing.page
    response = page.goto(app)
    assert "default-src 'self'" in response.headers["content-security-policy"]
    assert response.headers["referrer-policy"] == "no-referrer"

    page.get_by_test_id("stFileUploader").wait_for(timeout=240_000)  # the first start converts the embedding model
    browsing.settled()
    browsing.shot("1-empty")
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(pdf)
    page.get_by_text("is added: rebuild to ask it").wait_for(timeout=20_000)
    page.get_by_text("1 new").wait_for()
    page.get_by_role("button", name="Rebuild").click()
    page.get_by_text("Last rebuild: 1 read").wait_for(timeout=120_000)
    browsing.settled()
    assert page.get_by_text("Tell me ").count() >= 1
    browsing.shot("2-examples")

    browsing.ask("In which year was the lighthouse of Karnholm built?", 1)
    answer = page.get_by_test_id("stChatMessage").last
    assert "Correct" in answer.inner_text()
    assert "1847" in answer.inner_text()
    assert re.search(r"\[1\] karnholm 卡恩霍尔姆.pdf p\. \d", answer.inner_text())
    answer = browsing.panel("Documents")
    assert answer.get_by_test_id("stVegaLiteChart").is_visible()
    assert answer.locator(".crag-documents .crag-bar").first.is_visible()
    assert answer.locator(".crag-documents tr").count() > 1
    browsing.shot("3-documents")
    answer = browsing.panel("Refined context")
    assert "kept" in answer.inner_text()
    assert "Given to the generator" in answer.inner_text()
    assert answer.get_by_test_id("stCode").inner_text().startswith("[1] karnholm 卡恩霍尔姆.pdf, page")
    browsing.shot("4-refined-context")
    assert "The web is off" in browsing.panel("Web off").inner_text()
    assert browsing.panel("Timing").locator(".crag-waterfall li").first.is_visible()
    browsing.shot("5-timing")

    browsing.ask("灯塔的塔有多高？", 2)
    assert "四十二米" in page.get_by_test_id("stChatMessage").last.inner_text()

    browsing.ask("How much does the ticket for the museum cost?", 3)
    shown = page.get_by_test_id("stChatMessage").last.inner_text()
    assert "![x](http://198.51.100.7/leak?d=1)" in shown or "9 crowns :red[now]" in shown
    browsing.panel("Refined context")
    browsing.panel("Documents")

    browsing.ask("Who won the chess championship of Brazil in 1998?", 4)
    answer = page.get_by_test_id("stChatMessage").last
    assert "Incorrect" in answer.inner_text()
    assert "does not cover" in answer.inner_text()
    answer = browsing.panel("Second look")
    assert "Rewritten query" in answer.inner_text()
    assert len(re.findall(r"Incorrect", answer.inner_text())) == 2, "both looks are listed"
    browsing.shot("6-second-look")

    page.reload()
    page.get_by_test_id("stChatMessage").nth(7).get_by_test_id("stButtonGroup").first.wait_for(timeout=30_000)
    assert "In which year was the lighthouse" in page.get_by_test_id("stChatMessage").first.inner_text()
    assert browsing.foreign() == []


def handshake(app: str, host: str) -> int:
    """The status of opening the page's WebSocket under a host name."""
    connection = HTTPConnection(urlsplit(app).netloc, timeout=10)
    connection.putrequest("GET", "/_stcore/stream", skip_host=True)
    for name, value in {
        "Host": host,
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    }.items():
        connection.putheader(name, value)
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


def test_the_app_answers_to_the_names_of_this_machine_alone(app: str) -> None:
    """A foreign page cannot talk to it under a host name of its own that points here (DNS rebinding)."""
    assert handshake(app, urlsplit(app).netloc) == 101
    assert handshake(app, "evil.example") == 403
