"""An object from a model: read where it is plainly there, asked for again once where it is not."""

from __future__ import annotations

import pytest
from asking import GOOD, Verdict, failure, graded, model
from model_server import ModelServer, Reply, said_to

from crag.agent_model.base import Ledger
from crag.errors import InvalidOutputError


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here is my grade:\n\n{GOOD}\n\nI hope that helps.",
        '{"score": "8", "reason": "it says so"}',
        f"<think>\nIs {{it}} so? {{'a': 1}}\n</think>\n{GOOD}",
        f"so I think\n</think>\n\n{GOOD}",
        f'An example is {{"score": 1, "reason": "it says so"}}, mine is {GOOD}',
        '{"score": 8, "reason": "it says\nso", "more": 1}',
    ],
    ids=["plain", "fenced", "prose", "text score", "think", "lost think", "example first", "line break"],
)
async def test_an_object_that_is_plainly_there_needs_no_second_call(server: ModelServer, text: str) -> None:
    server.script = [Reply(text)]
    ledger = Ledger()
    found = await graded(model(server), ledger)
    assert (found.score, found.reason.split()) == (8, ["it", "says", "so"])
    assert [(call.repeat, call.error) for call in ledger.calls] == [(False, None)]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (Reply("I cannot tell."), "no JSON object"),
        (Reply('{"score": 11, "reason": "x"}'), "score: Input should be less than or equal to 10"),
        (Reply('{"score": 5}'), "reason: Field required"),
        (Reply('{"score": 8, "reason": "it s', finish="length"), "cut at 200 tokens"),
        (Reply(""), "it was empty"),
        (Reply("<think>for ever and ever", finish="length"), "cut at 200 tokens"),
        (Reply("", thinking="hm hm"), "it was empty"),
        (Reply("{not json}"), "no JSON object"),
    ],
    ids=["prose", "out of range", "field missing", "cut", "empty", "only think", "only thinking", "broken"],
)
async def test_what_is_invalid_is_asked_again_once_with_what_was_wrong(
    server: ModelServer, bad: Reply, said: str
) -> None:
    server.script = [bad, Reply(GOOD)]
    ledger = Ledger()
    assert (await graded(model(server), ledger)).score == 8
    first, second = ledger.calls
    assert (first.repeat, second.repeat, second.error) == (False, True, None)
    assert first.error is not None
    assert said in first.error
    assert said in said_to(server.chats[1])


async def test_what_is_invalid_twice_is_an_error_that_says_so(server: ModelServer) -> None:
    server.script = [Reply("no"), Reply("no again")]
    ledger = Ledger()
    error = await failure(model(server, price_in=1.0, price_out=2.0), ledger)
    assert isinstance(error, InvalidOutputError)
    assert "openai:m answered twice in a form that cannot be used" in str(error)
    assert [call.repeat for call in ledger.calls] == [False, True]
    assert all(call.error and call.cost for call in ledger.calls), "what was paid for is counted"


async def test_an_own_check_is_told_to_the_model(server: ModelServer) -> None:
    server.script = [Reply(GOOD), Reply('{"score": 9, "reason": "d1"}')]

    def check(found: Verdict) -> str | None:
        return None if found.reason == "d1" else "the reason names no document"

    assert (await graded(model(server), check=check)).score == 9
    assert "the reason names no document" in said_to(server.chats[1])


async def test_a_call_is_noted_with_its_tokens_cost_and_time(server: ModelServer) -> None:
    server.script = [Reply(GOOD, usage=(1000, 100), delay=0.05)]
    ledger = Ledger()
    await graded(model(server, price_in=2.0, price_out=10.0), ledger)
    (call,) = ledger.calls
    assert (call.role, call.model, call.tokens_in, call.tokens_out) == ("grade", "openai:m", 1000, 100)
    assert call.cost == pytest.approx(0.003)
    assert 0.05 <= call.seconds < 3
    assert call.first_token is None


async def test_a_server_that_counts_nothing_has_no_tokens_rather_than_none_used(server: ModelServer) -> None:
    server.script = [Reply(GOOD, usage=None)]
    ledger = Ledger()
    await graded(model(server, price_in=2.0, price_out=10.0), ledger)
    (call,) = ledger.calls
    assert (call.tokens_in, call.tokens_out, call.cost) == (None, None, None)


async def test_without_prices_there_is_no_cost(server: ModelServer) -> None:
    server.script = [Reply(GOOD)]
    ledger = Ledger()
    await graded(model(server), ledger)
    assert ledger.calls[0].cost is None
