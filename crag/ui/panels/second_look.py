"""Web, or the second look in its place: what was searched for, what it found, and both decisions."""

from __future__ import annotations

import streamlit as st

from crag.schema import Trace
from crag.ui import safe
from crag.ui.panels import query_changes, web, web_source
from crag.ui.panels.documents import show_table
from crag.ui.texts import Texts


def draw(trace: Trace, texts: Texts) -> None:
    _draw_web(trace, texts)
    web_source.draw(trace, texts)
    query_changes.draw_web(trace, texts)
    if not trace.search_query:
        if trace.web is None:
            st.caption(texts("no_second_look"))
        return
    st.markdown(f"**{texts('second_query')}**")
    st.code(trace.search_query, language=None, wrap_lines=True)
    query_changes.draw_second(trace, texts)
    rows = "".join(
        f"<li><b>{safe.in_html(texts(decision.action))}</b> {safe.in_html(decision.sentence)}</li>"
        for decision in trace.decisions
    )
    st.html(f"<ol class='crag-list crag-decisions'>{rows}</ol>")
    if len(trace.decisions) > 1:
        ids = set(trace.decisions[-1].documents)
        found = tuple(document for document in trace.documents if document.id in ids)
        st.caption(texts("second_documents", n=len(found)))
        if found:
            show_table(found, trace.thresholds, texts)


def _draw_web(trace: Trace, texts: Texts) -> None:
    """Whether the web was asked; if so the query as it was sent, and how many of the results can be used."""
    if trace.web is None:
        unused = "web_declined" if web.held_back(trace) else "web_not_needed"
        said = texts("web_off" if trace.web_gate == "off" else unused)
        st.caption(f":material/cloud_off: {said}")
        return
    st.caption(f":material/public: {safe.in_markdown(web.sent(trace.web, trace.currency, texts))}")
    if trace.web_documents:
        show_table(trace.web_documents, trace.thresholds, texts)
    elif trace.web.results is not None:
        st.caption(texts("web_nothing"))
