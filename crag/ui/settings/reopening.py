"""What counts only when the house is opened anew, and the button that does it."""

from __future__ import annotations

import streamlit as st

from crag.options import needs_reopening, variables_of_folders
from crag.ui import safe
from crag.ui.settings.person import Person
from crag.ui.settings.wrong import label
from crag.ui.state import Process
from crag.ui.texts import Texts

BUSY = "settings-busy"
"""Where a session remembers that work was running when the house was to be opened anew."""


def draw(process: Process, person: Person, t: Texts) -> None:
    """Nothing where everything counts."""
    if process.not_opened:
        st.error(safe.in_markdown(t("not_opened", error=process.not_opened)), icon=":material/error:")
    late = [name for name in needs_reopening(process.settings, process.stored()) if name not in person.keys]
    if not late:
        st.session_state.pop(BUSY, None)
        return
    with st.container(border=True, key="late"):
        names = t("and").join(label(name, t) for name in late)
        st.markdown(safe.in_markdown(t("late", names=names)))
        st.caption(t("late_help"))
        st.button(
            t("reopen"),
            key="reopen",
            type="primary",
            icon=":material/restart_alt:",
            on_click=_reopen,
            args=(process,),
        )
        if st.session_state.get(BUSY):
            st.warning(t("reopen_busy"), icon=":material/hourglass_top:")


def draw_folders(process: Process, t: Texts) -> None:
    """Where things lie; shown, not changed."""
    st.markdown(f"**{t('folders')}**")
    st.caption(t("folders_help"))
    rows = variables_of_folders(process.environment)
    lines = "".join(
        f"<li><code>{safe.in_html(name)}</code> {safe.in_html(str(path))}</li>" for name, path in rows.items()
    )
    st.html(f"<ul class='crag-list'>{lines}</ul>")


def _reopen(process: Process) -> None:
    st.session_state[BUSY] = not process.reopen()
