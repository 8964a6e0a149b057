"""A person overrules an answer: what follows without a call, and the answer made anew from what was stored of it."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from model_server import Reply, said_to, serving
from pipeline_stage import QUESTION, parts, run, trace_of
from test_pipeline_web import GOOD, OTHER, ByText, FakeWeb, web_parts

from crag.agent_model.base import Ledger, ModelSpec
from crag.agent_model.chat import PydanticAiModel
from crag.errors import QuestionError
from crag.evaluator.llm import LlmJudge
from crag.events import Asking, Decided, Retrieved, TurnEvent
from crag.gate import Gate
from crag.generator.extractive import ExtractiveGenerator
from crag.generator.llm import LlmGenerator
from crag.parts import Parts
from crag.replay import Lacking, lacking, replay
from crag.revision import amended, can_be_revised, revise, revised
from crag.schema import Action, Change, Changed, Fate, Thresholds, Trace, Verdict

EVIDENCE = {"anvil": 0.8, "bellows": 0.4, "chisel": 0.1}


def grade(id_: str, answers: bool | None) -> Change:
    return Change(what=Changed.GRADE, id=id_, after=answers)


def strip(name: str, keeps: bool) -> Change:
    return Change(what=Changed.STRIP, id=f"strip-{name}", after=keeps)


def action(to: Action | None, look: int = 1) -> Change:
    return Change(what=Changed.ACTION, id=str(look), after=to)


def limits(**changed: float) -> Change:
    return Change(what=Changed.THRESHOLDS, before=Thresholds(), after=Thresholds(**changed))  # type: ignore[arg-type]


async def answered(made: Parts) -> Trace:
    """The trace as it is stored and read again."""
    return Trace.model_validate_json(trace_of(await run(made)).model_dump_json())


async def again(made: Parts, trace: Trace, *changes: Change, gate: Gate | None = None) -> list[TurnEvent]:
    return [event async for event in revise(made, trace, changes, "turn-2", threading.Event(), gate)]


def kept(trace: Trace) -> list[str]:
    return [strip.id.removeprefix("strip-") for strip in trace.strips if strip.kept]


class Closed:
    """A knowledge base whose files and index are gone."""

    def snapshot(self) -> Any:
        raise AssertionError("nothing may be retrieved")


class Silent:
    """An evaluator that must not be asked."""

    name, version = "marked", "1"

    async def grade(self, question: str, documents: Sequence[object]) -> list[Any]:
        raise AssertionError("nothing may be graded again")


def without_files() -> Parts:
    return replace(parts({}), knowledge_base=Closed(), evaluator=Silent())


# --- what follows without a call ----------------------------------------------------------------------------------


async def test_without_changes_everything_is_as_it_was() -> None:
    trace = await answered(parts(EVIDENCE))
    decision, strips, knowledge = revised(trace, [])
    assert (decision, strips, knowledge.text) == (trace.decisions[-1], trace.strips, trace.knowledge)


async def test_a_document_said_not_to_answer_counts_as_0_and_its_strips_go() -> None:
    trace = await answered(parts(EVIDENCE))
    assert (trace.action, kept(trace)) == (Action.CORRECT, ["anvil"])
    decision, strips, _ = revised(trace, [grade("anvil", False)])
    assert decision is not None
    assert (decision.action, decision.best) == (Action.AMBIGUOUS, 0.4)
    assert {s.id: s.fate for s in strips}["strip-anvil"] is Fate.DOCUMENT_IRRELEVANT


async def test_a_document_said_to_answer_counts_as_1_and_the_evaluators_grade_stays_beside_it() -> None:
    trace = await answered(parts(EVIDENCE))
    now = amended(trace, [grade("chisel", True)])
    document = next(document for document in now.documents if document.id == "chisel")
    assert (document.score, document.verdict) == (1.0, Verdict.RELEVANT)
    assert document.by_evaluator is not None
    assert (document.by_evaluator.score, document.by_evaluator.reason) == (0.1, "marked")
    back = amended(now, [grade("chisel", None)])
    assert back.documents == trace.documents
    assert back.changes == ()


async def test_a_graded_document_no_longer_forbids_incorrect() -> None:
    trace = await answered(parts({"anvil": 0.1}, first=["anvil", "unknown"]))
    assert trace.action is Action.AMBIGUOUS, "one is ungraded"
    decision, _, _ = revised(trace, [grade("unknown", False)])
    assert decision is not None
    assert decision.action is Action.INCORRECT


async def test_where_nothing_could_be_graded_a_persons_word_decides_and_the_whole_document_is_kept() -> None:
    trace = await answered(parts({}, first=["unknown", "other"]))
    assert (trace.action, trace.strips) == (None, ())
    assert trace.error
    assert can_be_revised(trace)
    assert revised(trace, [])[0] is None
    decision, strips, knowledge = revised(trace, [grade("unknown", True)])
    assert decision is not None
    assert decision.action is Action.CORRECT
    assert {s.id: s.fate for s in strips} == {
        "strip-unknown": Fate.KEPT_BY_HAND,
        "strip-other": Fate.DOCUMENT_UNGRADED,
    }
    assert "unknown weighs" in knowledge.text
    new = trace_of(await again(without_files(), trace, grade("unknown", True)))
    assert (new.error, new.covered) == (None, True)


async def test_a_document_that_is_vouched_for_gives_at_least_its_best_strip() -> None:
    trace = await answered(parts(EVIDENCE))
    _, strips, _ = revised(trace, [grade("chisel", True)])
    assert [(s.id, s.fate) for s in strips if s.kept] == [
        ("strip-anvil", Fate.KEPT),
        ("strip-chisel", Fate.KEPT_BY_HAND),
    ]
    _, strips, _ = revised(trace, [grade("chisel", True), strip("chisel", False)])
    assert [s.id for s in strips if s.kept] == ["strip-anvil"], "what was dropped stays dropped"
    _, strips, _ = revised(trace, [grade("chisel", True), action(Action.INCORRECT)])
    assert not [s.id for s in strips if s.kept], "the action leaves all documents out"


async def test_a_strip_is_kept_whatever_the_thresholds_also_beyond_the_most() -> None:
    made = parts({"anvil": 0.9, "bellows": 0.8, "chisel": 0.1}, thresholds=Thresholds(top_strips=1))
    trace = await answered(made)
    assert kept(trace) == ["anvil"]
    _, strips, knowledge = revised(trace, [strip("bellows", True), strip("chisel", True)])
    assert [s.fate for s in strips if s.kept] == [Fate.KEPT, Fate.KEPT_BY_HAND, Fate.KEPT_BY_HAND]
    assert [source.file for source in knowledge.sources] == ["anvil.pdf", "bellows.pdf", "chisel.pdf"]


async def test_a_strip_is_dropped_and_with_the_last_one_nothing_is_covered() -> None:
    trace = await answered(parts(EVIDENCE))
    _, strips, knowledge = revised(trace, [strip("anvil", False)])
    assert strips[0].fate is Fate.DROPPED_BY_HAND
    assert (knowledge.text, knowledge.sources) == ("", ())


async def test_a_forced_action_says_what_it_would_be_by_the_scores() -> None:
    trace = await answered(parts(EVIDENCE))
    decision, strips, _ = revised(trace, [action(Action.INCORRECT)])
    assert decision is not None
    assert (decision.action, decision.by_hand, decision.by_scores) == (Action.INCORRECT, True, Action.CORRECT)
    assert decision.sentence == "Set by you; by the scores it would be Correct (best 0.80)"
    assert {s.fate for s in strips} == {Fate.DISCARDED}
    same, _, _ = revised(trace, [action(Action.CORRECT)])
    assert same == trace.decisions[-1], "what the scores say anyway is not set by hand"


async def test_what_was_set_by_hand_holds_in_later_replays_until_it_is_taken_back() -> None:
    trace = await answered(parts(EVIDENCE))
    changes = [action(Action.AMBIGUOUS), strip("chisel", True), grade("bellows", False)]
    new = trace_of(await again(without_files(), trace, *changes))
    decision, strips, _ = replay(new, Thresholds(strip=0.95))
    assert decision is not None
    assert decision.action is Action.AMBIGUOUS
    assert {s.id: s.fate for s in strips}["strip-chisel"] is Fate.KEPT_BY_HAND
    third = trace_of(await again(without_files(), new, action(None), grade("bellows", None)))
    assert third.decisions == trace.decisions
    assert third.documents == trace.documents
    assert [change.id for change in third.changes] == ["strip-chisel"]


async def test_a_change_of_something_that_cannot_be_it_is_refused() -> None:
    for what, after in ((Changed.GRADE, "yes"), (Changed.ACTION, "MAYBE"), (Changed.WEB_QUERY, None)):
        with pytest.raises(ValueError, match="can be changed to"):
            Change(what=what, after=after)


# --- the answer made anew -----------------------------------------------------------------------------------------


async def test_the_new_answer_keeps_both_versions_and_who_changed_what_and_needs_no_file() -> None:
    trace = await answered(parts(EVIDENCE))
    change = Change(what=Changed.GRADE, id="anvil", before=0.8, after=False, time="2026-12-01T10:00:00+00:00")
    new = Trace.model_validate_json(
        trace_of(await again(without_files(), trace, change, strip("chisel", True))).model_dump_json()
    )
    assert (new.turn_id, new.revises) == ("turn-2", "turn-1")
    assert new.changes[0] == change
    assert new.changes[0].user == "local"
    assert (new.action, kept(new)) == (Action.AMBIGUOUS, ["bellows", "chisel"])
    assert "chisel weighs" in new.answer
    assert [s.score for s in new.strips] == [s.score for s in trace.strips]
    assert [d.by_evaluator.score for d in new.documents if d.by_evaluator] == [0.8]
    assert (trace.revises, trace.changes) == (None, ())


async def test_the_answer_is_what_the_preview_showed() -> None:
    trace = await answered(parts(EVIDENCE))
    for changes in ([limits(upper=0.9, strip=0.3)], [action(Action.AMBIGUOUS)], [grade("anvil", False)]):
        decision, strips, knowledge = revised(trace, changes)
        new = trace_of(await again(without_files(), trace, *changes))
        assert (new.decisions[-1], new.strips, new.knowledge) == (decision, strips, knowledge.text)
    assert trace_of(await again(without_files(), trace, limits(upper=0.9))).thresholds == Thresholds(upper=0.9)


async def test_a_second_look_that_is_missing_is_taken_and_one_that_is_stored_is_not_taken_again() -> None:
    made = parts({"anvil": 0.4, "bellows": 0.9}, first=["anvil"])
    trace = await answered(made)
    assert len(trace.decisions) == 1
    changes = [grade("anvil", False)]
    now = amended(trace, changes)
    assert lacking(now, revised(trace, changes)[0]) is Lacking.SECOND_LOOK
    new = trace_of(await again(made, trace, *changes))
    assert [decision.action for decision in new.decisions] == [Action.INCORRECT, Action.CORRECT]
    assert (new.search_query, kept(new)) == ("anvil weight", ["bellows"])
    third = trace_of(await again(without_files(), new, strip("hammer", True)))
    assert [decision.query for decision in third.decisions] == [QUESTION, "anvil weight"]
    assert kept(third) == ["bellows", "hammer"]
    first = trace_of(await again(without_files(), new, grade("anvil", True)))
    assert (first.action, first.search_query) == (Action.CORRECT, None)
    assert [document.id for document in first.documents] == ["anvil"]


async def test_an_edited_second_look_looks_again_and_keeps_the_grades_of_the_first() -> None:
    made = parts({"anvil": 0.1, "bellows": 0.9}, first=["anvil"])
    trace = await answered(made)
    made.evaluator.asked.clear()  # type: ignore[attr-defined]
    change = Change(what=Changed.SECOND_QUERY, before="anvil weight", after="bellows weight")
    events = await again(made, trace, change)
    new = trace_of(events)
    assert [event.query for event in events if isinstance(event, Retrieved)] == ["bellows weight"]
    assert new.search_query == "bellows weight"
    asked = [id_ for _, id_ in made.evaluator.asked]  # type: ignore[attr-defined]
    assert "anvil" not in asked


async def test_an_action_forced_at_the_first_look_lets_the_second_decide_by_its_scores() -> None:
    made = parts({"anvil": 0.8, "bellows": 0.5}, first=["anvil"])
    trace = await answered(made)
    new = trace_of(await again(made, trace, action(Action.INCORRECT)))
    assert [(decision.action, decision.by_hand) for decision in new.decisions] == [
        (Action.INCORRECT, True),
        (Action.CORRECT, False),
    ]
    last = trace_of(await again(without_files(), new, action(Action.AMBIGUOUS, look=2)))
    assert [decision.by_hand for decision in last.decisions] == [True, True]


# --- the web ------------------------------------------------------------------------------------------------------


async def test_an_action_that_asks_for_the_web_has_it_searched_through_the_gate() -> None:
    web = FakeWeb(GOOD)
    made = web_parts({"anvil": 0.8}, web, web_gate="ask")
    trace = await answered(made)
    assert web.asked == []
    assert lacking(amended(trace, [action(Action.AMBIGUOUS)]), revised(trace, [action(Action.AMBIGUOUS)])[0])
    gate = Gate()
    gate.answer("anvils of the world")
    events = await again(made, trace, action(Action.AMBIGUOUS), gate=gate)
    assert any(isinstance(event, Asking) for event in events)
    assert web.asked == ["anvils of the world"]
    assert [bool(source.url) for source in trace_of(events).sources] == [False, True]


async def test_a_search_that_was_made_or_declined_is_not_made_again() -> None:
    web = FakeWeb(GOOD)
    made = web_parts({"anvil": 0.4}, web)
    trace = await answered(made)
    new = trace_of(await again(made, trace, strip("anvil", True)))
    assert len(web.asked) == 1
    assert (new.web, new.web_documents) == (trace.web, trace.web_documents)
    declined = Gate()
    declined.answer(None)
    made = replace(made, web_gate="ask")
    said_no = trace_of(
        [event async for event in revise(made, trace_without_web(trace), [], "t", threading.Event(), declined)]
    )
    assert len(web.asked) == 1
    assert said_no.web is None


def trace_without_web(trace: Trace) -> Trace:
    """As if a person had kept the query from being sent."""
    local = tuple(strip for strip in trace.strips if not strip.url)
    return trace.model_copy(update={"web": None, "web_documents": (), "strips": local, "web_gate": "ask"})


async def test_an_edited_web_query_is_sent_as_it_is_and_the_local_grades_stay() -> None:
    web = FakeWeb(GOOD)
    made = web_parts({"anvil": 0.4}, web, web_gate="auto")
    trace = await answered(made)
    web.results = FakeWeb(OTHER).results
    made.evaluator.asked.clear()  # type: ignore[attr-defined]
    change = Change(what=Changed.WEB_QUERY, before="anvil weight", after="how heavy are anvils")
    new = trace_of(await again(replace(made, web_gate="ask"), trace, change))
    assert web.asked == ["anvil weight", "how heavy are anvils"]
    assert new.web is not None
    assert (new.web.query, new.web.proposed) == ("how heavy are anvils", "anvil weight")
    assert [document.text for document in new.web_documents] == [OTHER]
    assert all(id_ == new.web_documents[0].id for _, id_ in made.evaluator.asked)  # type: ignore[attr-defined]
    assert new.documents == trace.documents


async def test_a_search_that_fails_now_is_told_and_one_that_failed_before_is_no_longer() -> None:
    web = FakeWeb(fails="The web is down.")
    made = web_parts({"anvil": 0.4}, web)
    trace = await answered(made)
    assert "The web was not used. The web is down." in trace.notices
    same = trace_of(await again(made, trace, strip("hammer", True)))
    assert "The web was not used. The web is down." in same.notices
    web.fails, web.results = "", FakeWeb(GOOD).results
    change = Change(what=Changed.WEB_QUERY, before="anvil weight", after="anvil weight")
    new = trace_of(await again(made, trace, change))
    assert not any("down" in notice for notice in new.notices)
    assert new.web_documents
    off = trace_of(await again(replace(made, web=None), new, change))
    assert "The web was not searched, since it is off now." in off.notices
    assert off.web_documents == new.web_documents


async def test_what_another_evaluator_grades_now_is_told() -> None:
    made = web_parts({"anvil": 0.8}, FakeWeb(GOOD))
    trace = await answered(made)
    other = ByText({})
    other.version = "2"
    new = trace_of(await again(replace(made, evaluator=other), trace, action(Action.AMBIGUOUS)))
    assert any("(marked 2) than what was there before (marked 1)" in notice for notice in new.notices)
    assert new.evaluator.version == "1"


# --- stopping, and what cannot be revised -------------------------------------------------------------------------


async def test_stop_ends_it_and_keeps_what_was_ready() -> None:
    trace = await answered(parts(EVIDENCE))
    stop = threading.Event()
    events = []
    async for event in revise(without_files(), trace, [action(Action.AMBIGUOUS)], "t", stop):
        events.append(event)
        if isinstance(event, Decided):
            stop.set()
    new = trace_of(events)
    assert (new.stopped, new.action, new.answer) == (True, Action.AMBIGUOUS, "")
    assert not can_be_revised(new)


async def test_an_answer_without_evidence_cannot_be_revised_and_says_so() -> None:
    trace = (await answered(parts(EVIDENCE))).model_copy(update={"strips": (), "documents": ()})
    with pytest.raises(QuestionError, match="ask the question anew"):
        await again(parts(EVIDENCE), trace, action(Action.AMBIGUOUS))


# --- what it costs ------------------------------------------------------------------------------------------------


def reply(body: dict[str, Any]) -> Reply:
    """Grades the anvil 9 and all else 4, or writes."""
    if body.get("stream"):
        return Reply("It weighs 5 kilograms [1].")
    prompt = said_to(body)
    found = re.findall(r'<document id="(d\d+)">\n(.*?)</document>', prompt, re.DOTALL)
    grades = [
        {
            "id": id_,
            "score": 9 if "anvil" in text else 4,
            "reason": "r",
            "strips": [{"id": strip, "score": 8} for strip in re.findall(r"\[(d\d+s\d+)\]", text)],
        }
        for id_, text in found
    ]
    return Reply(json.dumps({"grades": grades, "query": "anvil weight"}))


async def test_flipping_a_grade_costs_one_call_and_showing_what_follows_none() -> None:
    with serving() as server:
        server.script = reply
        model = PydanticAiModel(ModelSpec(provider="openai", model="m", url=server.base, retries=0))

        def modelled() -> Parts:
            ledger = Ledger()
            return parts(
                EVIDENCE,
                evaluator=LlmJudge(model, ledger, None, date(2026, 12, 1)),
                generator=LlmGenerator(model, ledger, date(2026, 12, 1), 300),
                spare_generator=ExtractiveGenerator(quotes=3),
                ledger=ledger,
            )

        trace = await answered(modelled())
        assert [call.role for call in trace.calls] == ["grade", "generate"]
        asked = len(server.chats)
        change = grade("anvil", False)
        decision, strips, knowledge = revised(trace, [change])
        assert decision is not None
        assert len(server.chats) == asked
        new = trace_of(await again(modelled(), trace, change))
        assert len(server.chats) == asked + 1
        assert [call.role for call in new.calls] == ["generate"]
        assert (new.action, new.strips, new.generator) == (decision.action, strips, "openai:m")
        assert [source.file for source in new.sources] == [source.file for source in knowledge.sources]
