"""In a real browser: a marker leads to its page, an answer is copied, a PDF that comes along is read first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import ROOT, Browsing, a_pdf, build, folders, served, written_by
from model_server import ModelServer, Reply, serving

pytestmark = [pytest.mark.browser, pytest.mark.full]

TEXT = "The lighthouse of Karnholm was built in 1847 by the engineer Ida Brandt. It is forty metres tall."
NEWS = "The ferry to Karnholm leaves from the eastern pier at nine in the morning."
ANSWER = "The lighthouse was built in 1847 [1]. Penguins paid for it in 1911 [1]. It shines [7]."


@pytest.fixture(scope="module")
def writing_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, ModelServer, Path]]:
    """The running app over one PDF, with a model on this machine that writes."""
    folder = tmp_path_factory.mktemp("tools")
    a_pdf(folder / "Files" / "lighthouse.pdf", TEXT)
    with serving() as server:
        server.script = [Reply(ANSWER)]
        own = folders(folder) | written_by(server.base)
        build(own)
        with served(ROOT / "app_streamlit.py", folder, **own) as address:
            yield address, server, folder


def box_of(browsing: Browsing, app: str) -> Any:
    browsing.page.set_default_timeout(60_000)
    browsing.page.goto(app)
    return browsing.box()


def test_marks_markers_and_the_clipboard(writing_app: tuple[str, ModelServer, Path], browsing: Browsing) -> None:
    app, server, _ = writing_app
    page = browsing.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    box = box_of(browsing, app)
    box.fill("When was the lighthouse built?")
    box.press("Enter")
    page.locator(".crag-copy").first.wait_for()
    browsing.settled()
    marked = page.locator(".crag-doubt-unsupported").first
    assert marked.inner_text().startswith("Penguins paid for it")
    assert marked.evaluate("element => getComputedStyle(element).textDecorationStyle") == "dotted"
    assert page.locator(".crag-doubt-word").first.inner_text() == "not supported"
    assert page.locator(".crag-cite-unknown").inner_text() == "[7]?"

    page.locator(".crag-copy").first.click()
    page.get_by_role("button", name="Copied", exact=True).wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{ANSWER}\n\nSources:\n[1] lighthouse.pdf p. 1"

    page.get_by_text("Refined context 1 of").click()
    browsing.settled()
    shown = "".join(
        page.locator(".crag-sent > span").evaluate_all(
            "spans => spans.map(span => [...span.childNodes].filter(node => node.nodeType === 3)"
            ".map(node => node.data).join(''))"
        )
    )
    assert shown == "".join(message["content"] for message in server.chats[-1]["messages"])

    page.locator("a.crag-cite").first.focus()
    page.keyboard.press("Enter")
    page.locator(".crag-mark-cited").first.wait_for()
    assert "#" not in page.url
    assert browsing.foreign() == []


def test_a_pdf_that_comes_with_a_question_is_read_before_it_is_put(
    writing_app: tuple[str, ModelServer, Path], browsing: Browsing, tmp_path: Path
) -> None:
    app, server, folder = writing_app
    page = browsing.page
    box = box_of(browsing, app)
    server.script = [Reply("It leaves at nine [1].")]
    page.locator("[data-testid=stChatInput] input[type=file]").set_input_files(a_pdf(tmp_path / "ferry news.pdf", NEWS))
    page.get_by_test_id("stFileChipName").wait_for()
    box.fill('@"ferry news" When does the ferry leave?')
    box.press("Enter")
    page.locator("a.crag-cite").first.wait_for(timeout=120_000)
    browsing.settled()
    answer = page.get_by_test_id("stChatMessage").last.inner_text()
    assert "ferry news.pdf p. 1" in answer
    assert "Asked of: ferry news.pdf" in answer
    assert (folder / "Files" / "ferry news.pdf").is_file()
    assert "When does the ferry leave?" in server.chats[-1]["messages"][1]["content"]
    assert "@" not in server.chats[-1]["messages"][1]["content"]
