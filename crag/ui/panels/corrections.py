"""Overruled grades: what the user says of each document counts for the next version, and is kept as a label."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import streamlit as st

from crag.errors import CragError
from crag.revision import can_be_revised
from crag.rulings import own_grade, ruling
from crag.schema import Change, Changed, GradedDocument, Trace
from crag.ui import pending, safe, state
from crag.ui.texts import Texts

log = logging.getLogger(__name__)

CHOICES = {"answers_it": True, "answers_not": False}


def said(trace: Trace) -> dict[str, bool]:
    """What the user said of the documents of this question, by document id; nothing where it cannot be read."""
    from crag.history.labels import text_key

    try:
        known = {label.key: label.answers for label in state.process().labels().latest(question=trace.question)}
    except CragError as error:
        log.warning("labels are not shown: %s", error)
        return {}
    keys = {document.id: text_key(document.text) for document in trace.documents}
    return {id_: known[key] for id_, key in keys.items() if key in known}


def draw(trace: Trace, labels: Mapping[str, bool], t: Texts) -> None:
    """Two choices for each document; choosing again takes what was said back."""
    with st.expander(t("corrections"), icon=":material/rate_review:", key=f"corrections-{trace.turn_id}"):
        st.caption(t("corrections_help" if can_be_revised(trace) else "corrections_help_label"))
        if error := st.session_state.get(_error_key(trace)):
            st.error(safe.in_markdown(error), icon=":material/error:")
        for rank, document in enumerate(trace.documents, 1):
            _choices(trace, rank, document, labels, t)
        if can_be_revised(trace):
            for rank, document in enumerate(trace.web_documents, 1):
                _choices(trace, rank, document, {}, t)
            _draw_said_before(trace, labels, t)


def take_back(trace: Trace) -> None:
    """Forgets all changes of the answer; the labels are again what they were before these."""
    before = st.session_state.pop(_before_key(trace), {})
    by_id = {document.id: document for document in trace.documents}
    for id_, label in before.items():
        _label(trace, by_id[id_], label)
    pending.forget_all(trace)


def settle(trace: Trace) -> None:
    """The labels that were given stay: the answer is made anew with them."""
    st.session_state.pop(_before_key(trace), None)


def _choices(trace: Trace, rank: int, document: GradedDocument, labels: Mapping[str, bool], t: Texts) -> None:
    place = safe.in_markdown(_name(document, t))
    key = f"label-{trace.turn_id}-{document.id}"
    holds = pending.ruled(trace, Changed.GRADE, document.id)
    holds = labels.get(document.id) if holds is None else holds
    st.session_state[key] = next((name for name, answers in CHOICES.items() if answers is holds), None)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"{':material/public: ' if document.url else ''}{rank}. {place}", width="stretch")
        st.segmented_control(
            t("label_of_web" if document.url else "label_of", rank=rank, place=place),
            list(CHOICES),
            format_func=t,
            key=key,
            label_visibility="collapsed",
            on_change=_choose,
            args=(trace, document, key, labels.get(document.id)),
        )


def _name(document: GradedDocument, t: Texts) -> str:
    if document.url:
        return document.heading or document.url
    return t("place", file=document.file, page=document.page)


def _choose(trace: Trace, document: GradedDocument, key: str, label: bool | None) -> None:
    answers = CHOICES.get(st.session_state[key] or "")
    st.session_state[_error_key(trace)] = None
    if can_be_revised(trace):
        pending.put(trace, _change(document, answers))
    if document.url is None:
        st.session_state.setdefault(_before_key(trace), {}).setdefault(document.id, label)
        _label(trace, document, answers)


def _change(document: GradedDocument, answers: bool | None) -> Change:
    """That the document answers, or does not; None: the evaluator's grade counts again."""
    return pending.made(Changed.GRADE, answers, own_grade(document).score, document.id)


def _draw_said_before(trace: Trace, labels: Mapping[str, bool], t: Texts) -> None:
    """Where the user said something of these documents for an earlier answer, which this one was made without."""
    held = {change.id for change in pending.of(trace) if change.what is Changed.GRADE}
    unused = {
        id_: answers
        for id_, answers in labels.items()
        if id_ not in held and ruling(trace.changes, Changed.GRADE, id_) is not answers
    }
    if unused:
        st.button(
            t("use_said", n=len(unused)),
            key=f"use-said-{trace.turn_id}",
            icon=":material/playlist_add_check:",
            type="tertiary",
            on_click=_use,
            args=(trace, unused),
        )


def _use(trace: Trace, said_before: Mapping[str, bool]) -> None:
    for document in trace.documents:
        if document.id in said_before:
            pending.put(trace, _change(document, said_before[document.id]))


def _label(trace: Trace, document: GradedDocument, answers: bool | None) -> None:
    """Keeps what was said of the document of a file; None: nothing."""
    from crag.history.labels import label_of

    try:
        labels = state.process().labels()
        if answers is None:
            labels.delete(trace.question, document.text)
        else:
            score = own_grade(document).score
            labels.add(label_of(trace.question, document, answers, score, trace.evaluator.version))
    except CragError as error:
        st.session_state[_error_key(trace)] = str(error)


def _error_key(trace: Trace) -> str:
    return f"label-error-{trace.turn_id}"


def _before_key(trace: Trace) -> str:
    return f"labels-before-{trace.turn_id}"
