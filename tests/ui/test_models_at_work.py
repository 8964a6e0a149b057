"""What the page shows of a turn in which models worked: their words, thoughts, calls, costs and failures."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from ui_stage import AMBIGUOUS, CORRECT, Stage, answered, ask, ended, events, html, labels, open_panel, scripts

from crag.events import Condensed, Drafted, Finished, Thinking, Token, TurnEvent
from crag.schema import ModelCall, Trace, WebSearched
from crag.ui import state
from crag.ui.money import cost_of, money
from crag.ui.panels.timing import spent
from crag.ui.progress import turn_view
from crag.ui.texts import Texts

WRITTEN = "The size is **128** [1].\n\n- one\n- two ![x](http://evil.example/p) [7]"
CALLS = (
    ModelCall(role="grade", model="openai:qwen3", seconds=1.25, tokens_in=2345, tokens_out=210, cost=0.0012),
    ModelCall(role="grade", model="openai:qwen3", seconds=0.5, repeat=True, error="It gave <b>no</b> number."),
    ModelCall(role="generate", model="openai:qwen3", seconds=2.0, first_token=0.33, tokens_in=900, tokens_out=80),
)


def with_(scores: list[float | None], **changed: object) -> list[TurnEvent]:
    *before, last = events(scores)
    assert isinstance(last, Finished)
    return [*before, Finished(trace=last.trace.model_copy(update=changed))]


def trace(**changed: object) -> Trace:
    last = with_(CORRECT, **changed)[-1]
    assert isinstance(last, Finished)
    return last.trace


def captions(at: AppTest) -> str:
    return "\n".join(caption.value for caption in at.caption).replace("\\", "").replace("\u2060", "")


def press(at: AppTest, label: str) -> AppTest:
    next(button for button in at.button if button.label == label).click().run()
    return ended(at)


def test_what_a_model_wrote_has_its_structure_and_its_citations_but_no_image(stage: Stage) -> None:
    stage.turn = with_(CORRECT, generator="openai:qwen3", answer=WRITTEN)
    shown = html(answered(stage))
    assert "<strong>128</strong>" in shown
    assert "<li>one</li>" in shown
    assert "title='dense passage retrieval.pdf p. 1'>[1]</a>" in shown
    assert "crag-cite-unknown" in shown
    assert "<img" not in shown


def test_what_is_quoted_is_never_read_as_markdown(stage: Stage) -> None:
    stage.turn = with_(CORRECT, answer="From your documents:\n\n“It is **128**” [1]")
    assert "**128**" in html(answered(stage))


def test_that_nothing_covers_the_question_names_files_as_they_are(stage: Stage) -> None:
    stage.turn = with_(CORRECT, generator="openai:qwen3", covered=False, answer="Nearest documents: *a*_b_.pdf")
    assert "*a*_b_.pdf" in html(answered(stage))


def test_while_a_model_writes_its_words_are_shown_with_structure(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_LLM_PROVIDER", "openai")
    monkeypatch.setenv("CRAG_LLM_MODEL", "qwen3")
    stage.goes_on.clear()
    *before, last = with_(CORRECT)
    stage.turn = [*before[:-2], Thinking(text="hm"), Token(text="It is **128** [1]"), last]
    at = ask(stage.page())
    turn = state.process().runtime.latest("turn")
    assert turn is not None
    for event in turn.follow(timeout=5):
        if isinstance(event, Token):
            break
    shown = html(at.run())
    assert "<strong>128</strong> <cite class='crag-cite'>[1]</cite>" in shown
    stage.goes_on.set()
    ended(at)


def test_thoughts_are_folded_apart_from_the_answer_and_inert(stage: Stage) -> None:
    stage.turn = with_(CORRECT, generator="openai:qwen3", thinking="First ![x](http://evil.example) **think**")
    at = answered(stage)
    folded = next(expander for expander in at.expander if expander.label == "What the model thought first")
    assert not folded.proto.expanded
    assert "**think**" in html(at)


def test_a_cut_answer_says_why_and_can_be_written_again(stage: Stage) -> None:
    stage.turn = with_(CORRECT, generator="openai:qwen3", answer="It is", cut="The connection to *it* was lost.")
    at = answered(stage)
    assert "The answer ends early.** The connection to *it* was lost." in captions(at)
    stage.turn = with_(CORRECT, generator="openai:qwen3", answer="It is 128 [1].")
    at = press(at, "Write it again")
    assert "ends early" not in captions(at)
    assert "Write it again" not in labels(at)
    assert html(at).count("crag-question") == 1


def test_where_the_model_failed_and_quotes_stand_in_it_can_be_asked_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_LLM_PROVIDER", "openai")
    monkeypatch.setenv("CRAG_LLM_MODEL", "qwen3")
    assert "Write it again" in labels(answered(stage))


def test_an_ungraded_document_has_its_cause_beside_it_and_can_be_graded_again(stage: Stage) -> None:
    stage.turn = events([0.9, None])
    at = answered(stage)
    assert "the engine stopped" in html(open_panel(at, "documents"))
    stage.turn = events([0.9, 0.5])
    at = press(at, "Grade again")
    assert "Grade again" not in labels(at)


def test_a_message_that_needed_no_evidence_says_so_and_shows_only_its_calls(stage: Stage) -> None:
    nothing: dict[str, Any] = {"action": None, "decision": "", "decisions": (), "documents": (), "strips": ()}
    nothing |= {"sources": (), "citations": (), "covered": False, "knowledge": "", "calls": CALLS[-1:]}
    stage.turn = [with_(CORRECT, direct=True, generator="openai:qwen3", answer="**Hello**", **nothing)[-1]]
    at = answered(stage)
    assert any("gray-badge" in m.value and "Answered without documents" in m.value for m in at.markdown)
    assert "<strong>Hello</strong>" in html(at)
    assert list(at.get("button_group")[0].options) == ["Timing"]
    assert "Answered without documents" in scripts(at)


def test_the_follow_up_is_shown_as_it_was_understood_while_it_runs() -> None:
    view = turn_view([Condensed(question="What size in 2024?"), Drafted(text="It was 1.")])
    assert view.understood == "What size in 2024?"
    assert ("drafted", 0) in view.steps
    assert turn_view([Thinking(text="a")]).doing == "thinking"
    assert turn_view([Thinking(text="a"), Token(text="b")]).doing == "writing"


def test_a_drafted_answer_is_shown_as_no_evidence(stage: Stage) -> None:
    stage.turn = with_(CORRECT, hypothetical="It was <b>512</b>.")
    at = open_panel(answered(stage), "documents")
    assert any(expander.label.startswith("Drafted answer") for expander in at.expander)
    assert "It was &lt;b&gt;512&lt;/b&gt;." in html(at)
    assert "is no evidence" in captions(at)


def test_every_call_is_listed_with_tokens_times_cost_and_what_went_wrong(stage: Stage) -> None:
    stage.turn = with_(CORRECT, calls=CALLS)
    at = answered(stage)
    assert "3 calls · at least 0.0012 USD" in html(at)
    shown = html(open_panel(at, "timing"))
    for part in ("2,345", "210", "1.25 s", "0.33 s", "0.0012 USD", "write", "It gave &lt;b&gt;no&lt;/b&gt; number."):
        assert part in shown
    assert shown.count("<tr>") == 4, "the head and three calls"
    assert any("2 calls of models" in m.value and "1 repeat" in m.value for m in at.markdown)


def test_the_time_that_a_person_took_is_no_time_of_the_machine(stage: Stage) -> None:
    stage.turn = with_(AMBIGUOUS, timings={"grade": 0.5, "wait": 90.0})
    at = answered(stage)
    assert "0.5 s" in html(at)
    assert "waited 90 s for you" in captions(open_panel(at, "timing"))


def test_costs_are_summed_as_far_as_they_are_known() -> None:
    texts = Texts("en")
    web = WebSearched(provider="tavily", query="q", time="2026-01-02T03:04:05+00:00", results=1, cost=0.008)
    assert cost_of(trace()) is None
    assert cost_of(trace(calls=CALLS[:1], web=web)) == (pytest.approx(0.0092), True)
    assert cost_of(trace(calls=CALLS, web=web.model_copy(update={"cached": True}))) == (0.0012, False)
    assert spent(trace(calls=CALLS[:1], timings={"grade": 1.0}), texts) == "1.0 s · 1 call · 0.0012 USD"
    assert [money(cost, "EUR") for cost in (2, 0.0123, 0.00004)] == ["2.00 EUR", "0.0123 EUR", "0.000040 EUR"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"proposed": "batch"}, "You edited it; proposed was “batch”."),
        ({"time_range": "month"}, "Only results of the last month were asked for."),
        ({"cost": 0.008}, "It cost 0.0080 USD."),
        ({"cached": True}, "were kept from an earlier search by tavily: nothing was sent. 2 results."),
    ],
)
def test_the_web_panel_says_what_was_proposed_sent_kept_and_paid(
    stage: Stage, changed: dict[str, Any], said: str
) -> None:
    web = WebSearched(
        provider="tavily", query="batch size", time="2026-01-02T03:04:05+00:00", **({"results": 2} | changed)
    )
    stage.turn = with_(AMBIGUOUS, web_gate="ask", web=web)
    assert said in captions(open_panel(answered(stage), "second_look"))


def test_a_query_that_was_not_allowed_is_told_from_a_web_that_was_not_needed(stage: Stage) -> None:
    stage.turn = with_(AMBIGUOUS, web_gate="ask")
    at = answered(stage)
    assert "Web not asked" in at.get("button_group")[0].options
    assert "not allowed: nothing was sent" in captions(open_panel(at, "second_look"))
    stage.turn = with_(CORRECT, web_gate="ask")
    assert "Web not needed" in answered(stage).get("button_group")[0].options
