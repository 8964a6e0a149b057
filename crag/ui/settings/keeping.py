"""What a click on the Settings page does: check a value, keep it, take it back. Draws nothing."""

from __future__ import annotations

from typing import Any, Final

import streamlit as st
from pydantic import SecretStr

from crag.errors import HistoryError
from crag.history.preferences import Preferences
from crag.options import option
from crag.personal import Problem, check, check_key
from crag.ui.settings.person import KEYS
from crag.ui.state import Process

WRONG: Final = "settings-wrong"
"""Where a session has, by setting, what was wrong with the value that was entered last, or why it was not kept."""


def wrong(name: str) -> Problem | str | None:
    """A problem of the value, or the sentence of a store that did not keep it."""
    found: Problem | str | None = st.session_state.get(WRONG, {}).get(name)
    return found


def forgive(name: str) -> None:
    """Nothing is wrong any more."""
    _say(name, None)


def keep(process: Process, name: str, value: Any) -> None:
    """Keeps a value, or remembers what is wrong with it. One that the environment has anyway is no change, but a
    threshold that is set goes before a calibration, so it stays set."""
    if problem := check(process.environment, name, value):
        _say(name, problem)
    elif value == getattr(process.environment, name) and option(name).kind != "share":
        forget(process, name)
    else:
        _try(name, lambda: Preferences(process.store).put(name, value))


def forget(process: Process, *names: str) -> None:
    """Back to the environment or the default; a key of this visit goes too."""
    keys = st.session_state.get(KEYS, {})
    for name in names:
        keys.pop(name, None)
    _try(names[0], lambda: Preferences(process.store).remove(*names))


def keep_key(process: Process, name: str, key: str, remember: bool) -> None:
    """For this visit, or on this machine."""
    key = key.strip()
    if problem := check_key(name, key):
        _say(name, problem)
    elif remember:
        st.session_state.setdefault(KEYS, {}).pop(name, None)
        _try(name, lambda: Preferences(process.store).put(name, key))
    else:
        st.session_state.setdefault(KEYS, {})[name] = SecretStr(key)
        _say(name, None)


def _try(name: str, work: Any) -> None:
    try:
        work()
    except HistoryError as error:
        _say(name, str(error))
    else:
        _say(name, None)


def _say(name: str, problem: Problem | str | None) -> None:
    st.session_state.setdefault(WRONG, {})[name] = problem
