"""A page that writes down what it asks for, and the app as `streamlit run` starts it."""

from __future__ import annotations

import contextlib
import os
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

    def shot(self, name: str) -> None:
        ARTIFACTS.mkdir(exist_ok=True)
        self.page.screenshot(path=ARTIFACTS / f"{name}.png")


def folders(place: Path) -> dict[str, str]:
    """The settings of an app whose folders all lie in `place`."""
    own = {"FILES": "Files", "CHROMA": "chroma_db", "DATA": "own"}
    return {f"CRAG_{name}_DIR": str(place / folder) for name, folder in own.items()}


@contextlib.contextmanager
def served(script: Path, folder: Path, **environment: str) -> Iterator[str]:
    """The address of a script that `streamlit run` serves, started from `folder`."""
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
        server.terminate()
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
