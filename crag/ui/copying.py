"""An answer as plain text with its sources, for the clipboard."""

from __future__ import annotations

import streamlit as st

from crag.export.wording import moment
from crag.schema import Citation, Trace
from crag.ui import clicks, marks
from crag.ui.panels import web
from crag.ui.texts import Texts


def draw(trace: Trace, t: Texts) -> None:
    """The button; nothing where there is no answer."""
    if trace.answer.strip():
        st.html(clicks.copy_button(as_text(trace, t), t("copy"), t("copied")), width="content")


def as_text(trace: Trace, t: Texts) -> str:
    """The answer as it was written, then the sources that it cites, one a line."""
    lines = [f"[{citation.n}] {_place(trace, citation, t)}" for citation in sorted(trace.citations, key=lambda c: c.n)]
    sources = f"\n\n{t('copied_sources')}\n" + "\n".join(lines) if lines else ""
    return marks.shown(trace.answer) + sources


def _place(trace: Trace, citation: Citation, t: Texts) -> str:
    """A web page with its address and when it was read."""
    if not citation.url:
        return web.name_of(citation, t)
    read = t("web_read", time=moment(trace.web.time)) if trace.web else ""
    return ", ".join(part for part in (" ".join(citation.title.split()), citation.url, read) if part)
