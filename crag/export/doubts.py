"""What was not in order with an answer, as sentences: whoever is handed it has to know."""

from __future__ import annotations

from collections.abc import Iterator

from crag.export.wording import changes
from crag.schema import CheckedSentence, Support, Trace
from crag.ui.texts import Texts


def doubts(trace: Trace, t: Texts) -> list[str]:
    """Unescaped sentences, the gravest first; empty where nothing is to be told."""
    return list(dict.fromkeys(_doubts(trace, t)))


def _doubts(trace: Trace, t: Texts) -> Iterator[str]:
    if trace.error:
        yield trace.error
    if trace.stopped:
        yield t("stopped" if trace.answer or trace.documents else "stopped_empty")
    if trace.cut:
        yield t("export_cut", why=trace.cut)
    if trace.direct:
        yield t("export_direct")
    elif trace.answer and not trace.covered:
        yield t("export_not_covered")
    if changed := changes(trace, t, "export_changed"):
        yield changed
    yield from trace.notices
    ungraded = sum(document.score is None for document in (*trace.documents, *trace.web_documents))
    if ungraded:
        yield t("ungraded_help", n=ungraded)
    if trace.check.unknown:
        yield t("unknown_citations", numbers=", ".join(f"[{n}]" for n in trace.check.unknown))
    for sentence in trace.check.sentences:
        if said := _support(sentence, t):
            yield said
    for call in trace.calls:
        if call.error and not any(call.error in notice for notice in (*trace.notices, trace.error or "")):
            yield t("export_call_failed", model=call.model, error=call.error)


def _support(sentence: CheckedSentence, t: Texts) -> str | None:
    text = " ".join(sentence.text.split())
    match sentence.support:
        case Support.UNSUPPORTED:
            return t("export_unsupported" if sentence.cites else "export_uncited", text=text)
        case Support.WEAK:
            return t("export_weak", text=text)
    return None
