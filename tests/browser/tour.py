"""A tour through the states of the page, with a model and a web search on this machine: every stop has a name."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from browsing import ROOT, Browsing, a_pdf, folders, served, written_by
from model_server import ModelServer, Reply, said_to
from model_server import serving as model_serving

from crag.knowledge_base.locks import build_lock
from tests.search.tavily_server import KEY, a_result
from tests.search.tavily_server import serving as web_serving

KARNHOLM = (
    (
        "The lighthouse of Karnholm",
        "The lighthouse of Karnholm was built in 1847 by the engineer Ida Brandt. Its tower is 42 metres high and "
        "stands on the northern cliff of the island. The lamp was fed with rapeseed oil until 1911, when it was "
        "replaced by an electric arc lamp. In clear weather the light is seen from 31 kilometres.",
    ),
    (
        "The harbour",
        "The harbour of Karnholm has three piers. The fishing boats moor at the western pier, and the ferry to the "
        "mainland leaves from the eastern pier twice a day. Ships longer than 80 metres must announce themselves a "
        "day ahead.",
    ),
    (
        "The museum of the keepers",
        "The museum of Karnholm shows the log of the lighthouse keepers. It is open from May to September, and the "
        "ticket costs 9 crowns.",
    ),
)
FARMING = (
    (
        "Farming on the island",
        "Sheep graze on the meadows of the island in summer. In winter they are fed with hay from the southern farms. "
        "The farmers grow potatoes, barley and a little rye. The soil is sandy and dries out early.",
    ),
)
CORRECT = "In which year was the lighthouse of Karnholm built?"
QUERIES = {
    "Mona Lisa": "mona lisa louvre painter",
    "Brazil": "brazil chess championship year",
    "lighthouse": "karnholm lighthouse year built",
}
"""What the model makes of a question for the web, by a word of it."""
OUTSIDE = "Who painted the Mona Lisa in the Louvre?"
DOUBTED = "The lighthouse was built in 1847 [1]. The engineer Ida Brandt drew the plans [1]. Penguins paid for it [1]."


MAIN = {
    "examples",
    "correct",
    "documents",
    "refined-context",
    "replay",
    "overruled",
    "library",
    "evaluate",
    "settings-models",
}
"""The stops of which there is a picture of the dark page too."""
Scene = Callable[["World", Browsing], Iterator[str]]


@dataclass
class World:
    """The running app over a folder, and the model that answers it."""

    app: str
    model: ModelServer
    folder: Path

    def says(self, text: str, **more: Any) -> None:
        """What the model writes from now on; a query for the web it makes of the question as it should."""

        def reply(body: dict[str, Any]) -> Reply:
            if any(key in body for key in ("response_format", "tools")):
                return Reply(
                    json.dumps({"query": next(query for word, query in QUERIES.items() if word in said_to(body))})
                )
            return Reply(text, **more)

        self.model.script = reply


@contextlib.contextmanager
def world(folder: Path) -> Iterator[World]:
    """The app over an empty folder; the web is searched only after the person said so."""
    (folder / "Files").mkdir(parents=True)
    with model_serving() as model, web_serving() as web:
        web.finds(a_result("The Mona Lisa was painted by Leonardo da Vinci.", "https://art.example/mona", "Mona Lisa"))
        own = folders(folder) | written_by(model.base)
        own |= {"CRAG_WEB_PROVIDER": "tavily", "TAVILY_API_KEY": KEY, "CRAG_TAVILY_URL": web.url, "CRAG_WEB": "ask"}
        with served(ROOT / "app_streamlit.py", folder, **own) as app:
            yield World(app, model, folder)


def named(place: Any, name: str) -> Any:
    """The button that is read out as `name`."""
    return place.get_by_role("button", name=name, exact=True)


def anew(world: World, browsing: Browsing) -> Any:
    """The chat with nothing asked."""
    browsing.page.goto(world.app)
    browsing.box()
    return browsing.page


def send(browsing: Browsing, question: str) -> None:
    box = browsing.page.get_by_test_id("stChatInputTextArea")
    box.fill(question)
    box.press("Enter")


def shut(browsing: Browsing) -> None:
    """Closes the panel of the last answer that is open."""
    answer = browsing.page.get_by_test_id("stChatMessage").last
    answer.get_by_test_id("stButtonGroup").first.locator("[aria-checked=true], [aria-pressed=true]").click()
    answer.locator("[class*=st-key-open-]").wait_for(state="detached")
    browsing.settled()


def first_start(world: World, browsing: Browsing) -> Iterator[str]:
    page = browsing.page
    page.set_default_timeout(60_000)
    page.goto(world.app)
    page.get_by_test_id("stFileUploader").wait_for(timeout=240_000)
    browsing.settled()
    yield "no-files"
    a_pdf(world.folder / "Files" / "karnholm.pdf", *KARNHOLM)
    a_pdf(world.folder / "Files" / "farming.pdf", *FARMING)
    (world.folder / "Files" / "broken.pdf").write_bytes(b"no PDF at all")
    page.reload()
    with build_lock(world.folder / "chroma_db" / "build.lock"):
        named(page, "Rebuild").click()
        page.get_by_text("another process").first.wait_for()
        browsing.settled()
        yield "built-elsewhere"
    named(page, "Rebuild").click()
    page.get_by_text("Last rebuild: 2 read").wait_for(timeout=120_000)
    browsing.settled()
    yield "examples"


def answered(world: World, browsing: Browsing) -> Iterator[str]:
    """An answer and every panel of it."""
    anew(world, browsing)
    world.says(DOUBTED)
    browsing.ask(CORRECT)
    yield "correct"
    for label, name in (
        ("Documents", "documents"),
        ("Refined context", "refined-context"),
        ("On the page", "on-the-page"),
        ("Web", "web-not-asked"),
        ("Timing", "timing"),
    ):
        browsing.panel(label)
        yield name
    panel = browsing.panel("Compare")
    world.says("It was built in 1802, as far as I know.")
    panel.get_by_role("button").first.click()
    panel.get_by_text("It was built in 1802").wait_for()
    browsing.settled()
    yield "compare"
    browsing.panel("Replay")
    yield "replay"


def overruled(world: World, browsing: Browsing) -> Iterator[str]:
    """The last answer overruled; its versions."""
    page = browsing.page
    panel = browsing.panel("Documents")
    panel.get_by_text("Correct a grade").click()
    panel.locator("[class*=st-key-label-]").last.get_by_text("Answers the question").click()
    page.locator("[class*=st-key-changes-]").wait_for()
    browsing.settled()
    yield "overruled"
    world.says("The lighthouse was built in 1847 [1].")
    named(page, "Answer with these changes").click()
    page.get_by_text("2 of 2").wait_for()
    browsing.answer()
    shut(browsing)
    yield "versions"
    named(page, "Export").click()
    named(page, "Text as Markdown").wait_for()
    browsing.settled()
    yield "export"
    page.keyboard.press("Escape")
    named(page, "Golden").click()
    page.get_by_role("textbox", name="Question", exact=True).wait_for()
    browsing.settled()
    yield "golden"
    named(page, "Save").click()
    named(page, "Edit the question").last.click()
    page.get_by_role("textbox", name="Edit the question").wait_for()
    browsing.settled()
    yield "editing"


def ambiguous(world: World, browsing: Browsing) -> Iterator[str]:
    """The same question where nothing reaches the upper threshold: the web is asked, and declined."""
    page = anew(world, browsing)
    browsing.ask(CORRECT)
    panel = browsing.panel("Replay")
    upper = panel.get_by_role("slider").nth(1)
    upper.focus()
    upper.press("End")
    panel.get_by_text("the action would be Ambiguous").wait_for()
    browsing.settled()
    yield "replay-moved"
    named(panel, "Answer with these").click()
    named(page, "Do not search").click()
    page.get_by_text("2 of 2").wait_for()
    browsing.answer()
    shut(browsing)
    yield "ambiguous"


def outside(world: World, browsing: Browsing) -> Iterator[str]:
    """A question that the documents do not cover: by the web, and without it."""
    page = anew(world, browsing)
    world.says("The Mona Lisa was painted by Leonardo da Vinci [1].")
    send(browsing, OUTSIDE)
    page.get_by_label("Search query").wait_for()
    browsing.settled()
    yield "gate"
    named(page, "Send").click()
    browsing.answer()
    browsing.panel("Web 1")
    yield "web"
    browsing.panel("Refined context")
    yield "sent"
    page = anew(world, browsing)
    send(browsing, "Which year did Brazil host the chess championship?")
    page.get_by_label("Search query").wait_for()
    named(page, "Do not search").click()
    browsing.answer()
    yield "not-covered"
    browsing.panel("Second look")
    yield "second-look"


def disturbed(world: World, browsing: Browsing) -> Iterator[str]:
    """Answers while they are written, stopped, cut and failed."""
    page = anew(world, browsing)
    world.says("The lighthouse was built in 1847 [1]. " + "More could be said of it. " * 400, pace=0.05)
    send(browsing, CORRECT)
    page.locator(".crag-answer", has_text="More could be said of it. More").wait_for()
    yield "running"
    named(page, "Stop").click()
    page.get_by_test_id("stChatMessage").last.get_by_text("You stopped this answer").last.wait_for()
    browsing.settled()
    yield "stopped"
    anew(world, browsing)
    world.says("The lighthouse was built in 1847 [1], and then", finish="length")
    browsing.ask(CORRECT)
    yield "cut"
    anew(world, browsing)
    world.says("", status=401, error={"error": {"message": "Incorrect API key provided"}})
    browsing.ask(CORRECT)
    yield "failed"
    world.says("The lighthouse was built in 1847 [1].")


def conversations(world: World, browsing: Browsing) -> Iterator[str]:
    page = anew(world, browsing)
    send(browsing, "@museum What does the ticket of the museum cost?")
    page.locator(".st-key-asking-candidates").wait_for()
    browsing.settled()
    yield "unclear-name"
    page = anew(world, browsing)
    page.get_by_role("button", name="More about").first.click()
    named(page, "Delete").wait_for()
    browsing.settled()
    yield "conversation-menu"
    named(page, "Delete").click()
    named(page, "Undo").wait_for()
    browsing.settled()
    yield "deleted"
    page.goto(f"{world.app}/?c=0123456789abcdef0123456789abcdef")
    page.get_by_text("This conversation is not known here any more.").wait_for()
    browsing.settled()
    yield "gone"


def library(world: World, browsing: Browsing) -> Iterator[str]:
    page = browsing.page
    page.goto(f"{world.app}/knowledge")
    page.get_by_test_id("stDataFrame").wait_for(timeout=120_000)
    browsing.settled()
    yield "library"
    page.goto(f"{world.app}/knowledge?f=karnholm.pdf")
    page.locator(".st-key-file-controls").wait_for()
    page.locator(".crag-thumb img").first.wait_for()
    browsing.settled()
    yield "library-file"
    named(page, "Delete").click()
    named(page, "Delete the PDF").wait_for()
    browsing.settled()
    yield "library-delete"
    page.goto(f"{world.app}/knowledge?f=karnholm.pdf&p=1")
    page.locator(".crag-mark-cut").first.wait_for()
    browsing.settled()
    yield "library-page"


def evaluate(world: World, browsing: Browsing) -> Iterator[str]:
    """With the question that `overruled` saved."""
    page = browsing.page
    page.goto(f"{world.app}/evaluate")
    page.get_by_role("button", name="Run changed").click(timeout=120_000)
    page.get_by_text("All have an answer that still holds").wait_for(timeout=120_000)
    browsing.settled()
    yield "evaluate"


def settings(world: World, browsing: Browsing) -> Iterator[str]:
    page = browsing.page
    for group in ("models", "web", "decision", "knowledge", "privacy", "appearance"):
        page.goto(f"{world.app}/settings?group={group}")
        page.locator(".st-key-settings").wait_for(timeout=120_000)
        browsing.settled()
        yield f"settings-{group}"


def main_states(world: World, browsing: Browsing) -> Iterator[str]:
    """What everybody sees, in short, over an index that is there."""
    browsing.page.set_default_timeout(60_000)
    anew(world, browsing)
    yield "examples"
    world.says(DOUBTED)
    browsing.ask(CORRECT)
    yield "correct"
    for label in ("Documents", "Refined context", "Replay", "On the page", "Timing"):
        browsing.panel(label)
        yield label
    page = browsing.page
    for name, there in (("Knowledge base", ".st-key-library"), ("Evaluate", ".st-key-evaluate")):
        page.get_by_role("link", name=name).first.click()
        page.locator(there).wait_for()
        yield name
    page.get_by_role("link", name="Settings").first.click()
    page.locator(".st-key-settings").wait_for()
    yield "Settings"


SCENES: tuple[Scene, ...] = (
    first_start, answered, overruled, ambiguous, outside, disturbed, conversations, library, evaluate, settings,
)  # fmt: skip
