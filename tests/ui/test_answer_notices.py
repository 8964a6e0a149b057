"""Below an answer: which of its sentences are not held, by what, and why."""

from __future__ import annotations

import pytest
from ui_stage import CORRECT, Stage, answered, events, html

from crag.events import Finished
from crag.schema import CheckedSentence, Citation, CitationCheck, EvaluatorName, Source, Support, Thresholds, Trace
from crag.ui import answer, doubts
from crag.ui.texts import Texts

WEAK, NOT, HELD = Support.WEAK, Support.UNSUPPORTED, Support.SUPPORTED
SOURCES = (Source(n=1, file="dpr.pdf", files=("dpr.pdf",), content="c", page=5, text="x", strips=("s",)),)


def trace_with(*sentences: CheckedSentence, unknown: tuple[int, ...] = ()) -> Trace:
    cited = (Citation(n=1, file="dpr.pdf", page=5),)
    return Trace(
        turn_id="t", created="", question="q", k=8, thresholds=Thresholds(), generator="g", sources=SOURCES,
        evaluator=EvaluatorName(name="e", version="1"), citations=cited,
        check=CitationCheck(unknown=unknown, sentences=sentences),
    )  # fmt: skip


def said(support: Support, cites: tuple[int, ...] = (1,), **more: object) -> CheckedSentence:
    return CheckedSentence.model_validate({"text": "It is.", "cites": cites, "support": support} | more)


def test_how_many_are_not_held_is_told_by_kind_the_gravest_first() -> None:
    trace = trace_with(said(WEAK), said(NOT, ()), said(NOT, ()), said(NOT), said(HELD), said(WEAK))
    assert doubts.summary(trace, Texts("en")) == (
        "1 sentence is not supported by what it cites · 2 sentences cite nothing · 2 sentences are weakly supported"
    )
    assert doubts.summary(trace, Texts("zh")).endswith("有 2 个句子只得到较弱的支持")


@pytest.mark.parametrize(
    ("sentence", "why"),
    [
        (said(NOT, numbers=("256", "1.5")), "Not in the cited text: 256, 1.5."),
        (said(WEAK, words=("hard", "negative")), "Words that the cited text does not hold: “hard”, “negative”."),
        (
            said(WEAK, numbers=("7",), foreign=True, words=("批量",)),
            "Not in the cited text: 7. The source is in another language, so words cannot be compared.",
        ),
        (said(NOT, ()), "It cites no source, so nothing could be checked."),
        (said(NOT, (9,)), "No source has the number [9]."),
        (said(WEAK), "The cited text holds too few of its words."),
    ],
)
def test_each_says_why(sentence: CheckedSentence, why: str) -> None:
    assert doubts.reason(trace_with(sentence), sentence, Texts("en")) == why


def test_the_list_is_folded_below_the_answer_with_sources_and_nothing_in_it_is_markup(stage: Stage) -> None:
    stage.turn = events(CORRECT, answer="It is <b>big</b> [1].")
    last = stage.turn[-1]
    assert isinstance(last, Finished)
    weak = CheckedSentence(text="It is <b>big</b> [1].", cites=(1,), support=WEAK, words=("<i>big</i>",))
    check = last.trace.check.model_copy(update={"sentences": (weak,)})
    stage.turn[-1] = Finished(trace=last.trace.model_copy(update={"check": check, "generator": "openai:m"}))
    at = answered(stage)
    (folded,) = [expander for expander in at.expander if expander.label == "1 sentence is weakly supported"]
    assert not folded.proto.expanded
    shown = html(at)
    assert "<span class='crag-doubt crag-doubt-weak'>It is &lt;b&gt;big&lt;/b&gt; " in shown
    assert "Cites [1] dense passage retrieval.pdf p. 1" in shown
    assert "“&lt;i&gt;big&lt;/i&gt;”" in shown


def test_an_answer_whose_sentences_are_all_held_is_told_nothing(stage: Stage) -> None:
    assert not [expander for expander in answered(stage).expander if expander.icon == ":material/rule:"]
    assert answer._notices(trace_with(said(HELD)), Texts("en")) == []
    assert answer._notices(trace_with(unknown=(7,)), Texts("en")) == ["The answer cites [7], which no source has."]


def test_a_quoted_answer_marks_what_is_not_held_and_leads_from_the_marker_of_a_quote_alone(stage: Stage) -> None:
    stage.turn = events(CORRECT, answer="From your documents:\n\n“It was so [7].” [1]\n\n“Other” [1]")
    last = stage.turn[-1]
    assert isinstance(last, Finished)
    weak = CheckedSentence(text="“It was so [7].” [1]", cites=(1,), support=NOT)
    check = last.trace.check.model_copy(update={"sentences": (weak,)})
    stage.turn[-1] = Finished(trace=last.trace.model_copy(update={"check": check}))
    shown = html(answered(stage))
    assert "<span class='crag-doubt crag-doubt-unsupported'>“It was so [7].”</span> <a class='crag-cite'" in shown
    assert ">[1]</a><small class='crag-doubt-word crag-word-unsupported'>not supported</small>" in shown
    assert shown.count("<a class='crag-cite'") == 2


def test_the_numbers_in_a_stopped_answer_are_not_called_unknown_and_a_notice_is_told_once(stage: Stage) -> None:
    stage.turn = events(CORRECT, answer="It was 128 [1]. And", stopped=True)
    last = stage.turn[-1]
    assert isinstance(last, Finished)
    told = ("The web was not used.", "The web was not used.")
    unchecked = {"citations": (), "check": CitationCheck(), "generator": "openai:m"}
    trace = last.trace.model_copy(update=unchecked | {"notices": told, "stopped": True})
    stage.turn[-1] = Finished(trace=trace)
    at = answered(stage)
    assert "It was 128" in html(at)
    assert "<cite class='crag-cite crag-cite-unknown'" not in html(at)
    assert answer._notices(trace, Texts("en")) == ["The web was not used."]
