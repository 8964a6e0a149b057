"""A chat server on 127.0.0.1 in OpenAI's wire format that takes a fixed time per call: it judges and writes.

It grades every document 9 whose text shares a long word with the question, else 2, and names the question in each
reason, so that a mixed-up grade shows.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

DOCUMENT = re.compile(r'<document id="(d\d+)">(.*?)</document>', re.DOTALL)
STRIP = re.compile(r"\[(d\d+s\d+)\]")
QUESTION = re.compile(r"<question>\s*(.*?)\s*</question>", re.DOTALL)
USAGE = {"prompt_tokens": 900, "completion_tokens": 90, "total_tokens": 990}


@dataclass
class Seen:
    """What the server has seen: seconds of each call as it served them, and when a client went away."""

    calls: list[float] = field(default_factory=list)
    gone_at: list[float] = field(default_factory=list)
    most_at_once: int = 0
    now: int = 0


@contextmanager
def slow_model(latency: float, pieces: int = 20, gap: float = 0.0) -> Iterator[tuple[str, Seen]]:
    """(base URL up to `/v1`, what was seen). An answer streams in `pieces` with `gap` seconds between them."""
    seen = Seen()

    async def chat(request: Request) -> Response:
        body, start = await request.json(), time.perf_counter()
        seen.now += 1
        seen.most_at_once = max(seen.most_at_once, seen.now)
        await asyncio.sleep(latency)
        seen.now -= 1
        seen.calls.append(time.perf_counter() - start)
        if body.get("stream"):
            return StreamingResponse(stream(body["model"]), media_type="text/event-stream")
        content = _grades("\n".join(str(message["content"]) for message in body["messages"]))
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        return JSONResponse(_envelope(body["model"], "chat.completion") | {"choices": [choice], "usage": USAGE})

    async def stream(model: str) -> AsyncIterator[str]:
        try:
            for number in range(pieces):
                delta = {"role": "assistant", "content": f"Word {number} [1]. "}
                yield _line(model, [{"index": 0, "delta": delta, "finish_reason": None}])
                await asyncio.sleep(gap)
            yield _line(model, [{"index": 0, "delta": {}, "finish_reason": "stop"}])
            yield _line(model, [], USAGE)
            yield "data: [DONE]\n\n"
        except asyncio.CancelledError:
            seen.gone_at.append(time.perf_counter())
            raise

    app = Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"])])
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # proto: else no TCP_NODELAY
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1", seen
    finally:
        server.should_exit = True
        thread.join(5)


def _grades(prompt: str) -> str:
    found = QUESTION.search(prompt)
    question = found.group(1) if found else ""
    words = set(re.findall(r"\w{6,}", question.lower()))
    grades = []
    for id_, text in DOCUMENT.findall(prompt):
        score = 9 if any(word in text.lower() for word in words) else 2
        strips = [{"id": strip, "score": score} for strip in STRIP.findall(text)]
        grades.append({"id": id_, "score": score, "reason": question[:150], "strips": strips})
    return json.dumps({"grades": grades, "query": " ".join(sorted(words)[:4])})


def _envelope(model: str, kind: str) -> dict[str, Any]:
    return {"id": "x", "object": kind, "created": 0, "model": model}


def _line(model: str, choices: list[dict[str, Any]], usage: dict[str, int] | None = None) -> str:
    chunk = _envelope(model, "chat.completion.chunk") | {"choices": choices, "usage": usage}
    return f"data: {json.dumps(chunk)}\n\n"
