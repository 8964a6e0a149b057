"""Replays a stored trace with other thresholds: decision, strips and knowledge, without a call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from crag.refinement import recompose, select
from crag.rulings import decided, kept_by_hand
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
    the result: a further look would need the index, and a search that was not made the web; `lacking` says so. What
    the trace says was set by hand holds.
    """
    outcome = looks(trace, thresholds)
    decision = outcome[-1] if outcome and None not in outcome else None
    seen = {id_ for look in looked(trace)[: len(outcome)] for id_ in look.documents}
    seen |= {document.id for document in trace.web_documents}
    documents = [document for document in (*trace.documents, *trace.web_documents) if document.id in seen]
    found = [strip for strip in trace.strips if seen & set(strip.documents)]
    strips = select(documents, found, thresholds, decision.action if decision else None)
    strips = _within_window(trace, kept_by_hand(documents, strips, trace.changes))
    return decision, strips, recompose(strips)


def _within_window(trace: Trace, strips: tuple[GradedStrip, ...]) -> tuple[GradedStrip, ...]:
    """Where the model's window was full then and all that filled it is kept again, what is no better stays outside.

    Where less is kept there may be room; how much is not known without the model, so nothing is left out.
    """
    outside = [strip.score or 0.0 for strip in trace.strips if strip.fate is Fate.BEYOND_WINDOW]
    sent = {strip.id for strip in trace.strips if strip.kept}
    if not outside or not sent <= {strip.id for strip in strips if strip.kept}:
        return strips
    new = [strip for strip in strips if strip.fate in (Fate.KEPT, Fate.FALLBACK) and strip.id not in sent]
    left_out = {strip.id for strip in new if (strip.score or 0.0) <= max(outside)}
    return tuple(s.model_copy(update={"fate": Fate.BEYOND_WINDOW}) if s.id in left_out else s for s in strips)


@dataclass(frozen=True)
class Look:
    """What was searched for, and the ids of the documents that were found, in rank order."""

    query: str
    documents: tuple[str, ...]


def looked(trace: Trace) -> tuple[Look, ...]:
    """The stored looks in their order, also the one that led to no decision, since none of its documents was graded."""
    stored = [Look(decision.query, decision.documents) for decision in trace.decisions]
    decided_on = {id_ for look in stored for id_ in look.documents}
    rest = tuple(document.id for document in trace.documents if document.id not in decided_on)
    if rest and (not stored or trace.error):
        query = trace.search_query if stored else None
        stored.append(Look(query or trace.standalone or trace.question, rest))
    return tuple(stored)


def looks(trace: Trace, thresholds: Thresholds) -> tuple[Decision | None, ...]:
    """The stored looks decided under `thresholds` in their order, up to the first that is not INCORRECT.

    None stands for a look whose documents are all ungraded; it is the last one.
    """
    scored = {document.id: document for document in trace.documents}
    outcome: list[Decision | None] = []
    for number, look in enumerate(looked(trace), start=1):
        documents = [scored[id_] for id_ in look.documents if id_ in scored]
        web = trace.web_gate != "off"
        decision = decided(documents, thresholds, look.query, trace.changes, look=number, lang=trace.language, web=web)
        outcome.append(decision)
        if decision is None or decision.action is not Action.INCORRECT:
            break
    return tuple(outcome)


def lacking(trace: Trace, decision: Decision | None) -> Lacking | None:
    """What would come next under the replayed `decision`, of which the trace holds nothing; None: it is all there.

    A search that the turn came to is over, whatever became of it: the person may have declined it, or it failed.
    """
    if decision is None or decision.action is Action.CORRECT:
        return None
    if trace.web_gate != "off" and not came_to_web(trace):
        return Lacking.WEB
    web_answered = any(document.score is not None for document in trace.web_documents)
    if decision.action is Action.INCORRECT and not web_answered and len(looked(trace)) < 2:
        return Lacking.SECOND_LOOK
    return None


def came_to_web(trace: Trace) -> bool:
    """Whether the turn came to its search of the web, whatever became of it."""
    wanted = any(look.action is not Action.CORRECT for look in trace.decisions[:1])
    return trace.web is not None or (trace.web_gate != "off" and wanted)


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
