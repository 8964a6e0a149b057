"""What people set by hand on an answer, laid over what the scores say: grades, strips, the action. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from crag.action_trigger import decide
from crag.schema import (
    Action,
    Change,
    Changed,
    Decision,
    Fate,
    Grade,
    GradedDocument,
    GradedStrip,
    Thresholds,
)

ANSWERS, ANSWERS_NOT = 1.0, 0.0
"""The scores of a document of which a person has said so."""

SENTENCES: Final = {
    "en": {
        "scored": "Set by you; by the scores it would be {action} (best {best:.2f})",
        "nothing": "Set by you; by the scores it would be {action}, since nothing was retrieved",
        "ungraded": "Set by you; no document could be graded",
        "CORRECT": "Correct",
        "AMBIGUOUS": "Ambiguous",
        "INCORRECT": "Incorrect",
    },
    "zh": {
        "scored": "由您设定；按得分应为“{action}”（最高分 {best:.2f}）",
        "nothing": "由您设定；没有检索到任何文档，按得分应为“{action}”",
        "ungraded": "由您设定；没有文档能够评分",
        "CORRECT": "正确",
        "AMBIGUOUS": "存疑",
        "INCORRECT": "不相关",
    },
}


def merged(earlier: Iterable[Change], later: Iterable[Change]) -> tuple[Change, ...]:
    """All changes together: of those of one thing the last, with what stood there before the first; without those that
    were taken back."""
    found: dict[tuple[Changed, str], Change] = {}
    for change in (*earlier, *later):
        key = (change.what, change.id)
        first = found.pop(key, change)
        if change.after is not None:
            found[key] = change.model_copy(update={"before": first.before})
    return tuple(found.values())


def ruling(changes: Iterable[Change], what: Changed, id_: str = "") -> object:
    """To what a thing is set by hand; None: it is not."""
    return next((change.after for change in changes if (change.what, change.id) == (what, id_)), None)


def graded(
    documents: Iterable[GradedDocument], changes: Sequence[Change], thresholds: Thresholds
) -> tuple[GradedDocument, ...]:
    """The documents with the grades that hold: those set by hand, else the evaluator's."""
    return tuple(_graded(document, ruling(changes, Changed.GRADE, document.id), thresholds) for document in documents)


def _graded(document: GradedDocument, answers: object, thresholds: Thresholds) -> GradedDocument:
    if answers is None and document.by_evaluator is None and document.verdict is thresholds.verdict(document.score):
        return document
    own = own_grade(document)
    if answers is None:
        return GradedDocument.of(document, own, thresholds)
    said = Grade(score=ANSWERS if answers else ANSWERS_NOT)
    return GradedDocument.of(document, said, thresholds).model_copy(update={"by_evaluator": own})


def own_grade(document: GradedDocument) -> Grade:
    """What the evaluator said of the document, whatever a person has said."""
    return document.by_evaluator or Grade(**{name: getattr(document, name) for name in Grade.model_fields})


def decided(
    documents: Sequence[GradedDocument],
    thresholds: Thresholds,
    query: str,
    changes: Sequence[Change] = (),
    *,
    look: int,
    lang: str,
    web: bool,
) -> Decision | None:
    """`decide` for the look with this number (from 1), or the action that a person has set for it, which says so."""
    decision = decide(documents, thresholds, query, lang=lang, second_look=look > 1, web=web)
    said = ruling(changes, Changed.ACTION, str(look))
    if said is None or (decision is not None and decision.action == said):
        return decision
    by_scores = decision.action if decision else None
    best = decision.best if decision else None
    texts = SENTENCES["zh" if lang == "zh" else "en"]
    key = "ungraded" if by_scores is None else "nothing" if best is None else "scored"
    return Decision(
        action=Action(str(said)),
        sentence=texts[key].format(action=texts[by_scores] if by_scores else "", best=best or 0.0),
        best=best,
        query=query,
        documents=tuple(document.id for document in documents),
        by_hand=True,
        by_scores=by_scores,
    )


def kept_by_hand(
    documents: Iterable[GradedDocument], strips: Sequence[GradedStrip], changes: Sequence[Change]
) -> tuple[GradedStrip, ...]:
    """The selected strips with the fates that hold: those set by hand, else as they are.

    A document that a person vouches for gives something: where none of its strips would be kept, its best one is, or
    all of them where none has a score. What a person has dropped of it is not made up for.
    """
    if not changes:
        return tuple(strips)
    fated = {strip.id: _fated(strip, ruling(changes, Changed.STRIP, strip.id)) for strip in strips}
    for document in documents:
        if ruling(changes, Changed.GRADE, document.id) is True:
            own = [strip for strip in fated.values() if document.id in strip.documents]
            fated |= {strip.id: _fated(strip, True) for strip in _given(own)}
    return tuple(fated.values())


def _fated(strip: GradedStrip, keeps: object) -> GradedStrip:
    if keeps is None:
        return strip
    return strip.model_copy(update={"fate": Fate.KEPT_BY_HAND if keeps else Fate.DROPPED_BY_HAND})


def _given(strips: Sequence[GradedStrip]) -> Sequence[GradedStrip]:
    """What the strips of a document that a person vouches for give, where they would give nothing."""
    if any(strip.kept or strip.fate in (Fate.DISCARDED, Fate.DROPPED_BY_HAND) for strip in strips):
        return ()
    scored = [strip for strip in strips if strip.score is not None]
    return [max(scored, key=lambda strip: strip.score or 0.0)] if scored else strips
