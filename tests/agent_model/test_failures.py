"""What the user reads when a model cannot be asked, what is noted, and what is tried again."""

from __future__ import annotations

import time

import pytest
from asking import GOOD, failure, graded, model, streamed, text_of
from model_server import KEY, ModelServer, Reply, serving
from pydantic import SecretStr

from crag.agent_model import failures
from crag.agent_model.base import Ledger

BOTH = pytest.mark.parametrize("stream", [False, True], ids=["object", "stream"])


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "FIRST_WAIT", 0.02)


def error_body(message: str, code: str | None = None) -> dict[str, object]:
    return {"error": {"message": message, "code": code, "type": None}}


FAILURES = {
    "key": ("openai", Reply(status=401, error=error_body(f"Incorrect API key: {KEY}")), "key", "set OPENAI_API_KEY"),
    "dashscope key": ("dashscope", Reply(status=401, error=error_body(KEY)), "key", "DASHSCOPE_API_KEY"),
    "model": ("openai", Reply(status=404, error=error_body("no such model")), "missing", "has no model m"),
    "ollama model": ("ollama", Reply(status=404, error=error_body("not found")), "missing", "run `ollama pull m`"),
    "402": ("deepseek", Reply(status=402, error=error_body("Insufficient Balance")), "quota", "quota or credit"),
    "429 quota": ("openai", Reply(status=429, error=error_body("x", "insufficient_quota")), "quota", "quota or credit"),
    "dashscope debt": ("dashscope", Reply(status=400, error=error_body("x", "Arrearage")), "quota", "quota or credit"),
    "429": ("openai", Reply(status=429, error=error_body("slow down")), "busy", "try again in a minute"),
    "429 long": ("openai", Reply(status=429, headers={"retry-after": "90"}), "busy", "try again in 90 seconds"),
    "500": ("openai", Reply(status=500, error=error_body("oops")), "other", "failed with status 500"),
    "503": ("openai", Reply(status=503, error=error_body("loading")), "busy", "overloaded or not ready"),
    "too long": (
        "openai",
        Reply(status=400, error=error_body("request (900 tokens) exceeds the available context size (256 tokens)")),
        "too long",
        "longer than the window",
    ),
    "dashscope too long": (
        "dashscope",
        Reply(status=400, error=error_body("Range of input length should be [1, 30720]")),
        "too long",
        "longer than the window",
    ),
    "filtered": ("dashscope", Reply(status=400, error=error_body("x", "data_inspection_failed")), "refused", "filter"),
    "html": ("openai", Reply(body=b"<html>Sign in</html>"), "other", "usually ends in /v1"),
    "400": ("deepseek", Reply(status=400, error=error_body("no")), "refused", "status 400"),
}


@BOTH
@pytest.mark.parametrize("case", FAILURES)
async def test_each_failure_has_its_sentence_and_its_entry(server: ModelServer, case: str, stream: bool) -> None:
    provider, reply, kind, said = FAILURES[case]
    server.script = [reply]
    ledger = Ledger()
    error = await failure(model(server, provider, retries=1), ledger, stream=stream)
    assert said in str(error)
    assert error.kind == kind
    assert KEY not in str(error)
    assert str(error).endswith((".", ")")), "a sentence"
    assert len(ledger.calls) == len(server.chats)
    assert ledger.calls[-1].error == str(error)
    assert (ledger.calls[-1].tokens_in, ledger.calls[-1].cost) == (None, None)


@BOTH
@pytest.mark.parametrize(
    ("provider", "said"),
    [("openai", "correct OPENAI_API_BASE"), ("ollama", "`ollama serve`"), ("dashscope", "network")],
)
async def test_a_server_that_is_down(provider: str, said: str, stream: bool) -> None:
    with serving() as gone:
        asked = model(gone, provider, retries=1)
    ledger = Ledger()
    error = await failure(asked, ledger, stream=stream)
    assert "cannot be reached" in str(error)
    assert said in str(error)
    assert error.kind == "unreachable"
    assert [call.error for call in ledger.calls] == [str(error)] * 2


@BOTH
async def test_a_silent_server_is_not_asked_again(server: ModelServer, stream: bool) -> None:
    server.script = [Reply(delay=5)]
    error = await failure(model(server, timeout=0.3, retries=2), stream=stream)
    assert "gave no answer within 0.3 seconds" in str(error)
    assert len(server.chats) == 1


async def test_a_cut_connection_before_an_answer_is_tried_again(server: ModelServer) -> None:
    server.script = [Reply(cut_after=0), Reply(GOOD)]
    assert (await graded(model(server, retries=1))).score == 8
    server.script, server.asked = [Reply(cut_after=0), Reply()], []
    assert text_of(await streamed(model(server, retries=1))) == "Paris is the capital."


@BOTH
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
async def test_what_passes_is_tried_again_and_noted(server: ModelServer, status: int, stream: bool) -> None:
    server.script = [Reply(status=status), Reply(status=status), Reply(GOOD)]
    ledger = Ledger()
    asked = model(server, retries=2)
    await (streamed(asked, ledger) if stream else graded(asked, ledger))
    assert len(server.chats) == 3, "tries are not multiplied"
    assert [call.error is None for call in ledger.calls] == [False, False, True]
    assert not any(call.repeat for call in ledger.calls), "a repeat is of an answer that was invalid"


@BOTH
async def test_tries_end_after_the_set_number(server: ModelServer, stream: bool) -> None:
    server.script = [Reply(status=500)]
    ledger = Ledger()
    await failure(model(server, retries=2), ledger, stream=stream)
    assert len(server.chats) == len(ledger.calls) == 3


@BOTH
async def test_the_wait_that_a_server_asks_for_is_kept(server: ModelServer, stream: bool) -> None:
    server.script = [Reply(status=429, headers={"retry-after": "1"}), Reply(GOOD)]
    start = time.monotonic()
    asked = model(server, retries=1)
    await (streamed(asked) if stream else graded(asked))
    assert time.monotonic() - start >= 1


@BOTH
async def test_a_server_that_asks_for_too_long_a_wait_is_not_waited_for(server: ModelServer, stream: bool) -> None:
    server.script = [Reply(status=429, headers={"retry-after": "3600"})]
    start = time.monotonic()
    error = await failure(model(server, retries=2), stream=stream)
    assert "try again in 3600 seconds" in str(error)
    assert len(server.chats) == 1
    assert time.monotonic() - start < 5


async def test_a_key_is_in_no_text_that_an_error_carries(server: ModelServer) -> None:
    server.key = "another"
    error = await failure(model(server))
    assert KEY not in f"{error} {error!r}"
    assert error.__suppress_context__, "or a traceback in the log would show the server's words"


async def test_the_model_without_a_key_at_a_server_that_wants_one(server: ModelServer) -> None:
    server.key = KEY
    assert (await failure(model(server, key=SecretStr("")))).kind == "key"
