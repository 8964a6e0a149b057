"""The gate before the web: the query as it would be sent, to be edited, sent or declined."""

from __future__ import annotations

import streamlit as st

from crag.events import Asking
from crag.gate import Gate
from crag.search.base import LONGEST_QUERY
from crag.ui import safe
from crag.ui.texts import Texts


def draw(turn_id: str, gate: Gate, asking: Asking, t: Texts) -> None:
    """Nothing leaves before Send is pressed, or Enter in the field; the query lives in the gate, not in this page."""
    key = f"gate-query-{turn_id}"
    with st.form(f"gate-{turn_id}", enter_to_submit=True):
        title = t("gate_title", provider=asking.provider)
        st.markdown(f":material/travel_explore: **{safe.in_markdown(title)}**")
        st.text_input(
            t("gate_query"),
            value=asking.query,
            max_chars=LONGEST_QUERY,
            key=key,
            label_visibility="collapsed",
            placeholder=t("gate_empty"),
        )
        st.caption(t("gate_leaves"))
        with st.container(horizontal=True, gap="small"):
            st.form_submit_button(
                t("gate_send"), type="primary", icon=":material/send:", on_click=_send, args=(gate, key)
            )
            st.form_submit_button(
                t("gate_decline"), icon=":material/block:", on_click=gate.answer, args=(None,), key=f"no-{key}"
            )


def _send(gate: Gate, key: str) -> None:
    """An emptied field is no answer: the turn goes on waiting."""
    if st.session_state[key].strip():
        gate.answer(st.session_state[key])
