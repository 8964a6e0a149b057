"""Questions made from headings: examples to begin with, and what else could be asked after an answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

import streamlit as st

from crag.cited import cited_strips
from crag.knowledge_base.telling_headings import is_telling
from crag.schema import GradedDocument, Trace
from crag.text import language
from crag.ui import safe
from crag.ui.texts import Texts

FOLLOW_UPS: Final = 3
_CLAUSE = re.compile(r"(?:what|how|where|why|when|which|who)\b", re.IGNORECASE)


def question_about(heading: str) -> str:
    """What is asked of a heading, in its language: "What it needs" is a clause, others are names; capitals are not
    shouted."""
    title = _title(heading)
    title = title.capitalize() if title.isupper() else title
    texts = Texts(language(title))
    if _CLAUSE.match(title):
        return texts("example_clause", heading=title[:1].lower() + title[1:].rstrip("?"))
    return texts("example", heading=title)


def _title(heading: str) -> str:
    return " ".join(heading.rpartition(" › ")[2].split())


def follow_ups(trace: Trace, asked: Collection[str] = (), most: int = FOLLOW_UPS) -> list[str]:
    """Questions about retrieved documents of files that the answer did not use, the best graded first.

    None about a section that it did use, and none that is among those `asked` already.
    """
    cited = cited_strips(trace)
    used = {id_ for strip in trace.strips if strip.id in cited for id_ in strip.documents}
    known = {_title(document.heading) for document in trace.documents if document.id in used}
    said = {question.casefold() for question in (trace.question, *asked)}
    questions: dict[str, None] = {}
    for document in _best_first(trace.documents):
        title = _title(document.heading)
        if document.id not in used and title not in known and is_telling(title):
            question = question_about(document.heading)
            if question.casefold() not in said:
                questions.setdefault(question)
    return list(questions)[:most]


def _best_first(documents: Sequence[GradedDocument]) -> list[GradedDocument]:
    return sorted(documents, key=lambda document: -1.0 if document.score is None else document.score, reverse=True)


def draw(trace: Trace, asked: Collection[str], t: Texts) -> str | None:
    """Below an answer; returns the question that was clicked."""
    questions = follow_ups(trace, asked) if trace.answer and not trace.direct and not trace.stopped else []
    if not questions:
        return None
    st.caption(t("follow_ups"))
    clicked = None
    with st.container(horizontal=True, gap="small", key=f"follow-{trace.turn_id}"):
        for number, question in enumerate(questions):
            icon = ":material/arrow_forward:"
            if st.button(safe.in_markdown(question), key=f"follow-{trace.turn_id}-{number}", icon=icon):
                clicked = question
    return clicked
