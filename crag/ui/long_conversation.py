"""A long conversation: some of its turns are drawn whole, and there is a way to those before and after them."""

from __future__ import annotations

from typing import Final

import streamlit as st

from crag.ui import safe
from crag.ui.conversations import Conversation
from crag.ui.texts import Texts

WHOLE: Final = 8
"""Turns that are drawn at a time, so that a page of a long conversation costs no more than one of a short one."""


def first(conversation: Conversation) -> int:
    """Number of the first turn that is drawn, from 0: so that the newest are, unless somebody has gone back."""
    newest = max(0, len(conversation.places) - WHOLE)
    chosen: int = st.session_state.get(_key(conversation), newest)
    return min(chosen, newest)


def to_newest(conversation: Conversation) -> None:
    st.session_state.pop(_key(conversation), None)


def draw_before(conversation: Conversation, start: int, t: Texts) -> None:
    """The way to the turns before number `start`."""
    if not start:
        return
    questions = [" ".join(place.turn.question.split()) for place in conversation.places[:start]]
    key = f"go-to-{conversation.id}"
    with st.container(horizontal=True, vertical_alignment="center", key="turns-before-these"):
        step = min(WHOLE, start)
        st.button(
            t("show_earlier", n=step),
            key="show-earlier",
            icon=":material/expand_less:",
            on_click=_go,
            args=(conversation, start - step),
        )
        st.selectbox(
            t("go_to_question"),
            range(start),
            index=None,
            format_func=lambda number: safe.clean(f"{number + 1}. {questions[number]}"),
            placeholder=t("earlier_questions", n=start),
            key=key,
            label_visibility="collapsed",
            on_change=_go_to,
            args=(conversation, key),
        )


def draw_after(conversation: Conversation, start: int, count: int, t: Texts) -> None:
    """The way to the turns after those that are drawn from number `start` on, of `count`."""
    left = count - start - WHOLE
    if left <= 0:
        return
    with st.container(horizontal=True, vertical_alignment="center", key="turns-after-these"):
        st.button(
            t("show_later", n=min(WHOLE, left)),
            key="show-later",
            icon=":material/expand_more:",
            on_click=_go,
            args=(conversation, start + WHOLE),
        )
        st.button(
            t("show_newest"),
            key="show-newest",
            icon=":material/vertical_align_bottom:",
            type="tertiary",
            on_click=to_newest,
            args=(conversation,),
        )


def _go(conversation: Conversation, number: int) -> None:
    st.session_state[_key(conversation)] = number


def _go_to(conversation: Conversation, key: str) -> None:
    """What was chosen is a way, no state: the next choice starts afresh."""
    number, st.session_state[key] = st.session_state[key], None
    if number is not None:
        _go(conversation, number)


def _key(conversation: Conversation) -> str:
    return f"turns-from-{conversation.id}"
