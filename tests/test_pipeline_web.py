"""The three ways of Algorithm 1 with a web to ask: what is searched, kept, numbered, told and traced."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence

import pytest
from pipeline_stage import QUESTION, Marked, parts, run, trace_of

from crag.errors import WebSearchError
from crag.events import Graded, Rewritten, Searched, Token
from crag.replay import replay
from crag.schema import Action, Document, DocumentGrade, Fate, Grade, Thresholds, Trace
from crag.search.base import Answered, TimeRange, WebResult


class FakeWeb:
    """A web that gives what it was told, and writes down what it was asked."""

    name = "fakeweb"

    def __init__(self, *texts: str, fails: str = "") -> None:
        self.results = [WebResult(f"https://example.org/{i}", f"Page {i}", text) for i, text in enumerate(texts)]
        self.fails = fails
        self.asked: list[str] = []

    async def search(self, query: str, time_range: TimeRange | None = None) -> Answered:
        self.asked.append(query)
        if self.fails:
            raise WebSearchError(self.fails)
        return Answered(tuple(self.results))


class ByText(Marked):
    """Marks files by name and web pages by the mark that stands in their text, as in "mark 0.8"."""

    def _of(self, document: Document) -> DocumentGrade:
        if not document.url:
            return super()._of(document)

        def grade(text: str) -> Grade:
            _, found, mark = text.partition("mark ")
            return Grade(score=float(mark[:3])) if found else Grade(score=None, cause="no mark")

        return DocumentGrade(
            document=grade(document.text), strips=tuple(grade(strip.text) for strip in document.strips)
        )


GOOD = "The web knows that an anvil weighs 50 kilograms: mark 0.9."
OTHER = "Another page of the web says nearly the same of it: mark 0.8."
POOR = "This page of the web is about something else: mark 0.1."


def web_parts(marks: dict[str, float], web: FakeWeb, **changed: object):  # type: ignore[no-untyped-def]
    return parts(marks, evaluator=ByText({"hammer": 0.1, **marks}), web=web, **changed)


async def test_good_local_evidence_asks_nobody() -> None:
    web = FakeWeb(GOOD)
    trace = trace_of(await run(web_parts({"anvil": 0.9}, web)))
    assert trace.action is Action.CORRECT
    assert web.asked == []
    assert (trace.web, trace.web_gate, trace.web_documents) == (None, "auto", ())
    assert not any(source.url for source in trace.sources)


async def test_bad_local_evidence_is_discarded_and_the_answer_comes_from_the_web() -> None:
    web = FakeWeb(GOOD)
    events = await run(web_parts({"anvil": 0.2}, web))
    trace = trace_of(events)
    assert [event.kind for event in events if not isinstance(event, Token)] == [
        "retrieved",
        "graded",
        "decided",
        "rewritten",
        "searched",
        "graded",
        "refined",
        "finished",
    ]
    assert trace.action is Action.INCORRECT
    assert len(trace.decisions) == 1, "no second look"
    assert trace.search_query is None
    assert [(source.url, source.title) for source in trace.sources] == [("https://example.org/0", "Page 0")]
    assert trace.answer.startswith("From the web:")
    assert "50 kilograms" in trace.answer
    assert [(c.n, c.url, c.title) for c in trace.citations] == [(1, "https://example.org/0", "Page 0")]
    assert trace.knowledge.startswith("[1] Page 0, https://example.org/0\n")
    assert {strip.fate for strip in trace.strips if not strip.url} == {Fate.DISCARDED}
    assert "the web is searched instead" in trace.decision
    assert trace.covered
    assert {"search", "grade_web"} <= set(trace.timings)


async def test_uncertain_local_evidence_stands_beside_the_web_and_files_are_numbered_first() -> None:
    web = FakeWeb(GOOD, OTHER)
    trace = trace_of(await run(web_parts({"anvil": 0.69, "saw": 0.5}, web)))
    assert trace.action is Action.AMBIGUOUS
    assert [(source.n, source.file) for source in trace.sources] == [
        (1, "anvil.pdf"),
        (2, "saw.pdf"),
        (3, "https://example.org/0"),
        (4, "https://example.org/1"),
    ]
    assert trace.answer.startswith("From your documents and the web:")
    assert {citation.n for citation in trace.citations} >= {1, 3}
    assert "the web is searched as well" in trace.decision
    assert trace.notices == ()
    assert [document.score for document in trace.web_documents] == [0.9, 0.8]
    assert not any(document.url for document in trace.documents)


async def test_each_kind_keeps_its_own_best_strips() -> None:
    web = FakeWeb(GOOD, OTHER)
    trace = trace_of(await run(web_parts({"anvil": 0.6, "saw": 0.5}, web, thresholds=Thresholds(top_strips=1))))
    assert [source.file for source in trace.sources] == ["anvil.pdf", "https://example.org/0"]


async def test_what_is_sent_is_made_of_the_question_alone_and_the_trace_says_to_whom_and_when() -> None:
    web = FakeWeb(GOOD)
    rewritten: list[str] = []

    async def rewriter(question: str) -> str:
        rewritten.append(question)
        return "anvil  weight\n" + "word " * 200

    events = await run(web_parts({"anvil": 0.2}, web, rewriter=rewriter))
    trace = trace_of(events)
    assert rewritten == [QUESTION]
    assert len(web.asked[0]) <= 400
    assert web.asked[0].startswith("anvil weight word")
    assert trace.web is not None
    assert (trace.web.provider, trace.web.query, trace.web.results) == ("fakeweb", web.asked[0], 1)
    assert trace.web.time.endswith("+00:00")
    before = next(event for event in events if isinstance(event, Rewritten))
    assert (before.query, before.provider) == (web.asked[0], "fakeweb")
    assert trace.question == QUESTION
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


async def test_events_tell_what_the_web_gave_and_how_it_was_graded() -> None:
    events = await run(web_parts({"anvil": 0.6}, FakeWeb(GOOD, GOOD, "", POOR)))
    searched = next(event for event in events if isinstance(event, Searched))
    assert (searched.provider, searched.results) == ("fakeweb", 4)
    assert len(searched.documents) == 2, "equal and empty texts are dropped"
    graded = [event for event in events if isinstance(event, Graded)][-1]
    assert [document.verdict for document in graded.documents if document.url] == ["relevant", "irrelevant"]


async def test_a_failed_search_leaves_uncertain_evidence_alone_and_says_why() -> None:
    web = FakeWeb(fails="Tavily could not be reached: check your network.")
    trace = trace_of(await run(web_parts({"anvil": 0.6}, web)))
    assert trace.action is Action.AMBIGUOUS
    assert [source.file for source in trace.sources] == ["anvil.pdf"]
    assert trace.notices == ("The web was not used. Tavily could not be reached: check your network.",)
    assert trace.web is not None
    assert (trace.web.results, trace.web.error) == (None, web.fails)
    assert trace.error is None


async def test_a_failed_search_is_followed_by_the_second_look() -> None:
    made = parts({"anvil": 0.9}, first=["hammer"], web=FakeWeb(fails="No network: look."))
    trace = trace_of(await run(made))
    assert [decision.action for decision in trace.decisions] == [Action.INCORRECT, Action.CORRECT]
    assert trace.search_query == "anvil weight"
    assert trace.notices[0].endswith("No network: look.")
    assert "anvil weighs 5 kilograms" in trace.answer


@pytest.mark.parametrize("texts", [(), ("", " \n")])
async def test_nothing_usable_is_followed_by_the_second_look_and_by_a_plain_answer(texts: Sequence[str]) -> None:
    trace = trace_of(await run(web_parts({"anvil": 0.2}, FakeWeb(*texts))))
    assert len(trace.decisions) == 2
    assert trace.decision.endswith("your documents do not cover the question")
    assert "found nothing that can be used" in trace.notices[0]
    assert "a web search for “anvil weight” found no answer either" in trace.answer
    assert not trace.covered


async def test_a_web_that_does_not_answer_the_question_leads_to_not_covered_without_a_second_look() -> None:
    trace = trace_of(await run(web_parts({"anvil": 0.2}, FakeWeb(POOR))))
    assert len(trace.decisions) == 1
    assert not trace.covered
    assert "a web search for “anvil weight” found no answer either" in trace.answer
    assert "something else" not in trace.answer
    assert [strip.fate for strip in trace.strips if strip.url] == [Fate.DOCUMENT_IRRELEVANT]


async def test_poor_pages_beside_uncertain_documents_are_left_out_and_that_is_said() -> None:
    trace = trace_of(await run(web_parts({"anvil": 0.6}, FakeWeb(POOR))))
    assert [source.file for source in trace.sources] == ["anvil.pdf"]
    assert "rests on your documents alone" in trace.notices[0]


async def test_the_best_strip_of_a_usable_page_is_the_fallback_of_the_web() -> None:
    web = FakeWeb("This page of the web is only near to it: mark 0.4.")
    trace = trace_of(await run(web_parts({"anvil": 0.2}, web)))
    assert [strip.fate for strip in trace.strips if strip.url] == [Fate.FALLBACK]
    assert trace.notices == (
        "No strip of the web reached the strip threshold: the best one is used although it is below.",
    )


async def test_pages_that_cannot_be_graded_are_told_and_the_second_look_is_taken() -> None:
    trace = trace_of(await run(web_parts({"anvil": 0.2}, FakeWeb("A page without any."))))
    assert len(trace.decisions) == 2
    assert "could not be graded (no mark)" in trace.notices[0]
    assert [document.verdict for document in trace.web_documents] == ["ungraded"]
    assert "web search" not in trace.answer


async def test_a_shut_gate_is_never_passed() -> None:
    web = FakeWeb(GOOD)
    for marks in ({"anvil": 0.6}, {"anvil": 0.2}):
        trace = trace_of(await run(web_parts(marks, web, web_gate="off")))
        assert (trace.web, trace.web_gate) == (None, "off")
        assert "the web is searched" not in trace.decision
    assert web.asked == []


async def test_where_nothing_was_graded_the_web_is_not_searched() -> None:
    web = FakeWeb(GOOD)
    trace = trace_of(await run(parts({}, first=["anvil"], evaluator=Marked({}), web=web)))
    assert trace.action is None
    assert web.asked == []


async def test_ungraded_documents_lead_to_the_web_and_not_to_a_claim() -> None:
    web = FakeWeb(GOOD)
    trace = trace_of(await run(parts({}, first=["anvil", "hammer"], evaluator=ByText({"hammer": 0.1}), web=web)))
    assert trace.action is Action.AMBIGUOUS
    assert [source.url for source in trace.sources] == ["https://example.org/0"]
    assert "and the web is searched" in trace.decision


async def test_stop_gives_a_slow_search_up_and_the_trace_says_what_was_sent() -> None:
    stop = threading.Event()
    ended: list[str] = []

    class Slow(FakeWeb):
        async def search(self, query: str, time_range: TimeRange | None = None) -> Answered:
            stop.set()
            try:
                await asyncio.sleep(30)
            finally:
                ended.append(query)
            return Answered(())

    made = web_parts({"anvil": 0.2}, Slow())
    async with asyncio.timeout(5):
        trace = trace_of(await run(made, stop=stop))
    assert trace.stopped
    assert ended == ["anvil weight"]
    assert trace.web is not None
    assert (trace.web.query, trace.web.results) == ("anvil weight", None)
    assert trace.answer == ""
    assert made.knowledge_base.open == 0


async def test_a_chinese_question_is_told_about_the_web_in_chinese() -> None:
    trace = trace_of(await run(web_parts({"anvil": 0.2}, FakeWeb(POOR)), "铁砧有多重？"))
    assert "改为搜索网络" in trace.decision
    assert "在网络上搜索“anvil weight”也没有找到答案" in trace.answer


@pytest.mark.parametrize("mark", [0.2, 0.6, 0.9])
async def test_a_stored_trace_with_the_web_replays_to_the_same_result(mark: float) -> None:
    trace = trace_of(await run(web_parts({"anvil": mark}, FakeWeb(GOOD, POOR))))
    stored = Trace.model_validate_json(trace.model_dump_json())
    decision, strips, knowledge = replay(stored, stored.thresholds)
    assert (decision, strips, knowledge.text) == (trace.decisions[-1], trace.strips, trace.knowledge)


async def test_a_replay_with_other_thresholds_takes_the_web_in_or_leaves_it_out() -> None:
    trace = trace_of(await run(web_parts({"anvil": 0.6}, FakeWeb(GOOD))))
    for thresholds, files in (
        (Thresholds(upper=0.5), ["anvil.pdf"]),
        (Thresholds(lower=0.65), ["https://example.org/0"]),
        (Thresholds(), ["anvil.pdf", "https://example.org/0"]),
    ):
        _, _, knowledge = replay(trace, thresholds)
        assert [source.file for source in knowledge.sources] == files


async def test_a_replay_after_a_failed_search_keeps_its_second_look() -> None:
    trace = trace_of(await run(parts({"anvil": 0.9}, first=["hammer"], web=FakeWeb(fails="No network: look."))))
    decision, strips, knowledge = replay(trace, trace.thresholds)
    assert (decision, strips, knowledge.text) == (trace.decisions[-1], trace.strips, trace.knowledge)
