"""A streamed answer: its text, its thoughts, where it is cut, and that stopping reaches the server."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing

import pytest
from asking import cut_of, failure, model, streamed, text_of, thoughts_of
from model_server import ModelServer, Reply

from crag.agent_model.answers import ThoughtSplitter
from crag.agent_model.base import Ledger
from crag.errors import InvalidOutputError
from crag.pieces import Text, Thought


async def test_text_comes_piece_by_piece_and_is_noted(server: ModelServer) -> None:
    server.script = [Reply("Paris is the capital.", usage=(50, 5), pace=0.02)]
    ledger = Ledger()
    pieces = await streamed(model(server, price_in=1.0, price_out=1.0), ledger)
    assert [piece.text for piece in pieces if isinstance(piece, Text)] == ["Paris ", "is ", "the ", "capital."]
    (call,) = ledger.calls
    assert (call.role, call.tokens_in, call.tokens_out, call.error) == ("generate", 50, 5, None)
    assert call.first_token is not None
    assert 0.02 <= call.first_token < call.seconds
    assert call.cost == pytest.approx(55e-6)


@pytest.mark.parametrize("provider", ["dashscope", "deepseek", "openai"])
async def test_what_the_server_marks_as_thinking_comes_apart(server: ModelServer, provider: str) -> None:
    server.script = [Reply("Paris.", thinking="Capital of France, so")]
    pieces = await streamed(model(server, provider, thinking=True))
    assert (text_of(pieces), thoughts_of(pieces), cut_of(pieces)) == ("Paris.", "Capital of France, so", "")


THOUGHT = "<think>\nIs it so?\n</think>\n\nParis [1] is it."


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 100])
async def test_think_tags_in_the_text_are_found_however_the_chunks_fall(server: ModelServer, size: int) -> None:
    server.script = [Reply(pieces=tuple(THOUGHT[i : i + size] for i in range(0, len(THOUGHT), size)))]
    pieces = await streamed(model(server))
    assert text_of(pieces) == "Paris [1] is it."
    assert thoughts_of(pieces).strip() == "Is it so?"


def test_a_tag_that_is_quoted_stays_in_the_text() -> None:
    splitter = ThoughtSplitter()
    said = "The tag <think> opens a thought; a < b."
    pieces = [piece for char in said for piece in splitter.feed(char)] + list(splitter.end())
    assert all(isinstance(piece, Text) for piece in pieces)
    assert text_of(list(pieces)) == said


def test_a_thought_that_never_ends_is_no_text() -> None:
    splitter = ThoughtSplitter()
    pieces = [*splitter.feed("<think>so it </thi"), *splitter.end()]
    assert all(isinstance(piece, Thought) for piece in pieces)
    assert thoughts_of(list(pieces)) == "so it </thi"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(finish="length"), "most tokens"),
        (Reply(finish="content_filter"), "content filter"),
        (Reply(cut_after=3), "connection to the model was lost"),
        (Reply(finish=None), "without its end mark"),
        (Reply("", thinking="hm hm"), "wrote no answer"),
        (Reply(stall_after=3), "kept silent for 0.4 seconds"),
    ],
    ids=["length", "filter", "lost", "no finish reason", "only thoughts", "stall"],
)
async def test_an_answer_that_is_not_complete_says_why(server: ModelServer, reply: Reply, said: str) -> None:
    server.script = [reply]
    ledger = Ledger()
    pieces = await streamed(model(server, timeout=0.4, retries=2), ledger)
    assert said in cut_of(pieces)
    assert len(pieces) > 1, "what came stays"
    (call,) = ledger.calls
    assert call.error is not None
    assert call.first_token is not None


@pytest.mark.parametrize("reply", [Reply(""), Reply("", finish=None)], ids=["empty", "empty and unfinished"])
async def test_an_empty_answer_is_an_error(server: ModelServer, reply: Reply) -> None:
    server.script = [reply]
    ledger = Ledger()
    error = await failure(model(server), ledger, stream=True)
    assert isinstance(error, InvalidOutputError) or "openai" in str(error) or "server" in str(error)
    assert [call.error for call in ledger.calls] == [str(error)]


async def test_a_server_that_is_silent_at_first_is_given_up(server: ModelServer) -> None:
    server.script = [Reply(stall_after=0)]
    ledger = Ledger()
    start = time.monotonic()
    error = await failure(model(server, timeout=0.4), ledger, stream=True)
    assert time.monotonic() - start < 3
    assert "gave no answer within 0.4 seconds" in str(error)
    assert error.kind == "silent"
    assert ledger.calls[0].first_token is None
    assert await asyncio.to_thread(server.wait_left), "the request was ended too"


async def test_stopping_ends_the_request_at_once_and_is_noted(server: ModelServer) -> None:
    server.script = [Reply("word " * 200, pace=0.02)]
    ledger = Ledger()
    asked = model(server)
    stream = asked.stream("generate", "Answer.", "What?", ledger=ledger, max_tokens=300)
    async with aclosing(stream) as pieces:
        async for _ in pieces:
            break
    stopped = time.monotonic()
    assert await asyncio.to_thread(server.wait_left) - stopped < 0.2
    assert ledger.calls[0].error == "It was stopped before it was complete."
    await asked.aclose()


async def test_a_cancelled_task_ends_the_request_at_once(server: ModelServer) -> None:
    server.script = [Reply(stall_after=0)]
    for stream in (True, False):
        server.left.clear()
        asked, ledger = model(server), Ledger()
        task = asyncio.create_task(failure(asked, ledger, stream=stream))
        await asyncio.to_thread(server.wait_asked, 1 if stream else 2)
        stopped = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.wait_left) - stopped < 0.2
        assert ledger.calls[0].error == "It was stopped before it was complete."
