"""A conversation through the whole flow: follow-ups, courtesies, drafts, models that fail or break off, thoughts."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from datetime import date

import numpy as np
import pytest
from pipeline_stage import QUESTION, Flat, a_document, parts, trace_of
from scripted_model import ScriptedModel

from crag.agent_model.base import Ledger
from crag.errors import ModelError
from crag.events import Condensed, Drafted, Thinking, Token, TurnEvent
from crag.generator.direct import FixedDirectAnswer, LlmDirectAnswer
from crag.generator.extractive import ExtractiveGenerator
from crag.generator.llm import LlmGenerator
from crag.parts import Parts
from crag.pieces import Cut, Text, Thought
from crag.pipeline import answer
from crag.schema import Action, Exchange, Fate, Support, Trace
from crag.search.base import Answered, TimeRange, WebResult
from crag.search.condenser import LlmCondenser
from crag.search.drafter import LlmDrafter
from crag.search.llm_rewriter import LlmRewriter
from crag.search.rewriter import by_idf

TODAY = date(2026, 12, 1)
HISTORY = (Exchange(question=QUESTION, answer="“The anvil weighs 5 kilograms.” [1]\n\n“It is hard.” [2]"),)
DOWN = ModelError("The model scripted:model does not answer: start its server.")
GOOD_ANSWER = "The anvil weighs 5 kilograms in every test [1]."


async def talk(
    made: Parts, message: str = QUESTION, history: Sequence[Exchange] = (), stop: threading.Event | None = None
) -> tuple[list[TurnEvent], Trace]:
    events = [event async for event in answer(made, message, "turn", stop or threading.Event(), history=history)]
    return events, trace_of(events)


def modelled(*answers: object, window: int = 100_000, **changed: object) -> tuple[Parts, ScriptedModel]:
    """Parts with a model in every place that is not changed, noting its calls in one ledger."""
    model, ledger = ScriptedModel(*answers, window=window), Ledger()
    given: dict[str, object] = {
        "condenser": LlmCondenser(model, ledger, TODAY),
        "rewriter": LlmRewriter(model, ledger, None, TODAY),
        "spare_rewriter": by_idf,
        "generator": LlmGenerator(model, ledger, TODAY, 300),
        "spare_generator": ExtractiveGenerator(quotes=3),
        "direct": LlmDirectAnswer(model, ledger, 300),
        "ledger": ledger,
    }
    return parts({"anvil": 0.9}, **(given | changed)), model


# --- follow-ups -------------------------------------------------------------------------------------------------


async def test_a_follow_up_is_searched_graded_and_answered_as_the_question_that_stands_alone() -> None:
    made, model = modelled({"question": QUESTION, "needs_evidence": True}, [GOOD_ANSWER])
    events, trace = await talk(made, "and the anvil?", HISTORY)
    assert isinstance(events[0], Condensed)
    assert (trace.question, trace.standalone) == ("and the anvil?", QUESTION)
    assert {asked for asked, _ in made.evaluator.asked} == {QUESTION}  # type: ignore[attr-defined]
    assert f"<question>\n{QUESTION}\n</question>" in model.asked[1].prompt
    assert trace.answer == GOOD_ANSWER
    assert [call.role for call in trace.calls] == ["condense", "generate"]
    assert trace.timings.keys() >= {"condense", "generate"}


async def test_the_first_message_of_a_conversation_costs_no_condensing() -> None:
    made, _ = modelled([GOOD_ANSWER])
    events, trace = await talk(made)
    assert [call.role for call in trace.calls] == ["generate"]
    assert trace.standalone is None
    assert not any(isinstance(event, Condensed) for event in events)


async def test_a_message_that_stands_alone_is_not_shown_as_condensed() -> None:
    made, _ = modelled({"question": f" {QUESTION.lower()} ", "needs_evidence": True}, [GOOD_ANSWER])
    events, trace = await talk(made, QUESTION, HISTORY)
    assert trace.standalone is None
    assert not any(isinstance(event, Condensed) for event in events)


async def test_where_condensing_fails_the_question_is_taken_as_it_stands_and_that_is_told() -> None:
    made, _ = modelled(DOWN, [GOOD_ANSWER])
    _, trace = await talk(made, QUESTION, HISTORY)
    assert trace.answer == GOOD_ANSWER
    assert trace.notices == (f"The question was taken as it stands, without what was said before. {DOWN}",)


# --- messages that ask for no evidence --------------------------------------------------------------------------


@pytest.mark.parametrize("history", [(), HISTORY])
async def test_a_greeting_skips_the_flow_and_is_labelled(history: tuple[Exchange, ...]) -> None:
    made, model = modelled(["Hello", "!"])
    events, trace = await talk(made, "Hello!", history)
    assert [event.kind for event in events] == ["token", "token", "finished"]
    assert (trace.direct, trace.action, trace.documents, trace.covered) == (True, None, (), False)
    assert (trace.answer, trace.generator, trace.error) == ("Hello!", "scripted:model", None)
    assert [asked.role for asked in model.asked] == ["generate"]
    assert made.evaluator.asked == []  # type: ignore[attr-defined]


async def test_a_wish_about_the_answer_rewords_it_and_asks_no_document() -> None:
    made, model = modelled(["5 kg [1]."])
    _, trace = await talk(made, "shorter please", HISTORY)
    assert (trace.direct, trace.answer, trace.documents) == (True, "5 kg [1].", ())
    assert HISTORY[0].answer in model.asked[0].prompt


async def test_the_same_wish_without_an_answer_before_goes_through_the_flow() -> None:
    made, _ = modelled([GOOD_ANSWER])
    _, trace = await talk(made, "shorter please")
    assert not trace.direct
    assert trace.decisions


async def test_a_wish_that_only_the_condenser_recognises_is_answered_directly_too() -> None:
    made, _ = modelled({"question": "as a rhyme", "needs_evidence": False}, ["Five kilos [1]."])
    _, trace = await talk(made, "as a rhyme", HISTORY)
    assert (trace.direct, trace.standalone, trace.answer) == (True, None, "Five kilos [1].")
    assert [call.role for call in trace.calls] == ["condense", "generate"]


async def test_without_a_model_thanks_are_answered_and_nothing_is_searched() -> None:
    _, trace = await talk(parts({"anvil": 0.9}, direct=FixedDirectAnswer()), "谢谢！")
    assert (trace.direct, trace.answer, trace.generator) == (True, "不客气，欢迎继续提问。", "direct")


async def test_a_greeting_is_answered_where_the_model_is_down_and_that_is_told() -> None:
    made, _ = modelled([DOWN])
    _, trace = await talk(made, "Hello!")
    assert trace.answer.startswith("Hello. Ask a question")
    assert (trace.generator, trace.error) == ("direct", None)
    assert trace.notices == (f"The model could not answer. {DOWN}",)


# --- drafts (HyDE) ----------------------------------------------------------------------------------------------


class Noting(Flat):
    """An embedder that writes down what it embeds; a passage is at a right angle to a query."""

    def __init__(self) -> None:
        self.passages: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        self.passages += texts
        return np.tile(np.array([0, 1], dtype=np.float32), (len(texts), 1))


async def test_a_draft_is_searched_for_beside_the_question_and_shown() -> None:
    model, ledger, embedder = ScriptedModel({"passage": "An anvil weighs 5 kilograms."}), Ledger(), Noting()
    made = parts({"anvil": 0.9}, drafter=LlmDrafter(model, ledger), embedder=embedder, ledger=ledger)
    seen: list[np.ndarray] = []
    made.knowledge_base.dense = lambda vector, n, contents=None: seen.append(vector) or []  # type: ignore[attr-defined]
    events, trace = await talk(made)
    assert isinstance(events[0], Drafted)
    assert trace.hypothetical == "An anvil weighs 5 kilograms."
    assert embedder.passages == [trace.hypothetical]
    np.testing.assert_allclose(seen[0], [2**-0.5, 2**-0.5], rtol=1e-6)
    assert {asked for asked, _ in made.evaluator.asked} == {QUESTION}  # type: ignore[attr-defined]
    assert trace.hypothetical not in trace.knowledge


async def test_without_a_draft_the_question_alone_is_searched_for_and_that_is_told() -> None:
    embedder = Noting()
    made = parts({"anvil": 0.9}, drafter=LlmDrafter(ScriptedModel(DOWN), Ledger()), embedder=embedder)
    _, trace = await talk(made)
    assert (trace.hypothetical, embedder.passages) == (None, [])
    assert trace.notices == (f"No answer was drafted to search for. {DOWN}",)
    assert trace.action is Action.CORRECT


# --- the web's query --------------------------------------------------------------------------------------------


class Web:
    name = "fakeweb"

    def __init__(self, new: str = "", old: str = "") -> None:
        self.found = {True: new, False: old}
        self.asked: list[tuple[str, TimeRange | None]] = []

    async def search(self, query: str, time_range: TimeRange | None = None) -> Answered:
        self.asked.append((query, time_range))
        text = self.found[time_range is not None]
        return Answered((WebResult("https://example.org/1", "Anvils", text),) if text else (), cost=0.5)


async def test_the_models_query_goes_to_the_web_with_a_time_range_where_news_are_asked_for() -> None:
    web = Web(new="An anvil weighs 5 kilograms.")
    rewriter = LlmRewriter(ScriptedModel({"query": "anvil weight"}), Ledger(), None, TODAY)
    _, trace = await talk(parts({"anvil": 0.4}, web=web, rewriter=rewriter), "What does the latest anvil weigh?")
    assert web.asked == [("anvil weight", "year")]
    assert trace.web is not None
    assert (trace.web.query, trace.web.time_range) == ("anvil weight", "year")


async def test_where_nothing_is_new_enough_older_pages_are_searched_and_that_is_told() -> None:
    web = Web(old="An anvil weighs 5 kilograms.")
    _, trace = await talk(parts({"anvil": 0.4}, web=web), "What does the latest anvil weigh?")
    assert web.asked == [("anvil weight", "year"), ("anvil weight", None)]
    assert trace.web is not None
    assert (trace.web.results, trace.web.time_range) == (1, None)
    assert any("older pages" in notice for notice in trace.notices)
    assert trace.web.cost == 1.0, "both searches were paid for"


async def test_other_questions_are_searched_for_without_a_time_range() -> None:
    web = Web()
    _, trace = await talk(parts({"anvil": 0.4}, web=web))
    assert web.asked == [("anvil weight", None)]
    assert trace.web is not None
    assert trace.web.time_range is None


async def test_where_the_model_gives_no_query_keywords_are_searched_for_and_that_is_told() -> None:
    model, web = ScriptedModel(DOWN), Web()
    rewriter = LlmRewriter(model, Ledger(), None, TODAY)
    _, trace = await talk(parts({"anvil": 0.4}, web=web, rewriter=rewriter, spare_rewriter=by_idf))
    assert web.asked == [("anvil weigh", None)]
    assert trace.notices[0] == (f"The query is made of the question's keywords, since the model gave none. {DOWN}")


# --- answers that fail, break off or are thought over -------------------------------------------------------------


async def test_a_model_that_cannot_write_leaves_the_quotes_and_says_so() -> None:
    made, _ = modelled([DOWN])
    _, trace = await talk(made)
    assert trace.answer.startswith("From your documents:")
    assert (trace.generator, trace.error, trace.cut) == ("extractive", None, None)
    assert trace.notices == (f"The model could not write the answer, so the evidence is quoted. {DOWN}",)


async def test_without_a_spare_the_failure_is_the_turns_error_and_the_evidence_stays() -> None:
    made, _ = modelled([DOWN], spare_generator=None)
    _, trace = await talk(made)
    assert (trace.answer, trace.error) == ("", str(DOWN))
    assert trace.sources


async def test_thoughts_are_told_apart_from_the_answer() -> None:
    made, _ = modelled([Thought("Let me "), Thought("see."), Text(GOOD_ANSWER)])
    events, trace = await talk(made)
    assert [event.text for event in events if isinstance(event, Thinking)] == ["Let me ", "see."]
    assert [event.text for event in events if isinstance(event, Token)] == [GOOD_ANSWER]
    assert (trace.thinking, trace.answer) == ("Let me see.", GOOD_ANSWER)


@pytest.mark.parametrize(
    ("last", "why"),
    [
        (Cut("The answer reached the most tokens that it may have."), "The answer reached the most tokens"),
        (DOWN, "does not answer"),
    ],
)
async def test_an_answer_that_breaks_off_is_kept_and_marked_as_cut(last: object, why: str) -> None:
    made, _ = modelled([Text("The anvil weighs 5 "), last])
    _, trace = await talk(made)
    assert trace.answer == "The anvil weighs 5 "
    assert trace.cut is not None
    assert why in trace.cut
    assert (trace.error, trace.generator) == (None, "scripted:model")


async def test_stop_ends_a_streaming_answer_and_keeps_what_came() -> None:
    stop, closed = threading.Event(), []

    class Endless(ScriptedModel):
        async def stream(self, *_: object, **__: object):  # type: ignore[no-untyped-def,override]
            try:
                yield Text("The anvil ")
                stop.set()
                await asyncio.sleep(60)
            finally:
                closed.append(True)

    made = parts({"anvil": 0.9}, generator=LlmGenerator(Endless(), Ledger(), TODAY, 300))
    _, trace = await talk(made, stop=stop)
    assert (trace.answer, trace.stopped, closed) == ("The anvil ", True, [True])


# --- more knowledge than the window holds -------------------------------------------------------------------------


def crowded(*answers: object, window: int) -> tuple[Parts, ScriptedModel]:
    made, model = modelled(*answers, window=window)
    marks = {"anvil": 0.95, "saw": 0.8, "file": 0.75}
    other = parts(marks, generator=made.generator, spare_generator=made.spare_generator, ledger=made.ledger)
    return other, model


def window_for(*names: str) -> int:
    """Characters that the rules, the question and these documents take, and an answer of 300."""
    made, _ = crowded([GOOD_ANSWER], window=100_000)
    generator = made.generator
    assert isinstance(generator, LlmGenerator)
    taken = sum(len(f"[1] {name}.pdf, page 1\n{a_document(name).text}\n\n") for name in names)
    return len(generator.instructions) + len(QUESTION) + taken + 64 + 60 + 300


async def test_the_trace_shows_what_the_model_was_really_given_and_the_notice_says_what_was_not() -> None:
    made, model = crowded([GOOD_ANSWER], window=window_for("anvil"))
    made.generator.max_tokens = 300  # type: ignore[attr-defined]
    _, trace = await talk(made)
    assert f"<knowledge>\n{trace.knowledge}\n</knowledge>" in model.asked[0].prompt
    sent = {id_ for source in trace.sources for id_ in source.strips}
    assert sent == {strip.id for strip in trace.strips if strip.kept}
    assert "strip-anvil" in sent
    assert any(strip.fate is Fate.BEYOND_WINDOW for strip in trace.strips)
    of = sum(strip.kept or strip.fate is Fate.BEYOND_WINDOW for strip in trace.strips)
    assert trace.notices == (
        f"The knowledge is longer than what the model can read: it was given {len(sent)} of {of} strips, those with "
        "the best scores.",
    )
    assert trace.check.sentences[0].support is Support.SUPPORTED


async def test_where_the_model_then_fails_the_whole_knowledge_is_quoted_from() -> None:
    made, _ = crowded([DOWN], window=window_for("anvil"))
    _, trace = await talk(made)
    assert trace.generator == "extractive"
    assert len(trace.sources) == 3
    assert not any(strip.fate is Fate.BEYOND_WINDOW for strip in trace.strips)
    assert trace.notices == (f"The model could not write the answer, so the evidence is quoted. {DOWN}",)


async def test_a_window_too_small_for_anything_leaves_the_quotes_and_the_mend() -> None:
    made, model = crowded(window=200)
    _, trace = await talk(made)
    assert model.asked == []
    assert trace.generator == "extractive"
    assert "CRAG_LLM_CONTEXT" in trace.notices[0]
