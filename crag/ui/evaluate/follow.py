"""The run as it goes on: how far it has come, what is asked now, and Stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crag.runtime import Job
from crag.ui import safe
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from crag.evaluation.golden_runs import Asked

TICK = 0.5
LONGEST = 90
"""Characters of a question that are shown while it is asked."""


@st.fragment(run_every=TICK)
def draw(job: Job[Asked], t: Texts) -> None:
    """Redrawn until the run has ended; then the whole page follows."""
    running = job.running
    with st.container(key="golden-run", border=True, gap="small"):
        now = job.events[-1] if job.events else None
        if now is None:
            st.progress(0.0, text=t("golden_starting"))
        else:
            left = now.seconds_left
            parts = [t("golden_asking", done=now.done, of=now.of)]
            if left is not None and now.done < now.of:
                late = left >= 90
                parts.append(t("minutes_left", n=round(left / 60)) if late else t("seconds_left", n=round(left)))
            st.progress(now.done / max(1, now.of), text=" · ".join(parts))
            if now.question:
                st.caption(safe.in_markdown(short(now.question)))
        stopping = job.stopping.is_set()
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                t("stopping" if stopping else "stop"),
                key="golden-stop",
                icon=":material/stop_circle:",
                on_click=job.stop,
                disabled=stopping,
            )
            st.caption(t("golden_goes_on"), width="stretch")
    if not running:
        st.rerun()


def short(text: str, longest: int = LONGEST) -> str:
    """One line of at most so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
