"""A web site on loopback that is told what lies where, and writes down what it was asked for."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from loopback import Quiet, listening


@dataclass(frozen=True)
class Lies:
    """What lies at a path."""

    body: bytes = b""
    kind: str = "text/html; charset=utf-8"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    after: float = 0.0
    """Seconds before the answer begins."""
    times: int = 1
    """The body is sent so many times, as chunks."""


@dataclass
class Site:
    url: str = ""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    sent: int = 0

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


@contextmanager
def site(lying: dict[str, Lies]) -> Iterator[Site]:
    """Serves `lying` by path on 127.0.0.1; anything else is 404."""

    class Handler(Quiet):
        def do_GET(self) -> None:
            found.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            lies = lying.get(self.path, Lies(b"nothing here", status=404))
            time.sleep(lies.after)
            self.send_response(lies.status)
            self.send_header("Content-Type", lies.kind)
            for name, value in lies.headers:
                self.send_header(name, value)
            self.end_headers()
            try:
                for _ in range(lies.times):
                    self.wfile.write(lies.body)
                    found.sent += len(lies.body)
            except OSError:
                self.close_connection = True  # the client went away, as it should where the page is too large

    found = Site()
    with listening(Handler) as found.url:
        yield found
