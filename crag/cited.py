"""Which strips of an answer stand on a page, and how each looks there: cited, kept or dropped. Pure."""

from __future__ import annotations

from crag.knowledge_base.evidence import Look
from crag.schema import GradedStrip, Trace


def strips_on(trace: Trace, content: str, page: int) -> list[GradedStrip]:
    """The strips of a content that touch one page, in document order."""
    return [s for s in trace.strips if s.content == content and not s.url and any(x.page == page for x in s.spans)]


def cited_strips(trace: Trace) -> set[str]:
    """Ids of the strips that the answer quotes; of a cited source that it puts in other words, all of its strips."""
    numbers = {citation.n for citation in trace.citations}
    lines = {strip.id: "".join(strip.text.rpartition("\n")[2].split()) for strip in trace.strips}
    answer = "".join(trace.answer.split())
    found: set[str] = set()
    for source in (source for source in trace.sources if source.n in numbers):
        quoted = {id_ for id_ in source.strips if lines.get(id_) and lines[id_] in answer}
        found |= quoted or set(source.strips)
    return found


def look_of(trace: Trace, strip: GradedStrip) -> Look:
    """Cited, else kept or dropped."""
    if strip.id in cited_strips(trace):
        return Look.CITED
    return Look.KEPT if strip.kept else Look.DROPPED
