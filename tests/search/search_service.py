"""A search service on loopback that says what it is told and writes down what it was asked."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from loopback import Quiet, listening


@dataclass
class Service:
    url: str = ""
    status: int = 200
    body: bytes = b"{}"
    kind: str = "application/json"
    after: float = 0.0
    times: int = 1
    """The body is sent so many times over."""
    pause: float = 0.0
    """Seconds before each time."""
    requests: list[dict[str, Any]] = field(default_factory=list)

    def says(self, answer: object) -> None:
        self.body = json.dumps(answer).encode()


@contextmanager
def service() -> Iterator[Service]:
    found = Service()

    class Handler(Quiet):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            place = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            found.requests.append(
                {
                    "method": self.command,
                    "path": place.path,
                    "params": dict(parse_qsl(place.query)),
                    "headers": {name.lower(): value for name, value in self.headers.items()},
                    "body": json.loads(raw) if raw else None,
                }
            )
            time.sleep(found.after)
            self.send_response(found.status)
            self.send_header("Content-Type", found.kind)
            self.end_headers()
            try:
                for _ in range(found.times):
                    time.sleep(found.pause)
                    self.wfile.write(found.body)
            except OSError:
                self.close_connection = True

    with listening(Handler) as found.url:
        yield found
