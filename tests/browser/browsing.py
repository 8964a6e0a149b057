"""A page that writes down what it asks for, the app as `streamlit run` starts it, and how a user goes about in it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from socket import socket
from typing import Any
from urllib.parse import urlsplit

import pymupdf
import pytest

ROOT = Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "test-artifacts"


@dataclass
class Browsing:
    """A page that writes down every address it asks for."""

    page: Any
    addresses: list[str] = field(default_factory=list)

    def foreign(self) -> list[str]:
        """The addresses on other hosts than this machine."""
        own = ("127.0.0.1", "localhost")
        schemes = ("http", "https", "ws", "wss", "ftp")
        parts = [urlsplit(address) for address in self.addresses]
        return [part.geturl() for part in parts if part.scheme in schemes and part.hostname not in own]

    def settled(self) -> None:
        """Waits until the page's script has run and drawn."""
        self.page.wait_for_timeout(300)
        self.page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for(timeout=30_000)
        self.page.wait_for_timeout(300)

    def box(self) -> Any:
        """The box to ask in, once it can be asked in; the first start converts the embedding model."""
        box = self.page.get_by_test_id("stChatInputTextArea")
        box.and_(self.page.locator(":enabled")).wait_for(timeout=240_000)
        self.settled()
        return box

    def ask(self, question: str, answers: int = 1) -> Any:
        """Asks, and returns the answer with this number once its panels are there."""
        box = self.page.get_by_test_id("stChatInputTextArea")
        box.fill(question)
        box.press("Enter")
        return self.answer(answers)

    def answer(self, number: int = 1) -> Any:
        """The finished answer with this number; questions and answers stand in turn."""
        answer = self.page.get_by_test_id("stChatMessage").nth(2 * number - 1)
        answer.get_by_test_id("stButtonGroup").first.wait_for(timeout=60_000)
        self.settled()
        return answer

    def panel(self, name: str) -> Any:
        """Opens a panel of the last answer, and returns it once it is drawn."""
        answer = self.page.get_by_test_id("stChatMessage").last
        answer.get_by_test_id("stButtonGroup").first.get_by_text(name).click()
        self.settled()
        opened = answer.locator("[class*=st-key-open-]")
        opened.wait_for()
        return opened

    def add_and_read(self, app: str, pdf: Path) -> None:
        """From the first look at an empty folder to an index of this PDF."""
        self.page.set_default_timeout(60_000)
        self.page.goto(app)
        self.page.get_by_test_id("stFileUploader").wait_for(timeout=240_000)
        self.page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files(pdf)
        self.page.get_by_text("1 new").wait_for()
        self.page.get_by_role("button", name="Rebuild").click()
        self.page.get_by_text("Last rebuild: 1 read").wait_for(timeout=120_000)
        self.settled()

    def shot(self, name: str) -> None:
        ARTIFACTS.mkdir(exist_ok=True)
        self.page.screenshot(path=ARTIFACTS / f"{name}.png")


def folders(place: Path) -> dict[str, str]:
    """The settings of an app whose folders all lie in `place`."""
    own = {"FILES": "Files", "CHROMA": "chroma_db", "DATA": "own"}
    return {f"CRAG_{name}_DIR": str(place / folder) for name, folder in own.items()}


def a_pdf(path: Path, *pages: str | tuple[str, str]) -> Path:
    """A PDF with these texts, or headings and texts, a page each; its folder is made where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with pymupdf.open() as pdf:
        for made in pages:
            heading, text = made if isinstance(made, tuple) else ("", made)
            page = pdf.new_page()
            page.insert_text((72, 90), heading, fontsize=18)
            page.insert_textbox(pymupdf.Rect(72, 120, 520, 760), text, fontsize=11)
        pdf.save(path)
    return path


def build(settings: dict[str, str]) -> None:
    """Indexes the files of these settings by the command line."""
    command = [sys.executable, "-m", "crag", "build"]
    subprocess.run(command, cwd=ROOT, env=os.environ | settings, check=True, capture_output=True, timeout=300)


def written_by(base: str) -> dict[str, str]:
    """The settings of an app whose answers are written by the model at this address."""
    return {"CRAG_LLM_PROVIDER": "openai", "CRAG_LLM_MODEL": "m", "OPENAI_API_BASE": base}


@contextlib.contextmanager
def served(script: Path, folder: Path, ends: signal.Signals = signal.SIGTERM, **environment: str) -> Iterator[str]:
    """The address of a script that `streamlit run` serves, started from `folder`; `ends` is how it is ended."""
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "app.log"
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    with log.open("w") as output:
        server = subprocess.Popen(
            command, cwd=folder, env=os.environ | environment, stdout=output, stderr=subprocess.STDOUT
        )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(address + "/_stcore/health", server, log)
        yield address
    finally:
        server.send_signal(ends)
        server.wait(timeout=20)


def wait_for(address: str, server: subprocess.Popen[bytes], log: Path, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=2) as answer:
                if answer.read() == b"ok":
                    return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"The app did not start:\n{log.read_text()}")
