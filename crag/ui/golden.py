"""The star under an answer: its question is kept as a golden one, with what is expected of it; edited and removed."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import streamlit as st

from crag.errors import CragError
from crag.schema import Action, Trace
from crag.ui import safe, state
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from crag.history.golden import Golden, Goldens

log = logging.getLogger(__name__)

APART: Final = "|"
"""Stands between several answers in one field."""


def draw(trace: Trace, t: Texts) -> None:
    """Under an answer that was decided; a greeting or a turn without a decision is no question to measure by."""
    if not trace.direct and trace.action is not None and not trace.stopped:
        _draw(trace, t)


@st.fragment
def _draw(trace: Trace, t: Texts) -> None:
    from crag.history.golden import Goldens

    store, failed = Goldens(state.process().store), None
    known: Golden | None = None
    try:
        known = store.like(trace.standalone or trace.question, trace.turn_id)
    except CragError as error:
        failed = str(error)
    opened = st.popover(
        t("golden_kept" if known else "golden"),
        icon=":material/star:" if known else ":material/star_border:",
        type="tertiary",
        key=f"golden-{trace.turn_id}",
        on_change="rerun",
        width="content",
        help=t("golden_help"),
    )
    if not opened.open:
        return
    with opened:
        if failed:
            st.error(safe.in_markdown(failed), icon=":material/error:")
        else:
            _form(trace, store, known, t)


def _form(trace: Trace, store: Goldens, known: Golden | None, t: Texts) -> None:
    from crag.evaluation.golden import of_trace

    st.caption(t("golden_is_kept" if known else "golden_what"))
    key = f"golden-{trace.turn_id}-{known.id if known else 0}"
    edited = fields(known or of_trace(trace), key, paths_of(state.process()), t)
    if edited is not None and keep(store, edited, t):
        st.rerun()
    if known is None:
        return
    if st.button(t("golden_remove"), key=f"{key}-remove", icon=":material/delete:", type="tertiary"):
        try:
            store.save(deleted=[known.id])
        except CragError as error:
            st.error(safe.in_markdown(str(error)), icon=":material/error:")
        else:
            st.rerun()


def keep(store: Goldens, golden: Golden, t: Texts) -> bool:
    """Whether it was kept; why not is said where this is called."""
    from crag.evaluation.golden import problem

    try:
        others = [other for other in store.all() if other.id != golden.id]
        if (wrong := problem(golden, others)) is not None:
            st.error(t(f"golden_problem_{wrong}"), icon=":material/error:")
            return False
        if golden.id:
            store.save(changed=[golden])
        else:
            store.save(added=[golden])
    except CragError as error:
        st.error(safe.in_markdown(str(error)), icon=":material/error:")
        return False
    return True


def fields(golden: Golden, key: str, paths: Sequence[str], t: Texts) -> Golden | None:
    """The fields of a question, filled in; the edited one once *Save* is pressed."""
    files = list(dict.fromkeys([*paths, *([golden.file] if golden.file else [])]))
    actions = list(Action)
    with st.form(key, border=False):
        question = st.text_area(t("golden_question"), golden.question, key=f"{key}-question", height=80)
        expected = st.selectbox(
            t("golden_expected"),
            actions,
            index=actions.index(golden.expected) if golden.expected else None,
            format_func=lambda action: t(action),
            key=f"{key}-expected",
            placeholder=t("golden_unknown"),
            help=t("golden_expected_help"),
        )
        with st.container(horizontal=True, gap="small"):
            file = st.selectbox(
                t("golden_file"),
                files,
                index=files.index(golden.file) if golden.file else None,
                format_func=safe.clean,
                key=f"{key}-file",
                placeholder=t("golden_unknown"),
                accept_new_options=True,
                width="stretch",
            )
            page = st.number_input(t("golden_page"), 1, None, golden.page, 1, key=f"{key}-page", width=110)
        answers = st.text_input(
            t("golden_answers"),
            f" {APART} ".join(golden.answers),
            key=f"{key}-answers",
            help=t("golden_answers_help", apart=APART),
        )
        note = st.text_input(t("golden_note"), golden.note, key=f"{key}-note")
        saved = st.form_submit_button(t("golden_save"), type="primary", icon=":material/save:", key=f"{key}-save")
    if not saved:
        return None
    edit = {"question": question.strip(), "expected": expected, "file": file, "page": page, "note": note.strip()}
    return golden.model_copy(update=edit | {"answers": answers_of(answers)})


def answers_of(text: str) -> tuple[str, ...]:
    """The answers of one field, each once."""
    return tuple(dict.fromkeys(part.strip() for part in text.split(APART) if part.strip()))


def paths_of(process: state.Process) -> list[str]:
    """The files that a question can name."""
    if process.house is None:
        return []
    try:
        return [row.path for row in process.house.knowledge_base.rows() if row.passages and not row.error]
    except CragError as error:
        log.warning("the files are not offered: %s", error)
        return []
