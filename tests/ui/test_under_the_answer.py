"""Under an answer: copying it with its sources, thumbs with a reason that are kept, and what else could be asked."""

from __future__ import annotations

import re
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest
from ui_stage import CORRECT, LIMITS, Stage, answered, ended, events, html

from crag.events import Finished
from crag.refinement import ledger, recompose, select
from crag.schema import (
    Action,
    Citation,
    Document,
    DocumentGrade,
    EvaluatorName,
    Grade,
    GradedDocument,
    Span,
    Strip,
    Trace,
    WebSearched,
)
from crag.ui import copying, state
from crag.ui.suggesting import follow_ups, question_about
from crag.ui.texts import Texts


def trace_of(stage: Stage) -> Trace:
    last = stage.turn[-1]
    assert isinstance(last, Finished)
    return last.trace


# --- copy -----------------------------------------------------------------------------------------------------


def test_what_is_copied_is_the_answer_as_it_was_written_with_the_sources_that_it_cites(stage: Stage) -> None:
    stage.turn = events(CORRECT, answer='It is "128" <b> [1].\n\n- so')
    shown = html(answered(stage))
    (data,) = re.findall(r"class='crag-copy' data-text='([^']*)'", shown)
    text = unescape(data)
    assert text.startswith('It is "128" <b> [1].\n\n- so\n\nSources:\n[1] dense passage retrieval.pdf p. 1')
    assert "\n" not in data, "an attribute keeps its lines only as references"


def test_a_web_source_is_copied_with_its_address_and_when_it_was_read(stage: Stage) -> None:
    web = WebSearched(provider="p", query="q", time="2026-01-02T03:04:05+00:00")
    cited = Citation(n=2, file="https://a.example/x", page=1, url="https://a.example/x", title="A  title")
    trace = trace_of(stage).model_copy(update={"web": web, "citations": (cited,)})
    assert copying.as_text(trace, Texts("en")).endswith(
        "Sources:\n[2] A title, https://a.example/x, Read 2026-01-02 03:04 UTC"
    )


# --- thumbs -----------------------------------------------------------------------------------------------------


def kept(turn_id: str) -> list[tuple[bool | None, str]]:
    """What the store holds of a turn."""
    process = state.process()
    process.keeping.settle()
    found = process.keeping.opened()
    (listed,) = found.latest()
    conversation = found.load(listed.id)
    assert conversation is not None
    return [(turn.liked, turn.why) for turn in conversation.turns if turn.turn_id == turn_id]


def the_turn() -> str:
    job = state.process().runtime.latest("turn")
    assert job is not None
    return job.id


def thumb(at: AppTest, value: int | None) -> AppTest:
    at = at.get("feedback")[0].set_value(value).run()
    assert not at.exception
    return at


def test_a_thumb_and_its_reason_are_kept_with_the_turn_and_can_be_taken_back(stage: Stage) -> None:
    at = answered(stage)
    turn = the_turn()
    assert not [field for field in at.text_input if str(field.key).startswith("why-")]
    at = thumb(at, 0)
    assert kept(turn) == [(False, "")]
    at = at.text_input(key=f"why-{turn}").set_value(" wrong page ").run()
    assert at.text_input(key=f"why-{turn}").label == "What was wrong?"
    assert kept(turn) == [(False, "wrong page")]
    at = thumb(at, 1)
    assert at.text_input(key=f"why-{turn}").label == "What was good?"
    assert kept(turn) == [(True, "wrong page")]
    at = thumb(at, None)
    assert kept(turn) == [(None, "")]
    assert not [field for field in at.text_input if str(field.key).startswith("why-")]


def test_another_session_sees_the_thumb_and_the_reason_again(stage: Stage) -> None:
    at = thumb(answered(stage), 1)
    turn = the_turn()
    at.text_input(key=f"why-{turn}").set_value("short").run()
    kept(turn)
    process = state.process()
    process.talks._conversations.clear()  # as after a restart
    again = AppTest.from_file(at._script_path, default_timeout=20)
    again.query_params["c"] = at.query_params["c"]
    again.run()
    assert not again.exception
    assert again.get("feedback")[0].value == 1
    assert again.text_input(key=f"why-{turn}").value == "short"


# --- follow-ups -------------------------------------------------------------------------------------------------


def document(name: str, heading: str) -> Document:
    text = f"The {name} is described here at some length."
    span = Span(page=1, start=0, end=len(text))
    return Document(
        id=name, content=name, files=(f"{name}.pdf",), text=text, heading=heading, spans=(span,),
        strips=(Strip(id=f"s-{name}", text=text, spans=(span,)),),
    )  # fmt: skip


def trace_with(*graded: tuple[str, str, float | None], cites: str = "") -> Trace:
    """A trace over documents of (name, heading, score); the document `cites` is quoted."""
    documents = [document(name, heading) for name, heading, _ in graded]
    grades = [Grade(score=score, cause=None if score is not None else "x") for _, _, score in graded]
    found = tuple(GradedDocument.of(d, g, LIMITS) for d, g in zip(documents, grades, strict=True))
    strips = ledger(documents, [DocumentGrade(document=g, strips=(g,)) for g in grades])
    strips = select(found, strips, LIMITS, Action.CORRECT)
    knowledge = recompose(strips)
    quoted = [source for source in knowledge.sources if source.file == f"{cites}.pdf"]
    return Trace(
        turn_id="t", created="", question="What is it?", k=8, thresholds=LIMITS, generator="extractive",
        evaluator=EvaluatorName(name="e", version="1"), documents=found, strips=strips, sources=knowledge.sources,
        answer="".join(source.text for source in quoted),
        citations=tuple(Citation(n=s.n, file=s.file, page=s.page) for s in quoted),
    )  # fmt: skip


def test_what_was_found_but_not_used_can_be_asked_about_the_best_graded_first() -> None:
    trace = trace_with(
        ("a", "Used part", 0.9), ("b", "Low part", 0.2), ("c", "Book › High part", 0.6),
        ("d", "无关 › 阈值的选择", 0.4), ("e", "Ungraded part", None), cites="a",
    )  # fmt: skip
    assert follow_ups(trace) == [
        "Tell me about “High part”.", "请介绍“阈值的选择”。", "Tell me about “Low part”.",
    ]  # fmt: skip


def test_nothing_is_suggested_twice_nor_of_what_was_used_or_asked_nor_of_headings_of_every_book() -> None:
    trace = trace_with(
        ("a", "Used part", 0.9), ("b", "Used part", 0.8), ("c", "High part", 0.7), ("d", "High part", 0.6),
        ("e", "References", 0.5), ("f", "", 0.5), ("g", "Next part", 0.4), cites="a",
    )  # fmt: skip
    assert follow_ups(trace) == ["Tell me about “High part”.", "Tell me about “Next part”."]
    assert follow_ups(trace, ["tell me about “high part”."]) == ["Tell me about “Next part”."]


@pytest.mark.parametrize(
    ("heading", "question"),
    [("What it needs?", "Tell me what it needs."), ("A › TRAINING DATA", "Tell me about “Training data”.")],
)
def test_a_heading_becomes_a_question(heading: str, question: str) -> None:
    assert question_about(heading) == question


def test_a_click_on_a_suggestion_asks_it(stage: Stage) -> None:
    found = trace_with(("a", "Used part", 0.9), ("c", "High part", 0.6), cites="a")
    stage.turn[-1] = Finished(trace=trace_of(stage).model_copy(update={
        name: getattr(found, name) for name in ("documents", "strips", "sources", "answer", "citations")
    }))  # fmt: skip
    at = answered(stage)
    (button,) = [b for b in at.button if str(b.key).startswith("follow-")]
    at = ended(button.click().run())
    assert "Tell me about “High part”." in html(at)
    assert len(at.get("chat_message")) == 4
