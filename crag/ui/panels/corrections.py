"""Corrected grades: what the user says of each document, kept as a label; the turn itself stays as it was decided."""

from __future__ import annotations

import logging

import streamlit as st

from crag.errors import CragError
from crag.schema import GradedDocument, Trace
from crag.ui import safe, state
from crag.ui.texts import Texts

log = logging.getLogger(__name__)

CHOICES = {"answers_it": True, "answers_not": False}


def said(trace: Trace) -> dict[str, bool]:
    """What holds for the documents of this turn, by document id; nothing where the labels cannot be read."""
    from crag.history.labels import text_key

    try:
        known = {label.key: label.answers for label in state.process().labels().latest(question=trace.question)}
    except CragError as error:
        log.warning("labels are not shown: %s", error)
        return {}
    keys = {document.id: text_key(document.text) for document in trace.documents}
    return {id_: known[key] for id_, key in keys.items() if key in known}


def draw(trace: Trace, labels: dict[str, bool], texts: Texts) -> None:
    """Two choices for each document; choosing again takes a label back."""
    with st.expander(texts("corrections"), icon=":material/rate_review:", key=f"corrections-{trace.turn_id}"):
        st.caption(texts("corrections_help"))
        if error := st.session_state.get(_error_key(trace)):
            st.error(safe.in_markdown(error), icon=":material/error:")
        for rank, document in enumerate(trace.documents, 1):
            _choices(trace, rank, document, labels.get(document.id), texts)


def _choices(trace: Trace, rank: int, document: GradedDocument, label: bool | None, texts: Texts) -> None:
    place = safe.in_markdown(texts("place", file=document.file, page=document.page))
    key = f"label-{trace.turn_id}-{document.id}"
    st.session_state[key] = next((name for name, answers in CHOICES.items() if answers is label), None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"{rank}. {place}", width="stretch")
        st.segmented_control(
            texts("label_of", rank=rank, place=place),
            list(CHOICES),
            format_func=texts,
            key=key,
            label_visibility="collapsed",
            on_change=_keep,
            args=(trace, document, key),
        )


def _keep(trace: Trace, document: GradedDocument, key: str) -> None:
    from crag.history.labels import label_of

    chosen = st.session_state[key]
    st.session_state[_error_key(trace)] = None
    try:
        labels = state.process().labels()
        if chosen is None:
            labels.delete(trace.question, document.text)
        else:
            version = trace.evaluator.version
            labels.add(label_of(trace.question, document, CHOICES[chosen], document.score, version))
    except CragError as error:
        st.session_state[_error_key(trace)] = str(error)


def _error_key(trace: Trace) -> str:
    return f"label-error-{trace.turn_id}"
