"""The last answer to one golden question with all its evidence, beside what was expected of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from crag.ui import answer, safe, spoken
from crag.ui.evaluate import jobs
from crag.ui.state import Process
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from crag.history.golden import Golden

AVATAR = ":material/fact_check:"


def draw(process: Process, id_: int, go: Callable[[], None], t: Texts) -> None:
    """Drawn as in the chat; a question that is gone, or was never asked, says so. Raises HistoryError."""
    store = jobs.store_of(process)
    st.button(t("golden_back"), key="golden-back", icon=":material/arrow_back:", type="tertiary", on_click=go)
    golden = next((one for one in store.all() if one.id == id_), None)
    trace = store.trace(id_) if golden else None
    if golden is None or trace is None:
        st.info(t("golden_no_answer"), icon=":material/help:")
        return
    st.html(spoken.in_its_language(trace.question, "crag-question", "h2"))
    st.caption(f":material/flag: {safe.in_markdown(expectation(golden, t))}")
    with st.container(border=True, key="golden-answer"):
        asked = store.answered()[id_].created
        st.caption(t("golden_answered", time=asked[:16].replace("T", " ")))
        own = "".join(char for char in asked if char.isalnum())  # the panels of another run's answer are other ones
        answer.draw(trace.model_copy(update={"turn_id": f"golden-{id_}-{own}"}), t)


def expectation(golden: Golden, t: Texts) -> str:
    """What is expected of a question, in a sentence."""
    parts = []
    if golden.expected:
        parts.append(t("golden_expects_action", action=t(golden.expected)))
    if golden.file:
        place = t("place", file=golden.file, page=golden.page) if golden.page else golden.file
        parts.append(t("golden_expects_place", place=place))
    if golden.answers:
        quoted = t("golden_or").join(t("golden_quoted", text=text) for text in golden.answers)
        parts.append(t("golden_expects_answer", answers=quoted))
    return " ".join(parts) or t("golden_expects_nothing")
