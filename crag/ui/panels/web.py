"""The web as the panels name it: what was sent, to whom and when, and the place where a text stands."""

from __future__ import annotations

from crag.schema import Citation, GradedStrip, Trace, WebSearched
from crag.search.external import host
from crag.ui import safe
from crag.ui.texts import Texts

SHORT = 60
"""Characters of a title that a chip shows."""


def sent(web: WebSearched, texts: Texts) -> str:
    """One sentence, unescaped."""
    said = {"query": web.query, "provider": web.provider, "time": web.time.removesuffix("+00:00").replace("T", " ")}
    if web.results is None:
        return " ".join(part for part in (texts("web_no_answer", **said), web.error) if part)
    return texts("web_sent", n=web.results, **said)


def summary(trace: Trace, texts: Texts) -> str:
    """The panel's name: whether the web was asked, and what came."""
    if trace.web is None:
        return texts("panel_web" if trace.web_gate == "off" else "panel_web_unused")
    if trace.web.results is None:
        return texts("panel_web_failed")
    return texts("panel_web_searched", n=len(trace.web_documents))


def place(source: Citation | GradedStrip, texts: Texts) -> str:
    """Where a source or a strip stands, as HTML: file and page, or title and host with a link to the page."""
    if not source.url:
        return safe.in_html(texts("place", file=source.file, page=source.page))
    title = source.title if len(source.title) <= SHORT else f"{source.title[: SHORT - 1]}…"
    named = texts("web_place", title=title, host=host(source.url)) if title else source.url
    return safe.link(source.url, named)
