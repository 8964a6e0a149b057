"""A loopback server that speaks Tavily's wire format, well or ill, and writes down what it is asked."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from loopback import Quiet, listening

KEY = "tvly-secret-4711"


@dataclass
class TavilyServer:
    """What it answers with, and what it was asked."""

    url: str = ""
    status: int = 200
    body: bytes = b'{"results": []}'
    content_type: str = "application/json"
    waits: threading.Event | None = None
    """Where there is one, nothing is answered before it is set."""
    times: int = 1
    """The body is sent so many times over."""
    pause: float = 0.0
    """Seconds before each time."""
    more: dict[str, str] = field(default_factory=dict)
    """Further headers of the answer."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    asked: threading.Event = field(default_factory=threading.Event)

    def finds(self, *results: dict[str, Any]) -> None:
        self.body = json.dumps({"query": "q", "results": list(results), "response_time": 0.1}).encode()


def a_result(text: str, url: str = "https://example.org/page", title: str = "A page", **more: object) -> dict[str, Any]:
    return {"url": url, "title": title, "content": text, "score": 0.8, "raw_content": None, **more}


@contextmanager
def serving() -> Iterator[TavilyServer]:
    """The server, until the end of the block."""
    state = TavilyServer()

    class Handler(Quiet):
        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            state.requests.append({"path": self.path, **json.loads(sent)})
            state.headers.append(dict(self.headers))
            state.asked.set()
            if state.waits is not None:
                state.waits.wait(30)
            with contextlib.suppress(ConnectionError):  # whoever asked has gone, as a stopped turn does
                self.send_response(state.status)
                self.send_header("Content-Type", state.content_type)
                self.send_header("Content-Length", str(len(state.body) * state.times))
                for name, value in state.more.items():
                    self.send_header(name, value)
                self.end_headers()
                for _ in range(state.times):
                    time.sleep(state.pause)
                    self.wfile.write(state.body)

    with listening(Handler) as state.url:
        try:
            yield state
        finally:
            if state.waits is not None:
                state.waits.set()
