"""The sources that an answer cites, as chips below it that open them, and what the answer took."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from crag.schema import Citation, Trace
from crag.ui import safe
from crag.ui.panels import on_page, timing, web, web_source
from crag.ui.texts import Texts


def draw(trace: Trace, t: Texts) -> None:
    """A click shows a file's page, or what was read of a web page; markers in the text lead here."""
    places = {place.n: number for number, place in enumerate(on_page.places(trace)) if place.n is not None}
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"sources-{trace.turn_id}"):
        for citation in sorted(trace.citations, key=lambda citation: citation.n):
            if citation.url:
                _chip(trace, citation, t("show_web_source"), web_source.open_at, citation.n, t)
            elif citation.n in places:
                _chip(trace, citation, t("show_on_page"), on_page.open_at, places[citation.n], t)
        spent = safe.in_html(timing.spent(trace, t))
        anchor = safe.in_html(f"sources-{trace.turn_id}")
        st.html(f"<div class='crag-sources' id='{anchor}'><span class='crag-took'>{spent}</span></div>")


def _chip(trace: Trace, citation: Citation, said: str, opens: Callable[[str, int], None], at: int, t: Texts) -> None:
    icon = ":material/public:" if citation.url else None
    st.button(
        f"**\\[{citation.n}\\]** {safe.in_markdown(web.name_of(citation, t))}",
        key=f"cited-{trace.turn_id}-{citation.n}",
        icon=icon,
        help=said,
        on_click=opens,
        args=(trace.turn_id, at),
    )
