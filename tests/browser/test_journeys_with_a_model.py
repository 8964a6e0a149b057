"""Journeys with a model on this machine that counts its calls: replay, overruling, Stop, a restart, a rebuild."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from browsing import ROOT, Browsing, a_pdf, build, folders, served, written_by
from model_server import ModelServer, Reply, serving

pytestmark = pytest.mark.browser

QUESTION = "In which year was the lighthouse of Karnholm built?"
PAGES = (
    "The lighthouse of Karnholm was built in 1847 by the engineer Ida Brandt. It is forty metres tall.",
    "The ferry to Karnholm leaves from the eastern pier at nine in the morning. " * 3,
    "Sheep graze on the meadows of the island in summer. The keepers of the lighthouse grew potatoes. " * 3,
)
WRITTEN = "The lighthouse was built in 1847 [1]."
WITHOUT = "The documents do not name the year."


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("journeys")
    a_pdf(folder / "Files" / "island.pdf", *PAGES)
    build(folders(folder))
    return folder


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def writing_app(place: Path, model: ModelServer) -> Iterator[str]:
    with served(ROOT / "app_streamlit.py", place, **folders(place), **written_by(model.base)) as address:
        yield address


def opened(app: str, browsing: Browsing, model: ModelServer, *replies: Reply) -> Any:
    """The page with nothing asked, and a model that has not been asked and will say this."""
    model.forget()
    model.script = list(replies)
    browsing.page.set_default_timeout(60_000)
    browsing.page.goto(app)
    browsing.box()
    return browsing.page


def named(place: Any, name: str) -> Any:
    """The button that is read out as `name`."""
    return place.get_by_role("button", name=name, exact=True)


def moved_to_the_end(browsing: Browsing, panel: Any) -> None:
    """The upper threshold at 1.00: no score reaches it."""
    upper = panel.get_by_role("slider").nth(1)
    upper.focus()
    upper.press("End")
    panel.get_by_text("the action would be Ambiguous").wait_for()
    browsing.settled()


@pytest.mark.full
def test_a_replay_shows_another_action_without_a_call_and_its_answer_costs_one(
    writing_app: str, model: ModelServer, browsing: Browsing
) -> None:
    page = opened(writing_app, browsing, model, Reply(WRITTEN))
    answer = browsing.ask(QUESTION)
    assert "Correct" in answer.inner_text()
    assert len(model.chats) == 1
    panel = browsing.panel("Replay")
    panel.get_by_test_id("stVegaLiteChart").first.wait_for()
    assert page.locator(".crag-question").bounding_box()["y"] >= 0, "the panel opens where it was clicked"
    moved_to_the_end(browsing, panel)
    assert "Ambiguous" in page.locator("[class*=st-key-changes-]").inner_text()
    assert len(model.chats) == 1, "looking costs no call"
    named(panel, "Answer with these").click()
    page.get_by_text("2 of 2").wait_for()
    answer = browsing.answer()
    assert re.search(r"^\s*Ambiguous", answer.inner_text(), re.M)
    assert "thresholds" in answer.inner_text()
    assert len(model.chats) == 2
    assert model.chats[0]["messages"][-1] == model.chats[1]["messages"][-1], "from the same documents"
    assert browsing.foreign() == []


def test_a_document_that_is_overruled_is_left_out_of_the_next_version_and_the_first_stays(
    writing_app: str, model: ModelServer, browsing: Browsing
) -> None:
    page = opened(writing_app, browsing, model, Reply(WRITTEN), Reply(WITHOUT))
    browsing.ask(QUESTION)
    panel = browsing.panel("Documents")
    panel.get_by_text("Correct a grade").click()
    panel.locator("[class*=st-key-label-]").first.get_by_text("Does not").click()
    bar = page.locator("[class*=st-key-changes-]")
    bar.get_by_text("document 1 does not answer").wait_for()
    browsing.settled()
    assert len(model.chats) == 1, "what follows is shown without a call"
    browsing.shot("14-overruled")
    named(bar, "Answer with these changes").click()
    page.get_by_text("2 of 2").wait_for()
    answer = browsing.answer()
    assert "Changed by you: document 1 does not answer" in answer.inner_text()
    assert "Correct" not in answer.inner_text().partition("\n\n")[0]
    assert PAGES[0][:40] in model.chats[0]["messages"][-1]["content"]
    assert all(PAGES[0][:40] not in said["messages"][-1]["content"] for said in model.chats[1:])
    named(page, "Version before").click()
    page.get_by_text("1 of 2").wait_for()
    browsing.settled()
    assert "1847" in page.locator(".crag-answer").inner_text()
    before = len(model.chats)
    named(page, "Regenerate").click()
    page.get_by_text("3 of 3").wait_for()
    browsing.answer()
    assert len(model.chats) > before
    assert browsing.foreign() == []


@pytest.mark.full
def test_stop_keeps_what_was_written_and_hangs_up_on_the_model(
    writing_app: str, model: ModelServer, browsing: Browsing
) -> None:
    page = opened(writing_app, browsing, model, Reply("Built in 1847 [1]. " + "And more of it. " * 400, pace=0.05))
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(QUESTION)
    box.press("Enter")
    page.locator(".crag-answer", has_text="And more of it.").wait_for()
    assert model.left == []
    browsing.shot("15-streaming")
    named(page, "Stop").click()
    model.wait_left(seconds=10)
    said = (
        page.get_by_test_id("stChatMessage").last.get_by_text("You stopped this answer: what was ready is kept.").last
    )
    said.wait_for()
    browsing.settled()
    kept = page.locator(".crag-answer").inner_text()
    assert kept.startswith("Built in 1847")
    assert len(kept) < 3000
    assert named(page, "Stop").count() == 0
    page.reload()
    said.wait_for()
    assert page.locator(".crag-answer").inner_text() == kept, "it is kept over a reload"
    model.script = [Reply(WRITTEN)]
    assert "1847" in browsing.ask(QUESTION, 2).inner_text(), "the next question is answered as ever"


@pytest.mark.full
def test_a_rebuild_during_an_answer_disturbs_neither(
    writing_app: str, model: ModelServer, browsing: Browsing, place: Path
) -> None:
    page = opened(writing_app, browsing, model, Reply(WRITTEN + " And more of it." * 60, pace=0.05))
    a_pdf(place / "Files" / "museum.pdf", "The museum of Karnholm is open from May to September and costs nine crowns.")
    box = page.get_by_test_id("stChatInputTextArea")
    box.fill(QUESTION)
    box.press("Enter")
    page.locator(".crag-answer", has_text="And more of it.").wait_for()
    named(page, "Rebuild").click()
    page.get_by_text("Last rebuild: 1 read").wait_for()
    assert model.left == [], "the answer goes on"
    answer = browsing.answer()
    assert answer.locator(".crag-answer").inner_text().count("And more of it.") == 60
    assert "island.pdf p. 1" in answer.inner_text()
    panel = browsing.panel("On the page")
    panel.get_by_alt_text("Page 1 of island.pdf").wait_for()
    model.script = [Reply("It costs nine crowns [1].")]
    browsing.ask("How much does the museum of Karnholm cost?", 2)
    assert "museum.pdf" in browsing.panel("Documents").inner_text(), "what was added can be asked"
    assert "nine crowns" in model.chats[-1]["messages"][-1]["content"]
    assert browsing.foreign() == []


def drawn(browsing: Browsing) -> dict[str, str]:
    """Every panel of the last answer as it reads, by its label."""
    answer = browsing.page.get_by_test_id("stChatMessage").last
    labels = answer.get_by_test_id("stButtonGroup").first.get_by_role("radio").all_inner_texts()
    return {label: browsing.panel(label).inner_text() for label in labels}


@pytest.mark.full
def test_after_the_server_was_killed_the_address_opens_the_conversation_with_every_panel_and_no_call(
    browsing: Browsing, tmp_path: Path, model: ModelServer
) -> None:
    a_pdf(tmp_path / "Files" / "island.pdf", *PAGES)
    settings = folders(tmp_path) | written_by(model.base)
    build(settings)
    with served(ROOT / "app_streamlit.py", tmp_path, signal.SIGKILL, **settings) as app:
        page = opened(app, browsing, model, Reply(WRITTEN))
        browsing.ask(QUESTION)
        panel = browsing.panel("Replay")
        moved_to_the_end(browsing, panel)
        named(panel, "Answer with these").click()
        page.get_by_text("2 of 2").wait_for()
        browsing.answer()
        said, before, query = page.locator(".crag-answer").inner_text(), drawn(browsing), urlsplit(page.url).query
    assert len(before) >= 6
    asked = len(model.asked)
    with served(ROOT / "app_streamlit.py", tmp_path, **settings) as app:
        page.goto(f"{app}/?{query}")
        browsing.answer()
        page.get_by_text("2 of 2").wait_for()
        assert page.locator(".crag-answer").inner_text() == said
        assert drawn(browsing) == before
    assert len(model.asked) == asked, "reopening asks no model"
    assert browsing.foreign() == []
