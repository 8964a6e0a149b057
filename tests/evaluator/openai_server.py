"""A loopback server that speaks OpenAI's wire format of chat completions and answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class OpenAIServer:
    """What it answers with, and what it was asked."""

    url: str = ""
    says: Callable[[str], str] = lambda _: ""
    """From everything the model was told to the text of its answer."""
    status: int = 200
    waits: threading.Event | None = None
    """Where there is one, nothing is answered before it is set."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    asked: threading.Event = field(default_factory=threading.Event)


def told(request: dict[str, Any]) -> str:
    """All messages of a request, one below the other."""
    return "\n".join(message["content"] for message in request["messages"] if isinstance(message.get("content"), str))


@contextmanager
def serving() -> Iterator[OpenAIServer]:
    """The server, until the end of the block."""
    state = OpenAIServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append({"path": self.path, **request})
            state.asked.set()
            if state.waits is not None:
                state.waits.wait(30)
            body = json.dumps(_completion(request, state.says(told(request))) if state.status == 200 else _ERROR)
            try:
                self.send_response(state.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())
            except ConnectionError:
                pass  # whoever asked has gone, as a stopped turn does

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield state
    finally:
        if state.waits is not None:
            state.waits.set()
        server.shutdown()
        server.server_close()


_ERROR = {"error": {"message": "the request is refused", "type": "invalid_request_error"}}


def _completion(request: dict[str, Any], text: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if tools := request.get("tools"):
        call = {"name": tools[0]["function"]["name"], "arguments": text}
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call-1", "type": "function", "function": call}],
        }
    return {
        "id": "completion-1",
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 900, "completion_tokens": 80, "total_tokens": 980},
    }
