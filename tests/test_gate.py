"""The gate before the web: nothing leaves before a person has allowed it, and the trace says what was changed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest
from pipeline_stage import QUESTION, Library, parts, trace_of
from test_pipeline_web import GOOD, FakeWeb, web_parts

from crag.events import Asking, Finished, Searched, TurnEvent
from crag.gate import Gate
from crag.pipeline import Parts, answer
from crag.schema import Action


async def asked(made: Parts, gate: Gate | None, reply: str | None = "", stop: threading.Event | None = None):  # type: ignore[no-untyped-def]
    """The events of a turn in which a person answers the gate with `reply` ("" : the query as it is)."""
    events: list[TurnEvent] = []
    async for event in answer(made, QUESTION, "turn-1", stop or threading.Event(), gate=gate):
        events.append(event)
        if isinstance(event, Asking) and gate is not None:
            threading.Thread(target=gate.answer, args=(event.query if reply == "" else reply,)).start()
    return events


def kinds(events: Sequence[TurnEvent]) -> list[str]:
    return [event.kind for event in events]


async def test_the_query_leaves_as_it_is_when_it_is_allowed() -> None:
    web = FakeWeb(GOOD)
    events = await asked(web_parts({"anvil": 0.1}, web, web_gate="ask"), Gate())
    trace = trace_of(events)
    assert web.asked == ["anvil weight"]
    assert kinds(events)[2:6] == ["decided", "rewritten", "asking", "searched"]
    assert trace.web is not None
    assert (trace.web.query, trace.web.proposed, trace.web_gate) == ("anvil weight", None, "ask")
    assert "kilograms" in trace.answer


async def test_an_edited_query_is_what_is_sent_and_the_trace_keeps_both() -> None:
    web = FakeWeb(GOOD)
    trace = trace_of(await asked(web_parts({"anvil": 0.1}, web, web_gate="ask"), Gate(), "  iron anvil\nmass "))
    assert web.asked == ["iron anvil mass"]
    assert trace.web is not None
    assert (trace.web.query, trace.web.proposed) == ("iron anvil mass", "anvil weight")


@pytest.mark.parametrize("reply", [None, "   "])
async def test_nothing_leaves_when_it_is_declined_and_a_second_look_is_taken(reply: str | None) -> None:
    web = FakeWeb(GOOD)
    events = await asked(web_parts({"anvil": 0.1}, web, web_gate="ask"), Gate(), reply)
    trace = trace_of(events)
    assert web.asked == []
    assert not any(isinstance(event, Searched) for event in events)
    assert trace.web is None
    assert "The query was not sent: the web was not used." in trace.notices
    assert [decision.action for decision in trace.decisions] == [Action.INCORRECT, Action.INCORRECT]


async def test_where_nobody_can_be_asked_nothing_leaves() -> None:
    web = FakeWeb(GOOD)
    trace = trace_of(await asked(web_parts({"anvil": 0.5}, web, web_gate="ask"), None))
    assert web.asked == []
    assert trace.action is Action.AMBIGUOUS
    assert any("nobody could be asked" in notice for notice in trace.notices)


async def test_a_turn_that_waits_at_the_gate_can_be_stopped() -> None:
    web, stop = FakeWeb(GOOD), threading.Event()
    events: list[TurnEvent] = []
    async with asyncio.timeout(5):
        async for event in answer(web_parts({"anvil": 0.1}, web, web_gate="ask"), QUESTION, "t", stop, gate=Gate()):
            events.append(event)
            if isinstance(event, Asking):
                stop.set()
    assert isinstance(events[-1], Finished)
    assert events[-1].trace.stopped
    assert web.asked == []


async def test_the_index_is_not_held_while_a_person_thinks() -> None:
    made = web_parts({"anvil": 0.1}, FakeWeb(GOOD), web_gate="ask")
    library = made.knowledge_base
    assert isinstance(library, Library)
    gate = Gate()
    async for event in answer(made, QUESTION, "t", threading.Event(), gate=gate):
        if isinstance(event, Asking):
            assert library.open == 0
            gate.answer(None)


async def test_no_query_is_asked_about_where_the_documents_suffice() -> None:
    events = await asked(web_parts({"anvil": 0.9}, FakeWeb(GOOD), web_gate="ask"), Gate())
    assert "asking" not in kinds(events)


async def test_the_first_word_at_the_gate_counts() -> None:
    gate = Gate()
    gate.answer("first")
    gate.answer("second")
    assert await gate.wait() == "first"
    assert gate.answered


async def test_a_policy_of_no_web_asks_nobody() -> None:
    web = FakeWeb(GOOD)
    events = await asked(parts({"anvil": 0.1}, web=web, web_gate="off"), Gate())
    assert "asking" not in kinds(events)
    assert web.asked == []
