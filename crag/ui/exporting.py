"""The export under an answer, and of a whole conversation: files that are made when they are clicked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from crag.export.forms import MIME, Form, export, file_name
from crag.schema import Trace
from crag.ui import state
from crag.ui.texts import Texts

ICONS = {Form.HTML: ":material/lab_profile:", Form.MARKDOWN: ":material/markdown:", Form.JSON: ":material/data_object:"}


def draw(trace: Trace, t: Texts) -> None:
    """Of one answer."""
    _draw((trace,), t("export"), trace.turn_id, t, whole=False)


def draw_conversation(traces: Sequence[Trace], conversation_id: str, t: Texts) -> None:
    """Of all answers so far; of one alone the export under it is enough."""
    if len(traces) > 1:
        _draw(tuple(traces), t("export_conversation"), conversation_id, t, whole=True)


@st.fragment
def _draw(traces: tuple[Trace, ...], label: str, key: str, t: Texts, *, whole: bool) -> None:
    """The buttons exist only while it is open: a long conversation would have hundreds of them."""
    opened = st.popover(
        label, icon=":material/ios_share:", type="tertiary", key=f"export-{key}", on_change="rerun", width="content"
    )
    if not opened.open:
        return
    with opened:
        st.caption(t("export_help"))
        draw_forms(traces, key, t, whole=whole)


def draw_forms(traces: Sequence[Trace], key: str, t: Texts, *, whole: bool) -> None:
    """A button for each form; `key` sets them apart."""
    house = state.process().house
    pages = house.knowledge_base.pages if house is not None else None
    for form in Form:
        st.download_button(
            t(f"export_as_{form}"),
            data=partial(export, form, traces, t, pages, whole=whole),
            file_name=file_name(form, traces),
            mime=MIME[form],
            key=f"export-{form}-{key}",
            icon=ICONS[form],
            on_click="ignore",
            type="tertiary",
        )
