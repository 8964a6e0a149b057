"""The web as the panels name it: what was sent, to whom and when, and the place where a text stands."""

from __future__ import annotations

from crag.schema import Action, Citation, GradedStrip, Source, Trace, WebSearched
from crag.search.external import host
from crag.ui import safe
from crag.ui.dates import moment
from crag.ui.money import money
from crag.ui.texts import Texts

SHORT = 60
"""Characters of a title that a chip shows."""


def sent(web: WebSearched, currency: str, texts: Texts) -> str:
    """What was sent to whom and when, what had been proposed, what came and what it cost; unescaped."""
    said = {"query": web.query, "provider": web.provider, "time": moment(web.time, texts)}
    if web.results is None:
        parts = [texts("web_no_answer", **said), web.error]
    else:
        parts = [texts("web_kept" if web.cached else "web_sent", n=web.results, **said)]
    if web.proposed is not None:
        parts.append(texts("web_edited", proposed=web.proposed))
    if web.time_range is not None:
        parts.append(texts(f"web_since_{web.time_range}"))
    if web.cost and not web.cached:
        parts.append(texts("web_cost", cost=money(web.cost, currency)))
    return " ".join(part for part in parts if part)


def held_back(trace: Trace) -> bool:
    """Whether a person, or that nobody could be asked, kept a query from being sent."""
    wanted = any(decision.action is not Action.CORRECT for decision in trace.decisions)
    return trace.web_gate == "ask" and trace.web is None and wanted and not trace.stopped


def summary(trace: Trace, texts: Texts) -> str:
    """The panel's name: whether the web was asked, and what came."""
    if trace.web is None:
        if held_back(trace):
            return texts("panel_web_declined")
        return texts("panel_web" if trace.web_gate == "off" else "panel_web_unused")
    if trace.web.results is None:
        return texts("panel_web_failed")
    return texts("panel_web_searched", n=len(trace.web_documents))


def place(source: Citation | GradedStrip | Source, texts: Texts) -> str:
    """Where a source or a strip stands, as HTML: file and page, or title and host with a link to the page."""
    named = name_of(source, texts)
    return safe.link(source.url, named) if source.url else safe.in_html(named)


def name_of(source: Citation | GradedStrip | Source, texts: Texts) -> str:
    """The same in words alone, unescaped."""
    if not source.url:
        return texts("place", file=source.file, page=source.page)
    title = source.title if len(source.title) <= SHORT else f"{source.title[: SHORT - 1]}…"
    return texts("web_place", title=title, host=host(source.url)) if title else source.url
