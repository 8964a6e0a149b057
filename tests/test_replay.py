"""A stored trace leads to what other thresholds would have made of it."""

from crag.action_trigger import decide
from crag.refinement import ledger, recompose, select
from crag.replay import Lacking, changes, lacking, looks, regraded, replay
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
    Verdict,
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


WEB = {"web_gate": "auto"}


def test_the_looks_are_decided_one_after_the_other() -> None:
    trace = trace_of({"a": (0.2, 0.9)}, {"b": (0.5, 0.9)})
    assert [look.action for look in looks(trace, DEFAULT) if look] == [Action.INCORRECT, Action.AMBIGUOUS]
    assert [look.action for look in looks(trace, Thresholds(lower=0.1)) if look] == [Action.AMBIGUOUS]


def test_what_a_replay_lacks_is_named() -> None:
    once = trace_of({"a": (0.5, 0.9)})
    incorrect = replay(once, Thresholds(lower=0.6))[0]
    assert lacking(once, incorrect) is Lacking.SECOND_LOOK
    assert lacking(once, replay(once, DEFAULT)[0]) is None
    twice = trace_of({"a": (0.2, 0.9)}, {"b": (0.5, 0.9)})
    assert lacking(twice, replay(twice, Thresholds(lower=0.6))[0]) is None, "the second look was made"


def test_a_search_that_the_turn_did_not_come_to_is_lacking_and_one_it_came_to_is_over() -> None:
    correct = trace_of({"a": (0.8, 0.9)}).model_copy(update=WEB)
    ambiguous = replay(correct, Thresholds(upper=0.9))[0]
    assert lacking(correct, ambiguous) is Lacking.WEB
    declined = trace_of({"a": (0.5, 0.9)}).model_copy(update={"web_gate": "ask"})
    assert lacking(declined, replay(declined, DEFAULT)[0]) is None
    assert lacking(declined, replay(declined, Thresholds(lower=0.6))[0]) is Lacking.SECOND_LOOK


def with_web(trace: Trace, score: float, strip_score: float) -> Trace:
    """The trace with one graded document of the web, as it was refined then."""
    strip = Strip(id="s-web", text="From outside.", spans=(Span(page=1, start=0, end=13),))
    url = "https://example.org/a"
    document = Document(
        id="web", content="web", files=(url,), text=strip.text, spans=strip.spans, strips=(strip,), url=url
    )
    grade = DocumentGrade(document=Grade(score=score), strips=(Grade(score=strip_score),))
    graded = GradedDocument.of(document, grade.document, DEFAULT)
    (found,) = ledger([document], [grade])
    strips = (*trace.strips, found.model_copy(update={"order": len(trace.strips)}))
    selected = select((*trace.documents, graded), strips, DEFAULT, trace.action)
    knowledge = recompose(selected)
    made = {"web_documents": (graded,), "strips": selected, "knowledge": knowledge.text, "sources": knowledge.sources}
    return trace.model_copy(update={**WEB, **made})


def test_strips_of_the_web_come_and_go_with_the_action() -> None:
    trace = with_web(trace_of({"a": (0.5, 0.9)}), 0.8, 0.7)
    kept = {strip.id for strip in replay(trace, DEFAULT)[1] if strip.kept}
    assert kept == {"s-a", "s-web"}
    decision, strips, knowledge = replay(trace, Thresholds(upper=0.4))
    change = changes(trace, decision, strips, knowledge.sources)
    assert (change.gained, change.lost, change.sources, change.action) == ((), ("s-web",), -1, Action.CORRECT)
    decision, strips, knowledge = replay(trace, Thresholds(lower=0.6))
    assert lacking(trace, decision) is None, "the web stands in the place of a second look"
    assert [source.url for source in knowledge.sources] == ["https://example.org/a"]


def test_nothing_changes_under_the_same_thresholds() -> None:
    trace = with_web(trace_of({"a": (0.5, 0.9)}), 0.8, 0.7)
    decision, strips, knowledge = replay(trace, DEFAULT)
    assert not changes(trace, decision, strips, knowledge.sources)


def test_verdicts_follow_the_thresholds() -> None:
    trace = trace_of({"a": (0.5, 0.9)})
    assert [d.verdict for d in regraded(trace.documents, Thresholds(upper=0.4, lower=0.1))] == [Verdict.RELEVANT]


def test_what_did_not_fit_into_the_models_window_stays_outside() -> None:
    trace = trace_of({"a": (0.8, 0.9), "b": (0.8, 0.6)})
    cut = tuple(
        strip.model_copy(update={"fate": Fate.BEYOND_WINDOW}) if strip.id == "s-b" else strip for strip in trace.strips
    )
    trace = trace.model_copy(update={"strips": cut})
    assert [strip.fate for strip in replay(trace, DEFAULT)[1]] == [Fate.KEPT, Fate.BEYOND_WINDOW]
    assert [strip.fate for strip in replay(trace, Thresholds(strip=0.7))[1]] == [Fate.KEPT, Fate.BELOW_THRESHOLD]
