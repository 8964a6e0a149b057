"""How a report names things: when and with what was asked, where a source stands, what was sent to the web."""

from __future__ import annotations

from crag.generator.extractive import ExtractiveGenerator
from crag.schema import (
    Change,
    Changed,
    GradedDocument,
    GradedStrip,
    Source,
    Thresholds,
    Trace,
    WebSearched,
)
from crag.ui.texts import Texts


def is_written(trace: Trace) -> bool:
    """Whether a model has put the answer into words; else it quotes, or says that nothing covers the question."""
    return trace.generator != ExtractiveGenerator.name and (trace.covered or trace.direct)


def moment(stamp: str) -> str:
    """UTC as people read it: `2026-11-30 10:00`."""
    return stamp.removesuffix("+00:00").replace("T", " ")[:16]


def asked(trace: Trace, t: Texts) -> str:
    """When it was asked, and of which files."""
    said = t("export_asked", time=moment(trace.created))
    return f"{said} {t('asked_of', files=', '.join(trace.files))}" if trace.files else said


def cited_first(trace: Trace) -> list[tuple[Source, bool]]:
    """The sources with whether they are cited: those that the answer rests on before those it was merely given."""
    cited = {citation.n for citation in trace.citations}
    return sorted(((source, source.n in cited) for source in trace.sources), key=lambda pair: not pair[1])


def place(source: Source | GradedStrip | GradedDocument, t: Texts) -> str:
    """File and page, or title and address of a web page."""
    if source.url:
        title = source.heading if isinstance(source, GradedDocument) else source.title
        return " · ".join(part for part in (title, source.url) if part)
    pages = (source.pages or (source.page,)) if isinstance(source, Source | GradedDocument) else (source.page,)
    named = str(pages[0]) if len(pages) == 1 else f"{pages[0]}–{pages[-1]}"
    return t("place", file=source.file, page=named)


def sent(web: WebSearched, t: Texts) -> str:
    """What was sent to whom and when, and what came."""
    said = {"query": web.query, "provider": web.provider, "time": f"{moment(web.time)} UTC"}
    if web.results is None:
        return " ".join(part for part in (t("web_no_answer", **said), web.error) if part)
    return t("web_sent", n=web.results, **said)


def changed(change: Change, trace: Trace, t: Texts) -> str:
    """One change of an answer in words; `trace` is the answer, before or after it."""
    match change.what, change.after:
        case Changed.GRADE, answers:
            word = "back" if answers is None else "yes" if answers else "no"
            found = (*trace.documents, *trace.web_documents)
            document = next((document for document in found if document.id == change.id), None)
            among = trace.web_documents if document and document.url else trace.documents
            kind = "page" if document and document.url else "document"
            return t(f"change_{kind}_{word}", number=among.index(document) + 1 if document else "?")
        case Changed.STRIP, keeps:
            place = next((strip.order + 1 for strip in trace.strips if strip.id == change.id), "?")
            word = "back" if keeps is None else "keep" if keeps else "drop"
            return t(f"change_strip_{word}", number=place)
        case Changed.ACTION, action:
            key = "change_action" if change.id == "1" else "change_action_second"
            return t(key, action=t("action_by_scores" if action is None else str(action)))
        case Changed.THRESHOLDS, Thresholds() as limits:
            return t("change_limits", lower=limits.lower, upper=limits.upper, strip=limits.strip)
        case what, query:
            return t(f"change_{what.name.lower()}", query=query)


def changes(trace: Trace, t: Texts, key: str = "changed_by_you") -> str:
    """All that people changed of the answer, in one sentence; empty where nobody did."""
    said = t("between_changes").join(changed(change, trace, t) for change in trace.changes)
    return t(key, changes=said) if said else ""


def made_by(trace: Trace, t: Texts) -> str:
    """Evaluator, generator, thresholds, seconds, calls of models and what they cost."""
    limits = trace.thresholds
    parts = [
        t(
            "export_made_by",
            evaluator=f"{trace.evaluator.name} {trace.evaluator.version}",
            generator=trace.generator,
            upper=limits.upper,
            lower=limits.lower,
            strip=limits.strip,
        ),
        t("export_took", seconds=sum(trace.timings.values()), n=len(trace.calls)),
    ]
    costs = [call.cost for call in trace.calls if call.cost is not None]
    if costs:
        parts.append(t("export_cost", cost=f"{sum(costs):.4f}", currency=trace.currency))
    return " ".join(parts)
