"""A loopback server that speaks OpenAI's chat completions, whole and streamed, and writes down what it is asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class ChatServer:
    """What it answers with, and what it was asked."""

    url: str = ""
    text: str = ""
    """The whole answer to a call that is not streamed."""
    deltas: Sequence[dict[str, Any]] = ()
    """The pieces of a streamed one, as the wire names them: `content`, `reasoning_content`."""
    finish: str | None = "stop"
    requests: list[dict[str, Any]] = field(default_factory=list)

    def said(self, role: str, n: int = -1) -> str:
        """All that was sent as `role` in the n-th request."""
        return "\n".join(str(part["content"]) for part in self.requests[n]["messages"] if part["role"] == role)


@contextmanager
def serving() -> Iterator[ChatServer]:
    """The server, until the end of the block."""
    state = ChatServer()
    head = {"id": "x", "created": 1, "model": "m"}
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append({"path": self.path, **sent})
            self._stream() if sent.get("stream") else self._whole()

        def _whole(self) -> None:
            message = {"role": "assistant", "content": state.text}
            choice = {"index": 0, "finish_reason": state.finish, "message": message}
            self._send(
                "application/json",
                json.dumps({**head, "object": "chat.completion", "usage": usage, "choices": [choice]}),
            )

        def _stream(self) -> None:
            chunk = {**head, "object": "chat.completion.chunk"}
            choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in state.deltas]
            choices.append({"index": 0, "delta": {}, "finish_reason": state.finish})
            lines = [json.dumps({**chunk, "choices": [choice]}) for choice in choices]
            lines += [json.dumps({**chunk, "choices": [], "usage": usage}), "[DONE]"]
            self._send("text/event-stream", "".join(f"data: {line}\n\n" for line in lines))

        def _send(self, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
