"""A stored trace leads to what other thresholds would have made of it."""

from crag.action_trigger import decide
from crag.refinement import ledger, recompose, select
from crag.replay import replay
from crag.schema import (
    Action,
    Document,
    DocumentGrade,
    EvaluatorName,
    Fate,
    Grade,
    GradedDocument,
    Span,
    Strip,
    Thresholds,
    Trace,
)

DEFAULT = Thresholds()


def trace_of(*looks: dict[str, tuple[float, float]]) -> Trace:
    """A trace whose looks hold documents of one strip: id -> (document score, strip score)."""
    documents, grades, decisions = [], [], []
    for number, look in enumerate(looks):
        for id_, (score, strip_score) in look.items():
            spans = (Span(page=1, start=0, end=9),)
            strip = Strip(id=f"s-{id_}", text=f"About {id_}.", spans=spans)
            documents.append(
                Document(id=id_, content=id_, files=(f"{id_}.pdf",), text=strip.text, spans=spans, strips=(strip,))
            )
            grades.append(DocumentGrade(document=Grade(score=score), strips=(Grade(score=strip_score),)))
        graded = [
            GradedDocument.of(document, grade.document, DEFAULT)
            for document, grade in zip(documents, grades, strict=True)
        ]
        looked_at = [document for document in graded if document.id in look]
        decisions.append(decide(looked_at, DEFAULT, f"q{number}", second_look=number > 0))
    strips = select(graded, ledger(documents, grades), DEFAULT, decisions[-1].action)
    knowledge = recompose(strips)
    return Trace(
        turn_id="t",
        created="",
        question="q",
        k=8,
        thresholds=DEFAULT,
        evaluator=EvaluatorName(name="e", version="1"),
        generator="g",
        action=decisions[-1].action,
        decisions=tuple(decisions),
        documents=tuple(graded),
        strips=strips,
        knowledge=knowledge.text,
    )


def test_the_same_thresholds_replay_to_the_same_result() -> None:
    trace = Trace.model_validate_json(trace_of({"a": (0.8, 0.9), "b": (0.4, 0.2)}).model_dump_json())
    decision, strips, knowledge = replay(trace, trace.thresholds)
    assert (decision, strips, knowledge.text) == (trace.decisions[-1], trace.strips, trace.knowledge)


def test_a_higher_upper_threshold_turns_correct_into_ambiguous() -> None:
    decision, strips, _ = replay(trace_of({"a": (0.8, 0.9)}), Thresholds(upper=0.9))
    assert decision is not None
    assert decision.action is Action.AMBIGUOUS
    assert strips[0].kept


def test_a_lower_threshold_takes_the_first_look_and_leaves_the_second_out() -> None:
    trace = trace_of({"a": (0.2, 0.9)}, {"b": (0.25, 0.9)})
    assert trace.action is Action.INCORRECT
    decision, strips, knowledge = replay(trace, Thresholds(lower=0.1))
    assert decision is not None
    assert (decision.action, decision.query) == (Action.AMBIGUOUS, "q0")
    assert [strip.id for strip in strips] == ["s-a"]
    assert knowledge.sources[0].file == "a.pdf"


def test_a_raised_lower_threshold_discards_what_was_kept() -> None:
    decision, strips, knowledge = replay(trace_of({"a": (0.5, 0.9)}), Thresholds(lower=0.6))
    assert decision is not None
    assert decision.action is Action.INCORRECT
    assert {strip.fate for strip in strips} == {Fate.DISCARDED}
    assert knowledge.text == ""
