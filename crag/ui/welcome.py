"""Before the first question: what CRAG does and how to start, or three example questions."""

from __future__ import annotations

import logging

import streamlit as st

from crag.errors import CragError
from crag.ui import knowledge, safe, suggesting
from crag.ui.knowledge import Overview
from crag.ui.state import Process
from crag.ui.texts import Texts

log = logging.getLogger(__name__)

EXAMPLES = 3
GUIDE = "crag-guide.pdf"
"""The guide that comes with CRAG in Files/."""


def draw_empty(process: Process, overview: Overview, t: Texts) -> None:
    """Nothing can be asked yet: where PDFs go, and the rebuild."""
    st.header(t("welcome"), anchor=False)
    st.markdown(t("what_it_does"))
    if [change.path for change in overview.changes] == [GUIDE] and not overview.building:
        st.info(t("guide_is_there"), icon=":material/menu_book:")
    with st.container(border=True, key="start"):
        knowledge.draw(process, overview, t)


def draw_examples(process: Process, t: Texts) -> str | None:
    """There is something to ask: three questions made from headings. Returns the one that was clicked."""
    st.header(t("welcome"), anchor=False)
    st.markdown(t("what_it_does"))
    questions = example_questions(process)
    if questions:
        st.caption(t("examples"))
    for number, question in enumerate(questions):
        if st.button(safe.in_markdown(question), key=f"example-{number}", icon=":material/arrow_forward:"):
            return question
    return None


def example_questions(process: Process) -> list[str]:
    """Made from headings of the indexed files, each in the language of its heading; once per catalog version."""
    if process.house is None:
        return []
    try:
        with process.house.knowledge_base.snapshot() as snapshot:
            version, known = st.session_state.get("examples", (None, []))
            if version != snapshot.version:
                found = snapshot.headings(2 * EXAMPLES)
                made = dict.fromkeys(suggesting.question_about(heading) for _, heading in found)
                known = list(made)[:EXAMPLES]
                st.session_state["examples"] = (snapshot.version, known)
            return list(known)
    except CragError:
        log.info("no example questions: the knowledge base cannot be read now", exc_info=True)
        return []
