"""The page until the house is open: what is being prepared, or why it cannot be opened."""

from __future__ import annotations

import streamlit as st

from crag.runtime import JobState
from crag.ui import safe
from crag.ui.state import Process
from crag.ui.texts import Texts
from crag.ui.texts.told import translated

TICK = 0.3


def draw(process: Process, t: Texts) -> None:
    """Starts opening where nobody has, and follows it; a failure waits for the click on the retry."""
    job = process.runtime.latest("open") or process.open()
    if job.state is JobState.FAILED:
        st.subheader(t("open_failed"), anchor=False)
        st.error(safe.in_markdown(translated(job.error or "", t.language)), icon=":material/error:")
        st.button(t("try_again"), on_click=_again, args=(process,), key="open-again", icon=":material/refresh:")
        return
    _follow(process, t)


def _again(process: Process) -> None:
    process.open()


@st.fragment(run_every=TICK)
def _follow(process: Process, t: Texts) -> None:
    job = process.runtime.latest("open")
    if job is None or not job.running:
        st.rerun()
    steps = job.events
    with st.container(key="opening"):
        st.subheader(t("opening"), anchor=False)
        text = steps[-1].text if steps else ""
        st.progress(
            min(1.0, max(0.0, steps[-1].share)) if steps else 0.0, text=safe.in_markdown(text) or t("please_wait")
        )
        st.caption(t("opening_help"))
