"""The Evaluate page from top to bottom: the questions, the last run, and the thresholds that follow from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from crag.errors import CragError
from crag.runtime import JobState
from crag.ui import safe
from crag.ui.evaluate import follow, jobs, one_answer, questions, results, thresholds
from crag.ui.evaluate.table import table_of
from crag.ui.knowledge import Overview
from crag.ui.settings import person
from crag.ui.state import Process
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from crag.assembly import House

QUESTION: Final = "q"
"""The query parameter that names a question whose answer is shown, so that a reload shows it again."""
LONGEST_ID: Final = 18
"""Digits."""


def draw(process: Process, overview: Overview, t: Texts) -> None:
    """The page, or the answer that the address names."""
    house = process.house
    if house is None:
        return
    with st.container(key="evaluate"):
        try:
            named = st.query_params.get(QUESTION, "")
            if named.isascii() and named.isdigit() and len(named) <= LONGEST_ID:
                one_answer.draw(process, int(named), go, t)
            else:
                _draw(process, house, overview, t)
        except CragError as error:
            st.error(safe.in_markdown(str(error)), icon=":material/error:")


def go(id_: int | None = None) -> None:
    """Puts a question into the address; None: the whole page."""
    if id_ is None:
        st.query_params.pop(QUESTION, None)
    else:
        st.query_params[QUESTION] = str(id_)


def _draw(process: Process, house: House, overview: Overview, t: Texts) -> None:
    st.header(t("evaluate"), anchor=False)
    settings = person.of(process).settings
    job = jobs.running(process)  # read once: what is drawn as running ends in a rerun
    table = table_of(process, house, settings, overview)
    questions.draw(process, table, job is not None, t)
    if job is not None:
        follow.draw(job, t)
    elif (last := process.runtime.latest(jobs.RUN)) is not None and last.state is JobState.FAILED:
        st.error(safe.in_markdown(last.error or ""), icon=":material/error:")
    results.draw(process, table, go, t)
    if table.goldens:
        thresholds.draw(process, house, settings, job is not None, t)
