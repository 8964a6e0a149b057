"""The same question answered another way: what each is given, what it costs, and how it ends where it cannot be."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import date

import pytest
from model_server import ModelServer, Reply, serving
from pipeline_stage import QUESTION, parts, run, trace_of

from crag.agent_model.base import ModelSpec
from crag.agent_model.chat import PydanticAiModel
from crag.compare import Compared, Way, compare
from crag.events import Token
from crag.generator.bare import BareAnswer
from crag.generator.llm import LlmGenerator
from crag.parts import Parts
from crag.schema import Action, Support, Trace

WEAK = {"anvil": 0.2, "bell": 0.1, "chain": 0.1, "drum": 0.1}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as state:
        yield state


def with_model(made: Parts, server: ModelServer) -> Parts:
    model = PydanticAiModel(ModelSpec(provider="openai", model="m", url=server.base, retries=0))
    today = date(2026, 12, 1)
    return replace(
        made,
        generator=LlmGenerator(model, made.ledger, today, 300),
        bare=BareAnswer(model, made.ledger, today, 300),
    )


async def uncovered() -> Trace:
    """An answer that says that nothing covers the question: its documents are kept in it all the same."""
    trace = trace_of(await run(parts(WEAK)))
    assert (trace.action, trace.knowledge) == (Action.INCORRECT, "")
    return trace


async def answered(made: Parts, trace: Trace, way: Way, stop: threading.Event | None = None) -> Compared:
    *tokens, last = [event async for event in compare(made, trace, way, stop or threading.Event())]
    assert isinstance(last, Compared)
    assert last.answer == "".join(event.text for event in tokens if isinstance(event, Token))
    return last


async def test_plain_rag_answers_from_four_whole_documents_whatever_their_grades() -> None:
    made = parts(WEAK)
    found = await answered(made, await uncovered(), Way.PLAIN)
    assert [source.file for source in found.sources] == ["anvil.pdf", "bell.pdf", "chain.pdf", "drum.pdf"]
    assert "“The anvil weighs 5 kilograms in every test.” [1]" in found.answer
    assert found.calls == ()
    assert made.evaluator.asked == []  # type: ignore[attr-defined]


async def test_plain_rag_gives_the_same_model_its_documents_and_one_call_is_made(server: ModelServer) -> None:
    server.script = [Reply("The anvil weighs 5 kilograms [1]. It is green [2].")]
    found = await answered(with_model(parts(WEAK), server), await uncovered(), Way.PLAIN)
    assert len(server.chats) == len(found.calls) == 1
    assert found.knowledge in str(server.chats[0]["messages"][-1]["content"])
    assert "The drum weighs 4 kilograms in every test." in found.knowledge
    supports = [sentence.support for sentence in found.check.sentences]
    assert (supports[0], supports[1]) == (Support.SUPPORTED, Support.UNSUPPORTED)


async def test_with_no_retrieval_the_model_is_given_the_question_alone(server: ModelServer) -> None:
    server.script = [Reply("About 50 kilograms.", thinking="Hm.")]
    found = await answered(with_model(parts(WEAK), server), await uncovered(), Way.NOTHING)
    assert (found.answer, found.thinking, found.sources) == ("About 50 kilograms.", "Hm.", ())
    sent = "\n".join(str(message["content"]) for message in server.chats[0]["messages"])
    assert QUESTION in sent
    assert "kilograms" not in sent


async def test_without_a_model_there_is_no_answer_with_no_retrieval_and_it_says_why() -> None:
    found = await answered(parts(WEAK), await uncovered(), Way.NOTHING)
    assert found.error is not None
    assert "choose a model" in found.error


async def test_a_model_that_fails_is_told_and_one_that_breaks_off_leaves_what_it_has_said(server: ModelServer) -> None:
    server.script = [Reply(status=401, error={"error": {"message": "no"}}), Reply("One two three", cut_after=2)]
    made, trace = with_model(parts(WEAK), server), await uncovered()
    assert "key" in (await answered(made, trace, Way.NOTHING)).error  # type: ignore[operator]
    cut = await answered(made, trace, Way.NOTHING)
    assert cut.answer.startswith("One")
    assert cut.cut
    assert cut.error is None


async def test_it_can_be_stopped(server: ModelServer) -> None:
    server.script = [Reply("One two three", stall_after=2)]
    stop = threading.Event()
    events = compare(with_model(parts(WEAK), server), await uncovered(), Way.NOTHING, stop)
    assert isinstance(await anext(events), Token)
    stop.set()
    last = await anext(events)
    assert isinstance(last, Compared)
    assert last.stopped
    server.wait_left()


async def test_where_nothing_was_retrieved_plain_rag_says_so() -> None:
    trace = (await uncovered()).model_copy(update={"documents": (), "decisions": ()})
    assert "Nothing was retrieved" in (await answered(parts(WEAK), trace, Way.PLAIN)).error  # type: ignore[operator]
