"""The golden questions and what can be done with them: add, import, export, edit, and run."""

from __future__ import annotations

import streamlit as st

from crag.ui.evaluate import in_and_out, jobs
from crag.ui.evaluate.table import Table, editor, edits_of, unsaved
from crag.ui.state import Process
from crag.ui.texts import Texts


@st.fragment
def draw(process: Process, table: Table, running: bool, t: Texts) -> None:
    """Add, import and runs wait while the table holds edits that are not saved."""
    edits = edits_of(table)
    busy = bool(edits)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="golden-bar"):
        in_and_out.add(process, busy, t)
        in_and_out.bring_in(process, busy, t)
        if table.goldens:
            in_and_out.export(table, t)
            st.space("stretch")
            _runs(process, table, running or busy, t)
    if not table.goldens:
        st.info(t("golden_none"), icon=":material/star:")
        return
    st.caption(_standing(table, t))
    editor(t)
    if edits:
        unsaved(process, edits, t)


def _standing(table: Table, t: Texts) -> str:
    """How many there are, how many are to be asked, and why."""
    said = [t("golden_count", n=len(table.goldens))]
    if not table.askable:
        said.append(t("golden_nothing_indexed"))
    elif table.pending:
        said.append(t("golden_pending", n=len(table.pending)))
        said += [t(f"golden_since_{reason}") for reason in table.reasons]
    elif table.goldens:
        said.append(t("golden_all_hold"))
    return " ".join(said)


def _runs(process: Process, table: Table, blocked: bool, t: Texts) -> None:
    chosen = [golden for golden in table.goldens if golden.id in table.pending]
    some = st.button(
        t("golden_run_changed", n=len(chosen)),
        key="golden-run-changed",
        icon=":material/play_arrow:",
        type="primary" if chosen else "secondary",
        disabled=blocked or not chosen or not table.askable,
        help=t("golden_run_changed_help"),
    )
    everything = st.button(
        t("golden_run_all"),
        key="golden-run-all",
        icon=":material/fast_forward:",
        disabled=blocked or not table.askable,
        help=t("golden_run_all_help"),
    )
    if some or everything:
        jobs.run(process, table.goldens if everything else chosen)
        st.rerun()
