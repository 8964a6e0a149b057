"""Strips kept or dropped by hand: one field that lists them by number, whatever their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import streamlit as st

from crag.schema import Changed, GradedStrip, Trace
from crag.ui import pending, safe
from crag.ui.texts import Texts

LONGEST: Final = 80
"""Characters of a strip that tell which one it is."""


def draw(trace: Trace, shown: Sequence[GradedStrip], t: Texts) -> None:
    """Choosing a strip that is kept drops it, choosing a dropped one keeps it; those of `shown` can be chosen."""
    chosen = [change.id for change in pending.of(trace) if change.what is Changed.STRIP]
    strips = {strip.id: strip for strip in trace.strips}
    key = f"strip-changes-{trace.turn_id}"
    st.session_state[key] = [id_ for id_ in chosen if id_ in strips]
    offered = dict.fromkeys([*(strip.id for strip in shown), *st.session_state[key]])
    st.multiselect(
        t("strip_changes"),
        list(offered),
        key=key,
        format_func=lambda id_: _named(strips[id_], t),
        placeholder=t("strip_changes_choose"),
        help=t("strip_changes_help"),
        on_change=_keep,
        args=(trace, key),
    )


def notes(trace: Trace, t: Texts) -> dict[str, str]:
    """What is to become of the strips that were chosen, by id."""
    changes = [change for change in pending.of(trace) if change.what is Changed.STRIP]
    return {change.id: t("strip_to_keep" if change.after else "strip_to_drop") for change in changes}


def _named(strip: GradedStrip, t: Texts) -> str:
    text = " ".join(safe.clean(strip.text).split())
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return t("strip_drop" if strip.kept else "strip_keep", number=strip.order + 1, text=text)


def _keep(trace: Trace, key: str) -> None:
    chosen, strips = set(st.session_state[key]), {strip.id: strip for strip in trace.strips}
    for change in pending.of(trace):
        if change.what is Changed.STRIP and change.id not in chosen:
            pending.forget(trace, Changed.STRIP, change.id)
    known = {change.id for change in pending.of(trace) if change.what is Changed.STRIP}
    for id_ in st.session_state[key]:
        if id_ not in known:
            kept = strips[id_].kept
            pending.put(trace, pending.made(Changed.STRIP, not kept, kept, id_))
