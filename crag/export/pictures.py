"""Images of the pages that an answer cites, with its strips marked; or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from crag.cited import cited_strips, look_of, strips_on
from crag.errors import CragError, PageImageError
from crag.knowledge_base.evidence import Mark, shown
from crag.knowledge_base.pages import Page
from crag.schema import Trace

DPI: Final = 110
MOST: Final = 40
"""Pages that one report shows; beyond them it says that there are more."""


class Pages(Protocol):
    """Of the knowledge base: where a content lies, its pages as they were read, and their images."""

    def path_of(self, sha256: str) -> str | None: ...

    def page(self, path: str, number: int) -> Page: ...

    def marked(self, path: str, number: int, marks: Sequence[Mark], size: tuple[float, float], dpi: int) -> bytes: ...


@dataclass(frozen=True)
class Picture:
    """The image (PNG) of a page, or the key of the text that says why there is none."""

    image: bytes | None = None
    why_not: str | None = None
    stale: bool = False
    """Whether the page was read anew since, so that nothing is marked on it."""


Place = tuple[str, str, int]
"""Turn id, content, page from 1."""


def pictures_of(traces: Sequence[Trace], pages: Pages | None) -> dict[Place, Picture]:
    """A picture for every page of a file that an answer cites; none without `pages`."""
    found: dict[Place, Picture] = {}
    if pages is None:
        return found
    for trace in traces:
        for content, number in cited_pages(trace):
            full = len(found) >= MOST
            found[(trace.turn_id, content, number)] = (
                Picture(why_not="export_too_many_pages") if full else _picture(trace, content, number, pages)
            )
    return found


def cited_pages(trace: Trace) -> list[tuple[str, int]]:
    """(content, page) of files where a cited strip stands, each once, in the order of the sources."""
    cited = {citation.n for citation in trace.citations}
    ids = cited_strips(trace)
    strips = {strip.id: strip for strip in trace.strips if strip.id in ids}
    places: list[tuple[str, int]] = []
    for source in trace.sources:
        if source.n in cited and not source.url:
            found = [strips[id_] for id_ in source.strips if id_ in strips]
            pages = sorted({span.page for strip in found for span in strip.spans}) or [source.page]
            places += [(source.content, page) for page in pages]
    return list(dict.fromkeys(places))


def _picture(trace: Trace, content: str, number: int, pages: Pages) -> Picture:
    try:
        path = pages.path_of(content)
        if path is None:
            return Picture(why_not="image_gone")
        page = pages.page(path, number)
        strips = strips_on(trace, content, number)
        stale = not {passage.id for passage in page.passages} & {id_ for strip in strips for id_ in strip.documents}
        made = (
            Mark(
                key=strip.id[:12],
                look=look_of(trace, strip),
                rects=shown(page.words, [(span.start, span.end) for span in strip.spans if span.page == number]),
            )
            for strip in strips
            if not stale
        )
        marks = tuple(mark for mark in made if mark.rects)
        return Picture(image=pages.marked(path, number, marks, page.size, DPI), stale=stale)
    except PageImageError as error:
        return Picture(why_not=f"image_{error.reason}")
    except CragError:  # the index was deleted or made anew while the report is written
        return Picture(why_not="image_gone")
