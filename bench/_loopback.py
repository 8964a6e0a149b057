"""JSON over HTTP on 127.0.0.1 and a free port: what the benches put in the place of services on the internet."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Respond = Callable[[str, Mapping[str, str], dict[str, Any]], tuple[int, dict[str, Any]]]
"""Path, headers (names in lower case) and JSON body of a POST to the status and the JSON that goes back. Called on
one thread per connection."""


@contextmanager
def served(respond: Respond) -> Iterator[str]:
    """The base URL, `http://127.0.0.1:PORT`, of a server that answers by `respond` until the block is left."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # connections are kept, as real services do
        disable_nagle_algorithm = True  # otherwise a kept connection costs 40 ms a call

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            try:
                body = json.loads(raw)
            except ValueError:
                body = None
            if isinstance(body, dict):
                headers = {name.lower(): value for name, value in self.headers.items()}
                status, answer = respond(self.path, headers, body)
            else:
                status, answer = 400, {"detail": {"error": "The body is no JSON object."}}
            self._send(status, answer)

        def _send(self, status: int, answer: dict[str, Any]) -> None:
            sent = json.dumps(answer, ensure_ascii=False).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, format: str, *args: object) -> None:
            """The bench prints its own lines."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
