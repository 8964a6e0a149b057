"""From a turn to its trace: everything that has happened so far, serialisable."""

from __future__ import annotations

from crag.schema import EvaluatorName, Trace
from crag.turn import Turn


def trace_of(turn: Turn) -> Trace:
    """The trace as things stand."""
    parts, last = turn.parts, turn.decisions[-1] if turn.decisions else None
    return Trace(
        turn_id=turn.turn_id,
        revises=turn.revises,
        changes=turn.changes,
        created=turn.created,
        catalog_version=turn.catalog_version,
        question=turn.question,
        standalone=turn.standalone,
        direct=turn.direct,
        language=turn.language,
        files=turn.files,
        search_query=turn.search_query,
        hypothetical=turn.hypothetical,
        k=parts.k,
        thresholds=parts.thresholds,
        evaluator=turn.graded_by or EvaluatorName(name=parts.evaluator.name, version=parts.evaluator.version),
        generator=turn.written_by or parts.generator.name,
        action=turn.action,
        decision=last.sentence if last else "",
        decisions=tuple(turn.decisions),
        documents=turn.documents,
        web_gate=parts.web_gate if parts.open_web else "off",
        web=turn.web,
        web_documents=turn.web_documents,
        strips=turn.strips,
        knowledge=turn.knowledge.text,
        sources=turn.knowledge.sources,
        sent=turn.sent,
        answer="".join(turn.pieces),
        thinking="".join(turn.thoughts),
        cut=turn.cut,
        covered=bool(turn.knowledge.sources),
        citations=turn.checked.citations,
        check=turn.checked,
        timings={stage: round(seconds, 6) for stage, seconds in turn.timings.items()},
        runs=tuple(sorted(turn.runs, key=lambda run: run.started)),
        calls=tuple(parts.ledger.calls),
        currency=parts.currency,
        notices=tuple(turn.notices),
        stopped=turn.stopped,
        error=turn.error,
    )
