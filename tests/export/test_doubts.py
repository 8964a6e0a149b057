"""What was not in order is told in every form of an export."""

from __future__ import annotations

import pytest

from crag.export.doubts import doubts
from crag.export.forms import Form, export
from crag.revision import amended
from crag.schema import Change, Changed, CheckedSentence, CitationCheck, ModelCall, Support, Trace
from crag.ui.texts import Texts

T = Texts("en")


def sentence(support: Support, cites: tuple[int, ...] = (1,)) -> CitationCheck:
    return CitationCheck(sentences=(CheckedSentence(text="Ida was tall [1].", cites=cites, support=support),))


CASES: list[tuple[dict[str, object], str]] = [
    ({"cut": "The window of the model is full."}, "ends before it is complete. The window of the model is full."),
    ({"stopped": True}, "You stopped this answer"),
    ({"error": "No model answers: start one."}, "No model answers: start one."),
    ({"notices": ("No strip reached the strip threshold.",)}, "No strip reached the strip threshold."),
    ({"covered": False}, "The knowledge base does not cover this question."),
    ({"direct": True}, "Answered without evidence"),
    ({"check": sentence(Support.UNSUPPORTED)}, "Not supported by what it cites: “Ida was tall [1].”"),
    ({"check": sentence(Support.UNSUPPORTED, ())}, "Cites nothing: “Ida was tall [1].”"),
    ({"check": sentence(Support.WEAK)}, "Only partly supported"),
    ({"check": CitationCheck(unknown=(7,))}, "cites [7], which no source has"),
    ({"calls": (ModelCall(role="grade", model="m:x", seconds=1, error="Timed out."),)}, "m:x failed: Timed out."),
]


@pytest.mark.parametrize(("changed", "told"), CASES)
def test_each_doubt_is_told_in_report_and_markdown(trace: Trace, changed: dict[str, object], told: str) -> None:
    doubtful = trace.model_copy(update=changed)
    assert any(told in doubt for doubt in doubts(doubtful, T))
    page = export(Form.HTML, [doubtful], T).decode()
    assert told in page.replace("&#39;", "'")
    assert "Nothing was out of order" not in page
    assert told in export(Form.MARKDOWN, [doubtful], T).decode().replace("\\", "")


def test_what_a_person_changed_is_told_and_the_evaluators_grade_stays_beside_it(trace: Trace) -> None:
    first = trace.documents[0]
    assert first.score is not None
    changed = amended(trace, [Change(what=Changed.GRADE, id=first.id, before=first.score, after=False)])
    assert doubts(changed, T) == ["Changed by hand: document 1 does not answer."]
    page = export(Form.HTML, [changed], T).decode()
    assert f"set by hand: it does not answer · evaluator: {first.score:.2f} · {first.reason}" in page
    assert "document 1 does not answer" in export(Form.MARKDOWN, [changed], T).decode()


def test_ungraded_documents_are_counted(trace: Trace) -> None:
    ungraded = trace.documents[0].model_copy(update={"score": None, "cause": "timed out"})
    assert "1 document is ungraded" in doubts(trace.model_copy(update={"documents": (ungraded,)}), T)[0]


def test_a_failed_call_that_a_notice_tells_of_is_told_once(trace: Trace) -> None:
    call = ModelCall(role="grade", model="m:x", seconds=1, error="Timed out.")
    changed = {"calls": (call,), "notices": ("The model could not write the answer. Timed out.",)}
    assert len(doubts(trace.model_copy(update=changed), T)) == 1


def test_an_answer_in_order_has_none(trace: Trace) -> None:
    assert doubts(trace, T) == []
