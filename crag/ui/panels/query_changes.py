"""The query of the web or of the second look, to be edited and searched for again."""

from __future__ import annotations

import streamlit as st

from crag.revision import can_be_revised
from crag.schema import Changed, Trace
from crag.search.base import LONGEST_QUERY, shortened
from crag.ui import pending, revising
from crag.ui.panels import web
from crag.ui.texts import Texts


def draw_web(trace: Trace, t: Texts) -> None:
    """Where the web was asked, or a person kept the query from being sent."""
    if trace.web_gate != "off" and (trace.web is not None or web.held_back(trace)):
        query = trace.web.query if trace.web else shortened(trace.standalone or trace.question)
        _draw(trace, Changed.WEB_QUERY, query, t("search_again_leaves"), t)


def draw_second(trace: Trace, t: Texts) -> None:
    """Where a second look was taken."""
    if trace.search_query:
        _draw(trace, Changed.SECOND_QUERY, trace.search_query, t("search_again_local"), t)


def _draw(trace: Trace, what: Changed, query: str, note: str, t: Texts) -> None:
    if not can_be_revised(trace):
        return
    name = what.name.lower()
    with st.form(f"search-again-{name}-{trace.turn_id}", border=False, enter_to_submit=True):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            written = st.text_input(
                t(f"search_again_{name}"), value=query, max_chars=LONGEST_QUERY, key=f"{name}-{trace.turn_id}"
            )
            go = st.form_submit_button(t("search_again"), icon=":material/search:", key=f"again-{name}-{trace.turn_id}")
        st.caption(note)
    if not go:
        return
    if not written.strip():
        st.error(t("search_again_empty"), icon=":material/error:")
        return
    revising.answer(trace, [*pending.of(trace), pending.made(what, shortened(written), query)], t)
