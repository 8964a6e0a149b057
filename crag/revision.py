"""An answer made anew from what is stored of it, with a person's changes: only what follows from them is done again."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Final

from crag import pipeline, rulings
from crag.errors import QuestionError
from crag.events import Decided, Graded, Rewritten, TurnEvent
from crag.gate import Gate
from crag.notices import key_of
from crag.parts import Parts
from crag.refinement import ledger
from crag.replay import Look, came_to_web, looked, replay
from crag.schema import (
    Action,
    Change,
    Changed,
    Decision,
    DocumentGrade,
    Grade,
    GradedDocument,
    GradedStrip,
    Knowledge,
    Thresholds,
    Trace,
)
from crag.search.base import shortened
from crag.turn import Turn

LASTING: Final = ("files_missing", "not_condensed", "not_drafted", "not_rewritten")
LASTING_WEB: Final = ("web_failed", "web_empty", "web_any_age", "web_ungraded", "web_declined", "web_nobody_asked")
"""Notices that stay true as long as the search of the web is not made again."""


def can_be_revised(trace: Trace) -> bool:
    """Whether the trace holds what a revision starts from: documents, and the grades of their strips if there are any.

    A turn that was stopped before it was refined is asked again instead.
    """
    return bool(trace.strips) or bool(trace.documents and trace.action is None and not trace.stopped)


def amended(trace: Trace, changes: Sequence[Change]) -> Trace:
    """The trace with `changes` set in it, nothing that follows from them: to be replayed, or gone on from."""
    together = rulings.merged(trace.changes, changes)
    said = rulings.ruling(changes[::-1], Changed.THRESHOLDS)
    thresholds = said if isinstance(said, Thresholds) else trace.thresholds
    strips = trace.strips or ledger(trace.documents, [_unread(document) for document in trace.documents])
    return trace.model_copy(
        update={
            "changes": together,
            "thresholds": thresholds,
            "documents": rulings.graded(trace.documents, together, thresholds),
            "web_documents": rulings.graded(trace.web_documents, together, thresholds),
            "strips": strips,
        }
    )


def revised(trace: Trace, changes: Sequence[Change]) -> tuple[Decision | None, tuple[GradedStrip, ...], Knowledge]:
    """What follows from `changes` without any call: the decision, every strip with its fate, and the knowledge.

    What it lacks tells `replay.lacking` of the `amended` trace.
    """
    now = amended(trace, changes)
    return replay(now, now.thresholds)


async def revise(
    parts: Parts,
    trace: Trace,
    changes: Sequence[Change],
    turn_id: str,
    stop: threading.Event,
    gate: Gate | None = None,
) -> AsyncGenerator[TurnEvent]:
    """Answers the question of `trace` anew from what it holds; the last event is always `Finished`, see
    `pipeline.answer`.

    Nothing is condensed, retrieved or graded that was before. The web is searched, and a second look taken, where the
    action asks for it now and the trace has none, or where its query was changed. A query that a person wrote is sent
    as it is; any other waits at the `gate` where one is set up.

    Raises QuestionError where the trace holds nothing to start from, KnowledgeBaseError where a look is to be taken
    and the index cannot be asked.
    """
    if not can_be_revised(trace):
        raise QuestionError("This answer holds no graded evidence that could be used again: ask the question anew.")
    now = amended(trace, changes)
    turn = _resumed(parts, now, turn_id)
    written = {change.what: str(change.after) for change in changes if change.after}
    async with aclosing(pipeline.to_its_end(turn, _onwards(turn, now, written, gate), stop)) as events:
        async for event in events:
            yield event


def _resumed(parts: Parts, now: Trace, turn_id: str) -> Turn:
    """A turn that has come as far as the grades, before its first decision."""
    turn = Turn(
        replace(parts, thresholds=now.thresholds, k=now.k),
        now.question,
        turn_id,
        now.files,
        revises=now.turn_id,
        changes=now.changes,
        graded_by=now.evaluator,
        catalog_version=now.catalog_version,
        standalone=now.standalone,
        hypothetical=now.hypothetical,
        web=now.web,
        from_web=now.web_documents,
    )
    strips: dict[str, Grade] = {
        strip.id: Grade(score=strip.score, reason=strip.reason, cause=strip.cause) for strip in now.strips
    }
    for document in (*now.documents, *now.web_documents):
        own = tuple(strips.get(strip.id) or _unknown(document) for strip in document.strips)
        turn.grades[document.id] = DocumentGrade(document=rulings.own_grade(document), strips=own)
    turn.notices += [notice for notice in now.notices if key_of(notice) in (*LASTING, *LASTING_WEB)]
    return turn


async def _onwards(turn: Turn, now: Trace, written: dict[Changed, str], gate: Gate | None) -> AsyncGenerator[TurnEvent]:
    """Algorithm 1 from the first decision on. `written` are the queries that a person wrote, by what they are for."""
    first, *more = looked(now)
    for event in _looked_again(turn, now, first):
        yield event
    if turn.action in (Action.AMBIGUOUS, Action.INCORRECT):
        async with aclosing(_outside(turn, now, written.get(Changed.WEB_QUERY), gate)) as outside:
            async for event in outside:
                yield event
    if turn.action is Action.INCORRECT and not turn.web_answered:
        async with aclosing(_second(turn, now, more, written.get(Changed.SECOND_QUERY))) as second:
            async for event in second:
                yield event
    if turn.action is None or turn.error is not None:
        return
    async with aclosing(pipeline.conclude(turn)) as events:
        async for event in events:
            yield event


def _looked_again(turn: Turn, now: Trace, look: Look) -> Iterable[TurnEvent]:
    """A stored look, decided anew."""
    turn.looked_at = look.documents
    stored = {document.id: document for document in now.documents}
    for id_ in look.documents:
        if id_ in stored:
            turn.found.setdefault(id_, stored[id_])
    yield Graded(documents=turn.documents + turn.web_documents)
    if decision := turn.decide(look.query):
        yield Decided(decision=decision)


async def _outside(turn: Turn, now: Trace, query: str | None, gate: Gate | None) -> AsyncGenerator[TurnEvent]:
    """The web, where it was not asked before, or is to be asked by a query that a person wrote."""
    web = turn.parts.open_web
    if web is None:
        if query:
            turn.notice("web_is_off")
        return
    if query is None and came_to_web(now):
        return
    turn.from_web = ()
    turn.notices = [notice for notice in turn.notices if key_of(notice) not in LASTING_WEB]
    proposed = (now.web.proposed or now.web.query) if now.web else None
    sent = shortened(query) if query else ""
    events = pipeline.send(turn, web, sent, proposed or sent) if sent else pipeline.search(turn, web, gate)
    async with aclosing(events):
        async for event in events:
            yield event


async def _second(turn: Turn, now: Trace, more: Sequence[Look], query: str | None) -> AsyncGenerator[TurnEvent]:
    """The second look: as it is stored, or taken now."""
    if more and query is None:
        turn.search_query = now.search_query or more[0].query
        for event in _looked_again(turn, now, more[0]):
            yield event
        return
    if query:
        turn.search_query = shortened(query)
        yield Rewritten(query=turn.search_query)
    else:
        yield await turn.rewrite()
    wide = pipeline.SECOND_LOOK * turn.parts.k
    async with aclosing(pipeline.look(turn, turn.search_query or turn.asked, wide)) as second:
        async for event in second:
            yield event


def _unread(document: GradedDocument) -> DocumentGrade:
    """The grade of a document whose strips nobody graded."""
    unknown = _unknown(document)
    return DocumentGrade(document=rulings.own_grade(document), strips=tuple(unknown for _ in document.strips))


def _unknown(document: GradedDocument) -> Grade:
    return Grade(score=None, cause=rulings.own_grade(document).cause or "not graded")
