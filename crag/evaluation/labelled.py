"""Labelled questions: a stored run with what is known of its action, documents and strips."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crag.calibrations import Counts, Numbers
from crag.evaluation.labels import document_label, strip_label
from crag.evaluation.question_sets import Question
from crag.evaluation.running import Outcome
from crag.history.labels import Label, text_key
from crag.schema import Action, Trace
from crag.text import language

CORRECTIONS = "corrections"
"""Name of the set that grades corrected in the page make."""


@dataclass(frozen=True)
class Labelled:
    """One question's trace with its labels; what is unknown is left out of the mappings, or None."""

    trace: Trace
    expected: Action | None
    documents: Mapping[str, bool]
    """By document id: whether it answers."""
    strips: Mapping[str, bool]
    """By strip id: whether it answers."""

    @property
    def failed(self) -> bool:
        return not self.trace.decisions


def from_questions(outcomes: Sequence[Outcome]) -> list[Labelled]:
    """What a question set says of its run; an answer or a file without an expected action means CORRECT."""
    return [
        Labelled(outcome.trace, expected_action(outcome.question), *_told(outcome.question, outcome.trace))
        for outcome in outcomes
    ]


def expected_action(question: Question) -> Action | None:
    """What is expected of a question, or follows from what its row names; None where nothing does."""
    if question.expected is None and (question.answers or question.file is not None):
        return Action.CORRECT
    return question.expected


def _told(question: Question, trace: Trace) -> tuple[dict[str, bool], dict[str, bool]]:
    holders = {document.id: document for document in trace.documents}
    documents = {
        id_: label for id_, document in holders.items() if (label := document_label(question, document)) is not None
    }
    strips: dict[str, bool] = {}
    for strip in trace.strips:
        held_by = next((holders[id_] for id_ in strip.documents if id_ in holders), None)
        label = strip_label(question, strip, held_by) if held_by else None
        if label is not None:
            strips[strip.id] = label
    return documents, strips


def questions_of(labels: Sequence[Label]) -> list[Question]:
    """The questions that somebody corrected a grade of, each once."""
    return [
        Question(
            id=text_key(text)[:12], question=text, language="zh" if language(text) == "zh" else "en", set=CORRECTIONS
        )
        for text in dict.fromkeys(label.question for label in labels)
    ]


def from_corrections(outcomes: Sequence[Outcome], labels: Sequence[Label]) -> list[Labelled]:
    """What corrected grades say of the run of their questions.

    Answerable is a question with a document that was said to answer; uncovered is one whose corrected documents were
    all said not to, the best document of the run among them. Strips have no labels.
    """
    said = {(label.question, label.key): label.answers for label in labels}
    rows = []
    for outcome in outcomes:
        asked = outcome.question.question
        documents = {
            document.id: said[asked, text_key(document.text)]
            for document in outcome.trace.documents
            if (asked, text_key(document.text)) in said
        }
        about = [answers for (question, _), answers in said.items() if question == asked]
        graded = [document for document in outcome.trace.documents if document.score is not None]
        best = max(graded, key=lambda document: document.score or 0.0, default=None)
        expected = Action.CORRECT if any(about) else None
        if expected is None and best is not None and best.id in documents:
            expected = Action.INCORRECT
        rows.append(Labelled(outcome.trace, expected, documents, {}))
    return rows


def fingerprint_of(labels: Sequence[Label]) -> str:
    """sha256 (hex) of what was corrected, in any order."""
    lines = sorted(f"{label.key}\t{label.answers:d}\t{label.question}" for label in labels)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def first_look(trace: Trace) -> Trace:
    """The trace as if the decision had been left to the first look."""
    return trace.model_copy(update={"decisions": trace.decisions[:1]})


def counts(rows: Sequence[Labelled]) -> Counts:
    """How many labels of each kind the rows have; a failed run gives none but counts as failed."""
    usable = [row for row in rows if not row.failed]
    expected = [row.expected for row in usable]
    documents = [label for row in usable for label in row.documents.values()]
    strips = [label for row in usable for label in row.strips.values()]
    return Counts(
        answerable=expected.count(Action.CORRECT),
        uncovered=expected.count(Action.INCORRECT),
        uncertain=expected.count(Action.AMBIGUOUS),
        unlabelled=expected.count(None),
        failed=len(rows) - len(usable),
        documents_relevant=sum(documents),
        documents_irrelevant=len(documents) - sum(documents),
        strips_relevant=sum(strips),
        strips_irrelevant=len(strips) - sum(strips),
    )


def mapped(row: Labelled, numbers: Numbers) -> Labelled:
    """The row with its scores passed through the maps of `numbers`."""
    if not numbers.maps_scores:
        return row
    documents = tuple(
        document
        if document.score is None
        else document.model_copy(update={"score": numbers.document_map(document.score)})
        for document in row.trace.documents
    )
    strips = tuple(
        strip if strip.score is None else strip.model_copy(update={"score": numbers.strip_map(strip.score)})
        for strip in row.trace.strips
    )
    trace = row.trace.model_copy(update={"documents": documents, "strips": strips})
    return Labelled(trace, row.expected, row.documents, row.strips)


def document_pairs(rows: Sequence[Labelled]) -> list[list[tuple[float, bool]]]:
    """Per question the (score, label) of the labelled documents of its first look: what every question is graded on.

    The further documents of a second look are asked for in calibration alone and would only add irrelevant ones.
    """
    return [
        [
            (document.score, row.documents[document.id])
            for document in row.trace.documents
            if document.score is not None and document.id in row.documents and document.id in _first_look(row)
        ]
        for row in rows
    ]


def strip_pairs(rows: Sequence[Labelled]) -> list[list[tuple[float, bool]]]:
    """Likewise the (score, label) of the labelled strips of those documents."""
    return [
        [
            (strip.score, row.strips[strip.id])
            for strip in row.trace.strips
            if strip.score is not None and strip.id in row.strips and _first_look(row) & set(strip.documents)
        ]
        for row in rows
    ]


def _first_look(row: Labelled) -> set[str]:
    return set(row.trace.decisions[0].documents) if row.trace.decisions else set()
