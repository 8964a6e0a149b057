"""Replays a stored trace with other thresholds: decision, strips and knowledge, without a call."""

from __future__ import annotations

from crag.action_trigger import decide
from crag.refinement import recompose, select
from crag.schema import Action, Decision, GradedStrip, Knowledge, Thresholds, Trace


def replay(trace: Trace, thresholds: Thresholds) -> tuple[Decision | None, tuple[GradedStrip, ...], Knowledge]:
    """What the stored scores lead to under `thresholds`.

    The looks are decided in their order and the first that is not INCORRECT holds, with the documents found up to
    it and what the web gave. Where the last stored look is INCORRECT, so is the result: a further look would need
    the index, and a search that was not made the web.
    """
    scored = {document.id: document for document in trace.documents}
    seen: dict[str, None] = {}
    decision: Decision | None = None
    for number, look in enumerate(trace.decisions):
        seen.update(dict.fromkeys(look.documents))
        looked_at = [scored[id_] for id_ in look.documents if id_ in scored]
        web = trace.web_gate != "off"
        decision = decide(looked_at, thresholds, look.query, lang=trace.language, second_look=number > 0, web=web)
        if decision is None or decision.action is not Action.INCORRECT:
            break
    seen.update(dict.fromkeys(document.id for document in trace.web_documents))
    documents = [document for document in (*trace.documents, *trace.web_documents) if document.id in seen]
    found = [strip for strip in trace.strips if seen.keys() & set(strip.documents)]
    strips = select(documents, found, thresholds, decision.action if decision else None)
    return decision, strips, recompose(strips)
