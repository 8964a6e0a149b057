"""Thumbs under an answer, and why: kept with its turn, on this machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import streamlit as st

from crag.ui.texts import Texts

LONGEST_WHY: Final = 500
"""Characters."""


@dataclass
class Opinion:
    """What a person thinks of an answer; `liked` None: nothing was said."""

    liked: bool | None = None
    why: str = ""


Keep = Callable[[bool | None, str], None]
"""Keeps an opinion; another one takes its place, None takes it back."""


def draw_thumbs(turn_id: str, opinion: Opinion, keep: Keep) -> None:
    """The thumbs as they were left."""
    key = f"liked-{turn_id}"
    if opinion.liked is not None:
        st.session_state.setdefault(key, int(opinion.liked))
    st.feedback("thumbs", key=key, on_change=_liked, args=(turn_id, opinion, keep))


def draw_why(turn_id: str, opinion: Opinion, keep: Keep, t: Texts) -> None:
    """The field for the reason, where a thumb was given."""
    if opinion.liked is None:
        return
    key = f"why-{turn_id}"
    st.session_state.setdefault(key, opinion.why)
    st.text_input(
        t("why_liked" if opinion.liked else "why_not"),
        key=key,
        max_chars=LONGEST_WHY,
        placeholder=t("why_placeholder"),
        help=t("why_help"),
        on_change=_why,
        args=(turn_id, opinion, keep),
    )


def _liked(turn_id: str, opinion: Opinion, keep: Keep) -> None:
    """A thumb that is taken back takes its reason along."""
    chosen = st.session_state[f"liked-{turn_id}"]
    opinion.liked = None if chosen is None else bool(chosen)
    if opinion.liked is None:
        opinion.why = ""
        st.session_state.pop(f"why-{turn_id}", None)
    keep(opinion.liked, opinion.why)


def _why(turn_id: str, opinion: Opinion, keep: Keep) -> None:
    opinion.why = st.session_state[f"why-{turn_id}"].strip()
    keep(opinion.liked, opinion.why)
