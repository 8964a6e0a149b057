"""What an answer's check has found is told below it."""

from crag.schema import CheckedSentence, CitationCheck, EvaluatorName, Support, Thresholds, Trace
from crag.ui import answer
from crag.ui.texts import Texts


def trace_with(*sentences: tuple[tuple[int, ...], Support], unknown: tuple[int, ...] = ()) -> Trace:
    checked = tuple(CheckedSentence(text="x", cites=cites, support=support) for cites, support in sentences)
    return Trace(
        turn_id="t", created="", question="q", k=8, thresholds=Thresholds(), generator="g",
        evaluator=EvaluatorName(name="e", version="1"), check=CitationCheck(unknown=unknown, sentences=checked),
    )  # fmt: skip


def test_sentences_that_cite_nothing_are_told_apart_from_those_that_cite_what_does_not_hold_them() -> None:
    trace = trace_with(((), Support.UNSUPPORTED), ((), Support.UNSUPPORTED), ((1,), Support.UNSUPPORTED))
    assert answer._notices(trace, Texts("en")) == [
        "1 sentence is not supported by what it cites.",
        "2 sentences cite nothing.",
    ]
    assert answer._notices(trace, Texts("zh"))[1] == "有 2 个句子没有引用来源。"


def test_an_answer_whose_sentences_are_all_held_is_told_nothing() -> None:
    assert answer._notices(trace_with(((1,), Support.SUPPORTED), ((2,), Support.WEAK)), Texts("en")) == []
