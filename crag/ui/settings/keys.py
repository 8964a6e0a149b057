"""A key on the page: entered masked, kept for this visit or remembered when asked for, never shown again."""

from __future__ import annotations

from typing import Final

import streamlit as st
from pydantic import SecretStr

from crag.options import variable
from crag.personal import Problem
from crag.ui import safe
from crag.ui.settings import keeping
from crag.ui.settings.fields import COLUMNS, name_and_help
from crag.ui.settings.person import Person
from crag.ui.settings.wrong import sentence
from crag.ui.state import Process
from crag.ui.texts import Texts

SHOWN_FROM: Final = 13
"""Characters that a key has at least of which the end is shown."""
SHOWN: Final = 4


def draw(process: Process, person: Person, name: str, t: Texts) -> None:
    """A row: what is set, and a form to enter another one."""
    with st.container(key=f"setting-{name}", gap="xsmall"):
        left, right = st.columns(COLUMNS, gap="medium")
        with left:
            name_and_help(name, t)
        with right, st.container(gap="xsmall"):
            draw_state(process, person, name, t)
            _form(process, name, bool(key_of(person, name)), t)
            problem = keeping.wrong(name)
            if problem is not None:
                said = sentence(problem, t) if isinstance(problem, Problem) else t("setting_not_kept", error=problem)
                st.error(safe.in_markdown(said), icon=":material/error:")
            if person.wanted["embedding_provider"] == name.removesuffix("_api_key") and name in person.keys:
                st.warning(safe.in_markdown(t("key_house", variable=variable(name))), icon=":material/info:")


def draw_state(process: Process, person: Person, name: str, t: Texts) -> None:
    """Whether there is a key, where it is kept, and the button that forgets it."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f":material/key: {state(person, name, t)}", width="content")
        if name in person.keys or name in person.stored:
            st.button(
                t("key_forget"),
                key=f"forget-{name}",
                type="tertiary",
                icon=":material/delete:",
                on_click=keeping.forget,
                args=(process, name),
            )


def state(person: Person, name: str, t: Texts) -> str:
    """`set, ends in …abcd · remembered on this machine`; of a key at most its last four characters."""
    key = key_of(person, name)
    if not key:
        return t("key_none")
    end = ending(key)
    said = t("key_ends", end=safe.in_markdown(end)) if end else t("key_set")
    if name in person.keys:
        return f"{said} · {t('key_visit')}"
    if name in person.stored:
        return f"{said} · {t('key_remembered')}"
    return f"{said} · {t('key_environment', variable=variable(name))}"


def ending(key: str) -> str:
    """The last characters of a key that is long enough to give them away; else nothing."""
    return key[-SHOWN:] if len(key) >= SHOWN_FROM else ""


def key_of(person: Person, name: str) -> str:
    """The key that is used; empty: none."""
    key: SecretStr = person.wanted[name]
    return key.get_secret_value().strip()


def _form(process: Process, name: str, there: bool, t: Texts) -> None:
    with st.form(f"form-{name}", border=False, clear_on_submit=True):
        st.text_input(
            t("key_another" if there else "key_enter"),
            key=f"key-{name}",
            type="password",
            autocomplete="off",
            placeholder=t("key_another" if there else "key_enter"),
            label_visibility="collapsed",
        )
        st.checkbox(t("key_remember"), key=f"remember-{name}")
        st.caption(safe.in_markdown(t("key_remember_help", file=str(process.store.path.name))))
        st.form_submit_button(
            t("key_use"), key=f"use-{name}", icon=":material/check:", on_click=_entered, args=(process, name)
        )


def _entered(process: Process, name: str) -> None:
    key = st.session_state.pop(f"key-{name}", "") or ""
    if key.strip():
        keeping.keep_key(process, name, key, bool(st.session_state.get(f"remember-{name}")))
