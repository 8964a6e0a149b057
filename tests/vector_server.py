"""A loopback server that makes vectors in the wire formats of Ollama, DashScope and OpenAI, well or ill."""

from __future__ import annotations

import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from loopback import Quiet, listening

from crag.text import tokens

KEY = "sk-secret-4711"
OLLAMA, OPENAI = "/api/embed", "/v1/embeddings"
TOKENS = 5
"""That every text has."""
DASHSCOPE = "/api/v1/services/embeddings/text-embedding/text-embedding"


@dataclass(frozen=True)
class Reply:
    """An answer that is no vectors."""

    status: int = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"


@dataclass
class VectorServer:
    """What it answers with, and what it was asked."""

    url: str = ""
    dimension: int = 48
    longest: int = 0
    """Characters from which on a text is too long; 0: none is."""
    replies: list[Reply] = field(default_factory=list)
    """Given first, one to each request."""
    always: Reply | None = None
    """Given to every request where there is one."""
    change: Callable[[list[list[float]]], list[Any]] | None = None
    """What becomes of the vectors before they are sent."""
    waits: threading.Event | None = None
    """Where there is one, nothing is answered before it is set."""
    seconds: float = 0.0
    """That each request takes."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    asked: threading.Event = field(default_factory=threading.Event)
    at_once: int = 0
    most_at_once: int = 0
    connected: int = 0
    """Connections that are open."""
    lost: int = 0
    """Requests whose sender had gone before they were answered."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def texts(self) -> list[str]:
        """Every text that was answered or refused, in the order of the requests."""
        return [text for request in self.requests for text in _texts(request)]

    def vector(self, text: str, dimension: int | None = None) -> list[float]:
        """Words hashed into numbers, not of length 1."""
        size = dimension or self.dimension
        found = np.full(size, 0.02)
        for token in tokens(text):
            found[zlib.crc32(token.encode()) % size] += 2.0
        return [float(number) for number in found]


def _texts(request: dict[str, Any]) -> list[str]:
    given = request["input"]["texts"] if isinstance(request["input"], dict) else request["input"]
    return [given] if isinstance(given, str) else list(given)


def _answer(state: VectorServer, request: dict[str, Any]) -> bytes:
    """The vectors in the form that the path documents; those with an index come out of order."""
    asked = request.get("dimensions") or request.get("parameters", {}).get("dimension")
    vectors: list[Any] = [state.vector(text, asked) for text in _texts(request)]
    if state.change is not None:
        vectors = state.change(vectors)
    rows, tokens = list(enumerate(vectors))[::-1], TOKENS * len(_texts(request))
    match request["path"]:
        case "/api/embed":
            answer: dict[str, Any] = {"model": request["model"], "embeddings": vectors, "prompt_eval_count": tokens}
        case "/v1/embeddings":
            data = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in rows]
            usage = {"prompt_tokens": tokens, "total_tokens": tokens}
            answer = {"object": "list", "data": data, "model": request["model"], "usage": usage}
        case _:
            data = [{"text_index": i, "embedding": vector} for i, vector in rows]
            answer = {"output": {"embeddings": data}, "usage": {"total_tokens": tokens}, "request_id": "r"}
    return json.dumps(answer).encode()


@contextmanager
def serving() -> Iterator[VectorServer]:
    """The server, until the end of the block."""
    state = VectorServer()

    class Handler(Quiet):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            with state.lock:
                state.connected += 1

        def finish(self) -> None:
            with state.lock:
                state.connected -= 1
            super().finish()

        def do_POST(self) -> None:
            request = {"path": self.path, **json.loads(self.rfile.read(int(self.headers["Content-Length"])))}
            with state.lock:
                state.requests.append(request)
                state.headers.append({name.lower(): value for name, value in self.headers.items()})
                state.times.append(time.monotonic())
                reply = state.replies.pop(0) if state.replies else state.always
                state.at_once += 1
                state.most_at_once = max(state.most_at_once, state.at_once)
            if state.longest and max(map(len, _texts(request))) > state.longest:
                said = "input (900 tokens) is too large to process. increase the physical batch size"
                reply = Reply(500, json.dumps({"error": {"code": 500, "message": said}, "message": said}).encode())
            state.asked.set()
            time.sleep(state.seconds)
            if state.waits is not None:
                self._wait(state.waits)
            known = self.path in (OLLAMA, OPENAI, DASHSCOPE)
            if reply is None:
                reply = Reply(body=_answer(state, request)) if known else Reply(404, b"404 page not found")
            with state.lock:
                state.at_once -= 1
            try:
                self.send_response(reply.status)
                for name, value in {"Content-Type": reply.content_type, **reply.headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)
            except ConnectionError:
                self.close_connection = True

        def _wait(self, until: threading.Event) -> None:
            """Waits, and notices when whoever asked has gone."""
            self.connection.settimeout(0.02)
            while not until.is_set():
                try:
                    if not self.connection.recv(1):
                        with state.lock:
                            state.lost += 1
                        return
                except TimeoutError:
                    continue
                except OSError:
                    return
            self.connection.settimeout(None)

    with listening(Handler) as state.url:
        try:
            yield state
        finally:
            if state.waits is not None:
                state.waits.set()
