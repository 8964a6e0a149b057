"""Replays a stored trace with other thresholds: decision, strips and knowledge, without a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from crag.action_trigger import decide
from crag.refinement import recompose, select
from crag.schema import Action, Decision, Fate, GradedDocument, GradedStrip, Knowledge, Source, Thresholds, Trace


class Lacking(StrEnum):
    """What the flow would do under other thresholds that it did not do then, so that no replay can show its result."""

    WEB = "web"
    SECOND_LOOK = "second look"


@dataclass(frozen=True)
class Changes:
    """How a replay differs from the answer as it was; strips by id, in document order."""

    gained: tuple[str, ...]
    """Strips that are kept now and were not."""
    lost: tuple[str, ...]
    """Strips that were kept and are no longer."""
    sources: int
    """So many sources more; fewer where it is negative."""
    action: Action | None
    """The other action; None where it stays the same."""

    def __bool__(self) -> bool:
        return bool(self.gained or self.lost or self.sources or self.action)


def replay(trace: Trace, thresholds: Thresholds) -> tuple[Decision | None, tuple[GradedStrip, ...], Knowledge]:
    """What the stored scores lead to under `thresholds`: the decision of the last of `looks`, and what it keeps.

    The documents found up to that look count, and what the web gave. Where the last stored look is INCORRECT, so is
    the result: a further look would need the index, and a search that was not made the web; `lacking` says so.
    """
    decided = looks(trace, thresholds)
    decision = decided[-1] if decided and None not in decided else None
    seen = {id_ for look in trace.decisions[: len(decided)] for id_ in look.documents}
    seen |= {document.id for document in trace.web_documents}
    documents = [document for document in (*trace.documents, *trace.web_documents) if document.id in seen]
    found = [strip for strip in trace.strips if seen & set(strip.documents)]
    strips = _within_window(trace, select(documents, found, thresholds, decision.action if decision else None))
    return decision, strips, recompose(strips)


def _within_window(trace: Trace, strips: tuple[GradedStrip, ...]) -> tuple[GradedStrip, ...]:
    """Where the model's window was full then and all that filled it is kept again, what is no better stays outside.

    Where less is kept there may be room; how much is not known without the model, so nothing is left out.
    """
    outside = [strip.score or 0.0 for strip in trace.strips if strip.fate is Fate.BEYOND_WINDOW]
    sent = {strip.id for strip in trace.strips if strip.kept}
    if not outside or not sent <= {strip.id for strip in strips if strip.kept}:
        return strips
    left_out = {s.id for s in strips if s.kept and s.id not in sent and (s.score or 0.0) <= max(outside)}
    return tuple(s.model_copy(update={"fate": Fate.BEYOND_WINDOW}) if s.id in left_out else s for s in strips)


def looks(trace: Trace, thresholds: Thresholds) -> tuple[Decision | None, ...]:
    """The stored looks decided under `thresholds` in their order, up to the first that is not INCORRECT.

    None stands for a look whose documents are all ungraded; it is the last one.
    """
    scored = {document.id: document for document in trace.documents}
    decided: list[Decision | None] = []
    for number, look in enumerate(trace.decisions):
        looked_at = [scored[id_] for id_ in look.documents if id_ in scored]
        web = trace.web_gate != "off"
        decision = decide(looked_at, thresholds, look.query, lang=trace.language, second_look=number > 0, web=web)
        decided.append(decision)
        if decision is None or decision.action is not Action.INCORRECT:
            break
    return tuple(decided)


def lacking(trace: Trace, decision: Decision | None) -> Lacking | None:
    """What would come next under the replayed `decision`, of which the trace holds nothing; None: it is all there.

    A search that the turn came to is over, whatever became of it: the person may have declined it, or it failed.
    """
    if decision is None or decision.action is Action.CORRECT:
        return None
    came_to_web = any(look.action is not Action.CORRECT for look in trace.decisions[:1])
    if trace.web_gate != "off" and not came_to_web:
        return Lacking.WEB
    web_answered = any(document.score is not None for document in trace.web_documents)
    if decision.action is Action.INCORRECT and not web_answered and len(trace.decisions) < 2:
        return Lacking.SECOND_LOOK
    return None


def regraded(documents: Sequence[GradedDocument], thresholds: Thresholds) -> tuple[GradedDocument, ...]:
    """The documents with the verdicts that `thresholds` make of their scores."""
    return tuple(document.model_copy(update={"verdict": thresholds.verdict(document.score)}) for document in documents)


def changes(
    trace: Trace, decision: Decision | None, strips: Sequence[GradedStrip], sources: Sequence[Source]
) -> Changes:
    """What differs between the answer as it was and its replay."""
    before = [strip.id for strip in trace.strips if strip.kept]
    now = [strip.id for strip in strips if strip.kept]
    action = decision.action if decision else None
    return Changes(
        gained=tuple(id_ for id_ in now if id_ not in set(before)),
        lost=tuple(id_ for id_ in before if id_ not in set(now)),
        sources=len(sources) - len(trace.sources),
        action=action if action is not trace.action else None,
    )
