"""The settings of the person at this page: what is stored for them, and the keys of this visit."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import streamlit as st
from pydantic import SecretStr

from config import Settings
from crag.errors import HistoryError
from crag.options import in_use, needs_reopening
from crag.personal import Origin, Resolved, origin, resolve, wished
from crag.ui.state import Process

log = logging.getLogger(__name__)

KEYS: Final = "settings-keys"
"""Where a session holds the keys that were entered in it: no other session sees them, and they end with it."""
_KNOWN: Final = "settings-known"


@dataclass(frozen=True)
class Person:
    """What one person has changed, and what follows from it."""

    environment: Settings
    opened: Settings
    """What the house was opened with."""
    stored: Mapping[str, Any]
    keys: Mapping[str, SecretStr]
    """Those of this visit; they go before remembered ones."""
    resolved: Resolved
    wanted: Mapping[str, Any]
    """Every setting as the person wants it, also where it waits for another one."""
    error: str | None = None
    """Why what was changed cannot be read."""
    settings: Settings = field(init=False)
    """What the next question is asked with."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", in_use(self.opened, self.resolved.settings))

    @property
    def late(self) -> tuple[str, ...]:
        """What counts only when the house is opened anew."""
        return needs_reopening(self.opened, self.resolved.settings)

    def origin(self, name: str) -> Origin:
        """Where the value comes from that is wanted, whether it holds or waits."""
        changed = name in self.stored or name in self.keys
        return "here" if changed else origin(name, self.environment, self.resolved)


def of(process: Process) -> Person:
    """As things stand now; cheap where nothing has changed since the last run of the page."""
    stored: dict[str, Any] = {}
    error = None
    try:
        stored = process.changed()
    except HistoryError as failure:
        log.info("the changed settings cannot be read", exc_info=True)
        error = str(failure)
    keys: dict[str, SecretStr] = dict(st.session_state.get(KEYS, {}))
    made_of = (stored, keys, process.settings, error)
    known = st.session_state.get(_KNOWN)
    if known is None or known[0] != made_of:
        changed = stored | keys
        found = Person(
            process.environment,
            process.settings,
            stored,
            keys,
            resolve(process.environment, changed),
            wished(process.environment, changed),
            error,
        )
        known = st.session_state[_KNOWN] = (made_of, found)
    person: Person = known[1]
    return person
