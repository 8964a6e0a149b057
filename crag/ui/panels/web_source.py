"""A web page that the answer was given: its address, when it was read, and its text with the strips that were kept."""

from __future__ import annotations

import streamlit as st

from crag.export.wording import moment
from crag.schema import Source, Trace
from crag.ui import safe
from crag.ui.panels import refined_context, web
from crag.ui.texts import Texts


def open_at(turn_id: str, n: int) -> None:
    """Opens the panel of a turn at the source with this number; for a click on a citation."""
    st.session_state[f"panel-{turn_id}"] = "second_look"
    st.session_state[f"web-source-{turn_id}"] = n


def draw(trace: Trace, t: Texts) -> None:
    """One source, chosen here or by a click on its citation; nothing where the web gave none."""
    sources = {source.n: source for source in trace.sources if source.url}
    if not sources:
        return
    chosen = st.selectbox(
        t("web_source"),
        list(sources),
        format_func=lambda n: f"[{n}] {safe.clean(web.name_of(sources[n], t))}",
        key=f"web-source-{trace.turn_id}",
    )
    _draw(trace, sources[chosen], t)


def _draw(trace: Trace, source: Source, t: Texts) -> None:
    url = source.url or ""
    facts = [safe.link(url, url)]
    if trace.web is not None:
        facts.append(safe.in_html(t("web_read", time=moment(trace.web.time))))
    found = next((document for document in trace.web_documents if document.url == url), None)
    if found is not None and found.published:
        facts.append(safe.in_html(t("web_published", date=found.published)))
    st.html(f"<div class='crag-legend'>{''.join(f'<span>{fact}</span>' for fact in facts)}</div>")
    strips = [strip for strip in trace.strips if strip.url == url]
    with st.container(height=420 if len(strips) > 8 else "content", border=False, key=f"web-text-{trace.turn_id}"):
        st.html(refined_context.listed(strips, t))
