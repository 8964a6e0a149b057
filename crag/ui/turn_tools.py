"""What can be done with a turn: page through its versions, answer it again, ask its question edited."""

from __future__ import annotations

import streamlit as st

from config import Settings
from crag.export.wording import changes
from crag.pipeline import LONGEST_QUESTION
from crag.ui import safe, spoken, state
from crag.ui.conversations import Conversation, Made, Place, Turn
from crag.ui.state import Process
from crag.ui.texts import Texts

ROOM = 4000
"""More characters than a question may have, so that what is too long is told instead of being cut off."""


def draw_question(process: Process, conversation: Conversation, turn: Turn, settings: Settings, t: Texts) -> None:
    """The question, with the pencil that makes a field of it."""
    key = f"editing-{turn.job.id}"
    if st.session_state.get(key):
        _editor(process, conversation, turn, settings, key, t)
        return
    with st.container(horizontal=True, vertical_alignment="top", gap="small", wrap=False):
        st.html(spoken.in_its_language(turn.question, "crag-question", "h2"), width="stretch")
        st.button(
            t("edit_question"),
            key=f"edit-{turn.job.id}",
            icon=":material/edit:",
            type="tertiary",
            help=t("edit_question_help"),
            on_click=_set,
            args=(key, True),
        )


def _editor(process: Process, conversation: Conversation, turn: Turn, settings: Settings, key: str, t: Texts) -> None:
    with st.form(f"editor-{turn.job.id}", border=False):
        st.text_area(
            t("edit_question"),
            turn.question,
            key=f"edited-{turn.job.id}",
            max_chars=LONGEST_QUESTION + ROOM,
            height="content",
            help=t("edit_question_help"),
        )
        with st.container(horizontal=True, gap="small"):
            st.form_submit_button(
                t("ask_edited"),
                type="primary",
                icon=":material/call_split:",
                on_click=_branch,
                args=(process, conversation, turn, settings, key),
            )
            st.form_submit_button(t("cancel_edit"), key=f"cancel-{turn.job.id}", on_click=_set, args=(key, False))


def draw_versions(process: Process, conversation: Conversation, place: Place, t: Texts) -> None:
    """Which of the versions this is, and how it came about; nothing where there is but one."""
    if len(place.versions) < 2:
        return
    turn, number = place.turn, place.shown + 1
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"versions-{turn.job.id}"):
        _page(process, conversation, place, place.shown - 1, t("version_before"), ":material/chevron_left:")
        st.markdown(t("version_of", n=number, of=len(place.versions)), width="content")
        _page(process, conversation, place, place.shown + 1, t("version_after"), ":material/chevron_right:")
        changed = changes(turn.trace, t) if turn.trace else ""
        st.caption(safe.in_markdown(changed) if changed else t(f"made_{turn.made}"))


def _page(process: Process, conversation: Conversation, place: Place, to: int, label: str, icon: str) -> None:
    there = 0 <= to < len(place.versions)
    st.button(
        label,
        key=f"version-{icon.strip(':').rpartition('/')[2]}-{place.turn.job.id}",
        icon=icon,
        type="tertiary",
        disabled=not there,
        on_click=process.talks.show,
        args=(conversation, place.versions[to if there else place.shown]),
    )


def draw_again(process: Process, conversation: Conversation, turn: Turn, settings: Settings, t: Texts) -> None:
    """Answers it again: with the settings of now, or where these are others also with its own."""
    again = {Made.SAME: turn.as_asked(settings), Made.PRESENT: settings}
    key = f"regenerate-{turn.job.id}"
    if again[Made.SAME] == settings:
        st.button(
            t("regenerate"),
            key=key,
            icon=":material/refresh:",
            type="tertiary",
            on_click=process.ask_again,
            args=(conversation, turn, settings, Made.SAME),
        )
        return
    made = st.menu_button(
        t("regenerate"),
        list(again),
        key=key,
        icon=":material/refresh:",
        type="tertiary",
        format_func=lambda made: t(f"regenerate_{made}"),
    )
    if made is not None:
        process.ask_again(conversation, turn, again[made], made)
        st.rerun()


def _branch(process: Process, conversation: Conversation, turn: Turn, settings: Settings, key: str) -> None:
    """An emptied field asks nothing."""
    question = st.session_state[f"edited-{turn.job.id}"].strip()
    if question:
        st.session_state[key] = False
        state.show(process.branch(conversation, turn, question, settings))


def _set(key: str, value: bool) -> None:
    st.session_state[key] = value
