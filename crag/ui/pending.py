"""What a person has changed of an answer on this page and not yet answered with: kept in the session, per answer."""

from __future__ import annotations

import streamlit as st

from crag.rulings import ruling
from crag.schema import Change, Changed, Thresholds, Trace
from crag.turn import now


def of(trace: Trace) -> tuple[Change, ...]:
    """The changes in the order in which they were made."""
    return tuple(st.session_state.get(_key(trace), {}).values())


def made(
    what: Changed, after: Thresholds | bool | str | None, before: Thresholds | bool | float | str | None, id_: str = ""
) -> Change:
    """A change as it is made now."""
    return Change(what=what, id=id_, before=before, after=after, time=now())


def put(trace: Trace, change: Change) -> None:
    """Notes a change in the place of an earlier one of the same thing; what is as in the trace is no change."""
    forget(trace, change.what, change.id)
    if change.after != ruling(trace.changes, change.what, change.id):
        st.session_state.setdefault(_key(trace), {})[(change.what, change.id)] = change


def forget(trace: Trace, what: Changed, id_: str = "") -> None:
    """Takes one change back."""
    st.session_state.get(_key(trace), {}).pop((what, id_), None)


def forget_all(trace: Trace) -> None:
    st.session_state.pop(_key(trace), None)


def ruled(trace: Trace, what: Changed, id_: str = "") -> object:
    """To what a thing would be set by hand with these changes; None: what the scores say holds."""
    changed = next((change for change in of(trace) if (change.what, change.id) == (what, id_)), None)
    return changed.after if changed else ruling(trace.changes, what, id_)


def _key(trace: Trace) -> str:
    return f"changes-of-{trace.turn_id}"
