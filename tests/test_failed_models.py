"""A model that fails in every known way, in the whole flow: what still works, and the sentence that the user reads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from model_server import KEY, ModelServer, Reply, said_to, serving
from pipeline_stage import parts, run, trace_of
from pydantic import SecretStr

from crag.agent_model.base import Ledger, ModelSpec
from crag.agent_model.chat import PydanticAiModel
from crag.evaluator.llm import LlmJudge
from crag.generator.extractive import ExtractiveGenerator
from crag.generator.llm import LlmGenerator
from crag.parts import Parts
from crag.schema import Action, Trace

TODAY = date(2026, 12, 1)
WRITTEN = "The anvil weighs 5 kilograms in every test [1]."
FOREVER = 99


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as state:
        yield state


def grades(body: dict[str, Any], **changed: Any) -> dict[str, Any]:
    shown = re.findall(r'<document id="(d\d+)">\n(.*?)</document>', said_to(body), re.DOTALL)
    rows = [
        {"id": id_, "score": 9 if "anvil" in text else 0, "reason": "r", "strips": [{"id": f"{id_}s1", "score": 9}]}
        for id_, text in shown
    ]
    return {"grades": [{**row, **changed} for row in rows], "query": "anvil weight"}


def good(body: dict[str, Any]) -> str:
    return WRITTEN if body.get("stream") else json.dumps(grades(body))


class Failing:
    """Answers well but for the first `times` requests that grade (or write), which get `reply`, a function of them."""

    def __init__(self, reply: Any, *, writes: bool = False, times: int = FOREVER) -> None:
        self.reply, self.writes, self.left = reply, writes, times

    def __call__(self, body: dict[str, Any]) -> Reply:
        if bool(body.get("stream")) is self.writes and self.left > 0:
            self.left -= 1
            return self.reply(body) if callable(self.reply) else self.reply
        return Reply(good(body))


def parts_at(server: ModelServer, **changed: Any) -> Parts:
    given = {"model": "m", "url": server.base, "key": SecretStr(KEY), "timeout": 0.6, "retries": 1, **changed}
    model, ledger = PydanticAiModel(ModelSpec("openai", **given)), Ledger()
    return parts(
        {},
        first=["anvil", "saw"],
        evaluator=LlmJudge(model, ledger, None, TODAY),
        generator=LlmGenerator(model, ledger, TODAY, 300),
        spare_generator=ExtractiveGenerator(quotes=3),
        ledger=ledger,
    )


async def answered(server: ModelServer, **changed: Any) -> Trace:
    made = parts_at(server, **changed)
    try:
        return trace_of(await run(made))
    finally:
        await made.generator.model.aclose()  # type: ignore[attr-defined]


def error(message: str) -> dict[str, Any]:
    return {"error": {"message": message}}


NOT_GRADED = {
    "key wrong": (Reply(status=401, error=error("no")), "refused the key: set OPENAI_API_KEY to a valid one"),
    "model missing": (Reply(status=404, error=error("no")), "has no model m: correct its name"),
    "429 for ever": (Reply(status=429), "gets too many requests: try again in a minute"),
    "429, wait an hour": (Reply(status=429, headers={"retry-after": "3600"}), "try again in 3600 seconds"),
    "500 for ever": (Reply(status=500), "failed with status 500: try again later"),
    "silent": (Reply(delay=5), "gave no answer within 0.6 seconds: raise CRAG_LLM_TIMEOUT"),
    "connection cut": (Reply(cut_after=0), "cannot be reached"),
    "no JSON": (Reply("I would say 9."), "in a form that cannot be used (it holds no JSON object)"),
    "wrong ids": (lambda body: Reply(json.dumps(grades(body, id="d7"))), "in a form that cannot be used (grades.0.id"),
    "empty": (Reply(""), "in a form that cannot be used (it was empty)"),
    "tokens exhausted": (Reply('{"grades": [{"id": "d1", "sc', finish="length"), "(it was cut at"),
    "quota used up": (Reply(status=402, error=error("Insufficient Balance")), "quota or credit is used up: top it up"),
    "HTML": (Reply(body=b"<html>Sign in</html>"), "sent what is no answer of a model: check OPENAI_API_BASE"),
}


@pytest.mark.parametrize("case", NOT_GRADED)
async def test_where_nothing_can_be_graded_nothing_is_decided_and_the_mend_is_said(
    server: ModelServer, case: str
) -> None:
    reply, said = NOT_GRADED[case]
    server.script = Failing(reply)
    trace = await answered(server)
    assert trace.action is None
    assert trace.error is not None
    assert trace.error.startswith("None of the 2 documents could be graded (")
    assert said in trace.error
    assert trace.error.endswith("so nothing was decided. Grade again.")
    assert all(document.cause and document.score is None for document in trace.documents)
    assert KEY not in trace.model_dump_json()


async def test_with_the_server_down_the_sentence_names_it() -> None:
    with serving() as gone:
        pass
    trace = await answered(gone)
    assert f"The server at {gone.url} cannot be reached: see that it runs" in (trace.error or "")


GRADED = {
    "429 once": (Reply(status=429), 1, "gets too many requests"),
    "429 with retry-after": (Reply(status=429, headers={"retry-after": "0"}), 1, "gets too many requests"),
    "500 once": (Reply(status=500), 1, "failed with status 500"),
    "connection cut once": (Reply(cut_after=0), 1, "cannot be reached"),
    "invalid once": (Reply('{"grades": [{"id": "d1"'), 1, "in a form that cannot be used"),
    "an id twice": (lambda body: Reply(json.dumps(twice(body))), 2, "Grade each document exactly once"),
    "fenced": (lambda body: Reply(f"```json\n{good(body)}\n```"), FOREVER, None),
    "prose around": (lambda body: Reply(f"Here are the grades:\n{good(body)}\nI hope this helps."), FOREVER, None),
    "thoughts around": (lambda body: Reply(f"<think>Is {{it}} 9?</think>\n{good(body)}"), FOREVER, None),
    "scores as text": (
        lambda body: Reply(json.dumps(grades(body)).replace('"score": 9', '"score": "9"')),
        FOREVER,
        None,
    ),
}


def twice(body: dict[str, Any]) -> dict[str, Any]:
    given = grades(body)
    return {**given, "grades": [given["grades"][0]] * len(given["grades"])}


@pytest.mark.parametrize("case", GRADED)
async def test_what_passes_or_can_be_read_all_the_same_ends_in_the_same_answer(server: ModelServer, case: str) -> None:
    reply, times, noted = GRADED[case]
    server.script = Failing(reply, times=times)
    trace = await answered(server)
    assert (trace.action, trace.answer, trace.error) == (Action.CORRECT, WRITTEN, None)
    failed = [call.error for call in trace.calls if call.error]
    assert all(noted is not None and noted in (said or "") for said in failed)
    assert bool(failed) is (noted is not None)


QUOTED = {
    "key wrong": (Reply(status=401), "refused the key"),
    "500 for ever": (Reply(status=500), "failed with status 500"),
    "429, wait an hour": (Reply(status=429, headers={"retry-after": "3600"}), "try again in 3600 seconds"),
    "a stall before the first token": (Reply(stall_after=0), "gave no answer within 0.6 seconds"),
    "nothing": (Reply(""), "wrote nothing: ask again"),
    "refused by the filter": (Reply(status=400, error=error("data_inspection_failed")), "by its content filter"),
}


@pytest.mark.parametrize("case", QUOTED)
async def test_a_model_that_cannot_write_leaves_quotes_and_the_reason(server: ModelServer, case: str) -> None:
    reply, said = QUOTED[case]
    server.script = Failing(reply, writes=True)
    trace = await answered(server)
    assert trace.answer.startswith("From your documents:")
    assert "anvil weighs 5 kilograms" in trace.answer
    (notice,) = trace.notices
    assert notice.startswith("The model could not write the answer, so the evidence is quoted. ")
    assert said in notice


CUT = {
    "a stall in mid-stream": (Reply(WRITTEN, stall_after=4), "kept silent for 0.6 seconds, so the answer ends here"),
    "a cut connection": (Reply(WRITTEN, cut_after=4), "The connection to the model was lost: ask again."),
    "no finish reason": (Reply(WRITTEN, finish=None), "ended without its end mark, so it may be incomplete"),
    "tokens exhausted": (Reply(WRITTEN, finish="length"), "reached the most tokens that it may have"),
    "an error in the stream": (Reply(WRITTEN, error_after=4, error={"message": "boom"}), "The answer ends here. "),
    "the filter": (Reply(WRITTEN, finish="content_filter"), "content filter ended the answer"),
}


@pytest.mark.parametrize("case", CUT)
async def test_an_answer_that_breaks_off_is_kept_and_says_why(server: ModelServer, case: str) -> None:
    reply, said = CUT[case]
    server.script = Failing(reply, writes=True)
    trace = await answered(server)
    assert trace.answer
    assert WRITTEN.startswith(trace.answer.rstrip())
    assert said in (trace.cut or "")
    assert (trace.error, trace.notices) == (None, ())


async def test_thoughts_inside_the_text_are_no_part_of_the_answer(server: ModelServer) -> None:
    pieces = ("<th", "ink>Let me", " see.</thi", "nk>\n\nThe anvil weighs 5 kilograms in every test [1].")
    server.script = Failing(Reply(pieces=pieces), writes=True)
    trace = await answered(server)
    assert (trace.answer, trace.thinking, trace.cut) == (WRITTEN, "Let me see.", None)
