"""A browser, and the app over folders of the test's own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import ROOT, Browsing, a_pdf, folders, served

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A Chromium. Without one the tests are skipped, in continuous integration they fail.

    One per file: while its driver runs, an event loop runs in the thread of the tests, and no other could start one.
    """
    found = subprocess.run([sys.executable, ROOT / "scripts" / "find_browser.py"], capture_output=True, text=True)
    if found.returncode:
        reason = found.stderr.strip() or "No browser was found."
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=found.stdout.strip(), args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def browsing(browser: Any) -> Iterator[Browsing]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-US")
    made = Browsing(context.new_page())
    made.page.on("request", lambda request: made.addresses.append(request.url))
    made.page.on("websocket", lambda socket: made.addresses.append(socket.url))
    yield made
    context.close()


@pytest.fixture
def app(tmp_path: Path) -> Iterator[str]:
    """The address of the running app; it is started from another folder than its own."""
    with served(ROOT / "app_streamlit.py", tmp_path, **folders(tmp_path)) as address:
        yield address


@pytest.fixture
def island(tmp_path: Path) -> Path:
    """Three pages, of which the second says who built the lighthouse and when."""
    return a_pdf(
        tmp_path / "island.pdf",
        "Sheep graze on the meadows of the island in summer. " * 6,
        "The lighthouse of Karnholm was built in 1847 by the engineer Ida Brandt. Its lamp is seen from thirty miles "
        "away. " + "The ferry to the mainland leaves twice a day. " * 6,
        "The keepers of the lighthouse grew potatoes. " * 5,
    )
