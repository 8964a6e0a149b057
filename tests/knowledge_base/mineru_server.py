"""A loopback server that speaks the wire format of MinerU 3, well or ill, and writes down what it is asked."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from typing import Any

from loopback import Quiet, listening


@dataclass
class Request:
    """A POST: its path, its form fields, and its files as (name, type, bytes)."""

    path: str
    fields: dict[str, str]
    files: list[tuple[str, str, bytes]]


@dataclass
class MinerUServer:
    """What it answers with, and what it was asked."""

    url: str = ""
    version: str | None = "3.4.4"
    pages: list[dict[str, Any]] = field(default_factory=list)
    status: int = 200
    body: bytes | None = None
    """In place of the pages."""
    content_type: str = "application/json"
    waits: threading.Event | None = None
    """Where there is one, nothing is answered before it is set."""
    requests: list[Request] = field(default_factory=list)
    health: int = 0

    def answer(self) -> bytes:
        if self.body is not None:
            return self.body
        middle = {"pdf_info": self.pages, "_backend": "pipeline", "_version_name": self.version}
        result = {"middle_json": json.dumps(middle), "content_list": "[]"}
        return json.dumps({"backend": "pipeline", "version": self.version, "results": {"document": result}}).encode()


def a_page(
    number: int, *blocks: dict[str, Any], aside: Sequence[dict[str, Any]] = (), **more: object
) -> dict[str, Any]:
    """An entry of `pdf_info`; `number` from 1."""
    page = {"preproc_blocks": list(blocks), "para_blocks": list(blocks), "discarded_blocks": list(aside)}
    return {"page_idx": number - 1, "page_size": [595, 842], **page, **more}


def a_block(*lines: tuple[str, Sequence[float]], kind: str = "text", **more: object) -> dict[str, Any]:
    """A block of lines, each with its box."""
    spans = [
        {"bbox": list(box), "spans": [{"bbox": list(box), "type": "text", "content": text, "score": 1.0}]}
        for text, box in lines
    ]
    boxes = [box for _, box in lines]
    around = [min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes)]
    return {"type": kind, "bbox": around, "lines": spans, "index": 0, **more}


def a_table(html: str, box: Sequence[float], caption: dict[str, Any] | None = None) -> dict[str, Any]:
    """A table with its HTML; MinerU gives no boxes of cells."""
    span = {"bbox": list(box), "type": "table", "html": html, "image_path": "0.jpg", "score": 0.98}
    body = {"type": "table_body", "bbox": list(box), "lines": [{"bbox": list(box), "spans": [span]}]}
    return {"type": "table", "bbox": list(box), "blocks": [*([caption] if caption else []), body], "index": 1}


@contextmanager
def serving() -> Iterator[MinerUServer]:
    """The server, until the end of the block."""
    state = MinerUServer()

    class Handler(Quiet):
        def do_GET(self) -> None:
            state.health += 1
            known = self.path == "/health" and state.version is not None
            self._send(200 if known else 404, json.dumps({"status": "healthy", "version": state.version}).encode())

        def do_POST(self) -> None:
            state.requests.append(self._request())
            if state.waits is not None:
                state.waits.wait(30)
            self._send(state.status, state.answer())

        def _request(self) -> Request:
            sent = self._sent()
            head = f"Content-Type: {self.headers['Content-Type']}\r\n\r\n".encode()
            fields, files = {}, []
            for part in message_from_bytes(head + sent).get_payload():
                name = part.get_param("name", header="content-disposition")
                value = part.get_payload(decode=True)
                if part.get_filename() is None:
                    fields[name] = value.decode()
                else:
                    files.append((part.get_filename(), part.get_content_type(), value))
            return Request(self.path, fields, files)

        def _sent(self) -> bytes:
            if self.headers.get("Transfer-Encoding") != "chunked":
                return self.rfile.read(int(self.headers["Content-Length"]))
            parts = []
            while size := int(self.rfile.readline(), 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            return b"".join(parts)

        def _send(self, status: int, body: bytes) -> None:
            with contextlib.suppress(ConnectionError):  # whoever asked has given up
                self.send_response(status)
                self.send_header("Content-Type", state.content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

    with listening(Handler) as state.url:
        try:
            yield state
        finally:
            if state.waits is not None:
                state.waits.set()
