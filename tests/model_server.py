"""A loopback server that speaks OpenAI's chat completions and Ollama's own calls, well or ill, and writes down all.

`with serving() as server:` gives it a port. `server.script` is a list of replies (the last one goes on being given) or
a function from the body of a request to its reply, so that a test can answer by what was asked.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn

KEY = "sk-secret-4711"
FOREVER = 60.0


@dataclass(frozen=True)
class Reply:
    """How one chat request is answered."""

    text: str = "Paris is the capital."
    thinking: str = ""
    thinking_field: str = "reasoning_content"
    """Ollama and newer versions of vLLM call it `reasoning`."""
    pieces: tuple[str, ...] = ()
    """Of a streamed text; empty: its words."""
    status: int = 200
    error: object = None
    """The JSON body where the status is an error; what `error_after` sends."""
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """Sent as HTML in place of what a model says."""
    finish: str | None = "stop"
    usage: tuple[int, int] | None = (11, 7)
    delay: float = 0.0
    """Seconds before the first byte."""
    pace: float = 0.0
    """Seconds before each piece of a stream."""
    stall_after: int | None = None
    """Pieces after which nothing comes any more."""
    alive: bool = False
    """Whether a stream that stalls goes on sending signs of life that say nothing."""
    error_after: int | None = None
    """Pieces of a stream after which it holds an error, as servers send it that have begun with status 200."""
    cut_after: int | None = None
    """Pieces after which the connection breaks; 0: after the headers."""


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


Script = list[Reply] | Callable[[dict[str, Any]], Reply]


@dataclass
class ModelServer:
    """What it answers with, and what it was asked."""

    url: str = ""
    """Without a path; the chat API is below `/v1`."""
    script: Script = field(default_factory=lambda: [Reply()])
    key: str = ""
    """Where set, any other is refused with 401."""
    models: list[dict[str, Any]] = field(default_factory=lambda: [{"id": "m"}])
    """Rows of `/v1/models`; their ids are the names that `/api/tags` lists too."""
    show: dict[str, Any] | None = None
    """The body of `/api/show`; None: no such model."""
    running: list[dict[str, Any]] = field(default_factory=list)
    """The rows of `/api/ps`."""
    props: dict[str, Any] | None = None
    """The body of llama.cpp's `/props`; None: there is no such page."""
    asked: list[Asked] = field(default_factory=list)
    left: list[float] = field(default_factory=list)
    """Moments (time.monotonic) at which whoever asked went away before the end."""
    at_once: int = 0
    """Most chat requests that ran at the same time."""
    _running: int = 0

    @property
    def base(self) -> str:
        return f"{self.url}/v1"

    @property
    def chats(self) -> list[dict[str, Any]]:
        """Bodies of the chat requests, in order."""
        return [asked.body for asked in self.asked if asked.path.endswith("/chat/completions")]

    def forget(self) -> None:
        """As it was at first, for the next test."""
        fresh = ModelServer(self.url)
        self.__dict__.update({name: value for name, value in vars(fresh).items() if name != "_running"})

    def reply(self, body: dict[str, Any]) -> Reply:
        if callable(self.script):
            return self.script(body)
        return self.script[min(len(self.chats), len(self.script)) - 1]

    def wait_left(self, seconds: float = 5.0, chats: int = 1) -> float:
        """When the first of so many went away; AssertionError where they do not in time."""
        _wait(lambda: len(self.left) >= chats, seconds, f"{len(self.left)} went away")
        return self.left[0]

    def wait_asked(self, chats: int = 1, seconds: float = 5.0) -> None:
        """Until so many chat requests have come; AssertionError where they do not in time."""
        _wait(lambda: len(self.chats) >= chats, seconds, f"{len(self.chats)} requests came")


def _wait(until: Callable[[], bool], seconds: float, else_say: str) -> None:
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end, else_say
        time.sleep(0.005)


def said_to(body: dict[str, Any]) -> str:
    """All that a chat request tells the model, in one text."""
    return "\n".join(str(message["content"]) for message in body["messages"])


@contextmanager
def serving(port: int = 0) -> Iterator[ModelServer]:
    """The server, until the end of the block."""
    state = ModelServer()
    # With protocol 0 asyncio sets no TCP_NODELAY, and every second request waits 40 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    state.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    config = uvicorn.Config(_app(state), log_level=60, lifespan="off", timeout_graceful_shutdown=1, access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    try:
        yield state
    finally:
        server.should_exit = True
        thread.join(5)
        listening.close()


def _app(state: ModelServer) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raw = b""
        while (message := await receive()).get("more_body") or message["type"] == "http.request":
            raw += message["body"]
            if not message.get("more_body"):
                break
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        asked = Asked(scope["method"], scope["path"], headers, json.loads(raw) if raw else {})
        state.asked.append(asked)
        call = _Call(asked, receive, send)
        if state.key and headers.get("authorization") != f"Bearer {state.key}":
            error = {"error": {"message": f"Incorrect API key provided: {headers.get('authorization')}"}}
            await call.json(error, 401)
        elif asked.path.endswith("/chat/completions"):
            state._running += 1
            state.at_once = max(state.at_once, state._running)
            try:
                await call.chat(state.reply(asked.body), state)
            finally:
                state._running -= 1
        else:
            await call.json(*_page(state, asked.path))

    return app


def _page(state: ModelServer, path: str) -> tuple[Any, int]:
    """The JSON and status of the pages besides the chat."""
    names = [{"name": row["id"], "model": row["id"]} for row in state.models]
    pages: dict[str, Any] = {
        "/v1/models": {"object": "list", "data": state.models},
        "/api/tags": {"models": names},
        "/api/ps": {"models": state.running},
        "/api/show": state.show,
        "/props": state.props,
    }
    found = pages.get(path)
    return (found, 200) if found is not None else ({"error": "not found"}, 404)


@dataclass
class _Call:
    """One request and the way back to whoever asked."""

    asked: Asked
    receive: Callable[[], Awaitable[Any]]
    send: Callable[[Any], Awaitable[None]]

    async def json(self, body: object, status: int = 200, headers: dict[str, str] | None = None) -> None:
        await self._start(status, "application/json", headers)
        await self.send({"type": "http.response.body", "body": json.dumps(body).encode()})

    async def chat(self, reply: Reply, state: ModelServer) -> None:
        gone = asyncio.ensure_future(self._gone())
        try:
            finished = await self._answer(reply, gone)
            if not finished:
                state.left.append(time.monotonic())
        finally:
            gone.cancel()

    async def _answer(self, reply: Reply, gone: asyncio.Future[None]) -> bool:
        """Whether whoever asked stayed to the end."""
        if await _left_within(gone, reply.delay):
            return False
        if reply.status != 200:
            await self.json(
                reply.error if reply.error is not None else {"error": {"message": "no"}}, reply.status, reply.headers
            )
            return True
        if reply.body is not None:
            await self._start(200, "text/html")
            await self.send({"type": "http.response.body", "body": reply.body})
            return True
        if self.asked.body.get("stream"):
            return await self._stream(reply, gone)
        if reply.stall_after is not None:
            return not await _left_within(gone, FOREVER)
        if reply.cut_after is not None:
            await self._start(200, "application/json", {"content-length": "5000"})
            await self.send({"type": "http.response.body", "body": b'{"id": ', "more_body": True})
            raise ConnectionError("the reply asks for it")
        await self.json(_whole(self.asked.body, reply))
        return True

    async def _stream(self, reply: Reply, gone: asyncio.Future[None]) -> bool:
        await self._start(200, "text/event-stream")
        deltas = [{"role": "assistant", "content": ""}]
        deltas += [{reply.thinking_field: word} for word in re.findall(r"\S+\s*", reply.thinking)]
        deltas += [{"content": piece} for piece in reply.pieces or re.findall(r"\S+\s*", reply.text)]
        for number, delta in enumerate(deltas):
            if reply.cut_after == number:
                raise ConnectionError("the reply asks for it")
            if reply.error_after == number:
                await self._event({"error": reply.error})
                return True
            if reply.stall_after == number:
                return await self._stall(reply, gone)
            if await _left_within(gone, reply.pace):
                return False
            await self._event(_chunk(self.asked.body, choices=[{"index": 0, "delta": delta, "finish_reason": None}]))
        if reply.cut_after is not None:
            raise ConnectionError("the reply asks for it")
        if reply.finish:
            end = {"index": 0, "delta": {}, "finish_reason": reply.finish}
            await self._event(_chunk(self.asked.body, choices=[end]))
        if reply.usage:
            await self._event(_chunk(self.asked.body, choices=[], usage=_usage(reply.usage)))
        if reply.finish:
            await self.send({"type": "http.response.body", "body": b"data: [DONE]\n\n", "more_body": True})
        await self.send({"type": "http.response.body", "body": b""})
        return True

    async def _stall(self, reply: Reply, gone: asyncio.Future[None]) -> bool:
        end = time.monotonic() + FOREVER
        while time.monotonic() < end:
            if await _left_within(gone, 0.05 if reply.alive else FOREVER):
                return False
            if reply.alive:
                await self._event(_chunk(self.asked.body, choices=[{"index": 0, "delta": {"content": ""}}]))
        return True

    async def _event(self, chunk: object) -> None:
        await self.send(
            {"type": "http.response.body", "body": f"data: {json.dumps(chunk)}\n\n".encode(), "more_body": True}
        )

    async def _start(self, status: int, content_type: str, headers: dict[str, str] | None = None) -> None:
        all_headers = {"content-type": content_type, **(headers or {})}
        raw = [(name.encode(), value.encode()) for name, value in all_headers.items()]
        await self.send({"type": "http.response.start", "status": status, "headers": raw})

    async def _gone(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass


async def _left_within(gone: asyncio.Future[None], seconds: float) -> bool:
    """Waits, less long where whoever asked goes away; whether so."""
    done, _ = await asyncio.wait({gone}, timeout=seconds)
    return bool(done)


def _whole(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    message = {"role": "assistant", "content": reply.text}
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    choice = {"index": 0, "finish_reason": reply.finish, "message": message}
    answer = {"id": "c1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice]}
    return {**answer, "usage": _usage(reply.usage)} if reply.usage else answer


def _chunk(body: dict[str, Any], **more: object) -> dict[str, Any]:
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body["model"], **more}


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    return {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
