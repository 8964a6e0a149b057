"""One setting on the page: its name and help, its widget, where its value comes from, and what is wrong with it."""

from __future__ import annotations

from typing import Any, Final

import streamlit as st

from crag.options import Option, option, variable
from crag.personal import Problem
from crag.ui import safe
from crag.ui.settings import keeping
from crag.ui.settings.person import Person
from crag.ui.settings.wrong import BRANDS, label, sentence, why
from crag.ui.state import Process
from crag.ui.texts import CATALOG, Texts

BESIDE_EACH_OTHER: Final = 40
"""Choices whose labels have at most so many characters in all, with their edges, stand beside each other."""
EDGES: Final = 4
COLUMNS: Final = (11, 9)


def draw(process: Process, person: Person, name: str, t: Texts) -> None:
    """A row; a value that cannot be used stays as it was typed, with what is wrong below it."""
    key = f"set-{name}"
    if key not in st.session_state:
        keeping.forgive(name)  # what was typed has gone with the widget
    problem = keeping.wrong(name)
    if problem is None or key not in st.session_state:
        st.session_state[key] = _entered(option(name), person.wanted[name])
    with st.container(key=f"setting-{name}", gap="xsmall"):
        left, right = st.columns(COLUMNS, gap="medium")
        with left:
            name_and_help(name, t)
        with right, st.container(gap="xsmall"):
            _widget(process, option(name), key, t)
            _notes(process, person, name, problem, t)


def name_and_help(name: str, t: Texts) -> None:
    with st.container(gap=None):
        st.markdown(f"**{safe.in_markdown(label(name, t))}**")
        st.caption(t(f"help_{name}"))


def choice(name: str, value: str, t: Texts) -> str:
    """What a choice is called."""
    return t(f"choice_{name}_{value}") if f"choice_{name}_{value}" in CATALOG else BRANDS.get(value, value)


def shown(name: str, value: Any, t: Texts) -> str:
    """A value as it is written on the page."""
    kind = option(name).kind
    if kind in ("choice", "switch"):
        return choice(name, str(value), t) if kind == "choice" else t(f"switch_{value}")
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) if value != "" else t("nothing_value")


def _entered(option: Option, value: Any) -> Any:
    """A value as its widget holds it."""
    match option.kind:
        case "switch":
            return value == "on"
        case "whole":
            return int(value)
        case "decimal" | "share":
            return float(value)
        case _:
            return value


def _changed(process: Process, name: str) -> None:
    value = st.session_state[f"set-{name}"]
    if isinstance(value, bool):
        value = "on" if value else "off"
    if value is not None:  # a number that was cleared is drawn again as it was
        keeping.keep(process, name, value.strip() if isinstance(value, str) else value)


def _widget(process: Process, option: Option, key: str, t: Texts) -> None:
    name = option.name
    common: dict[str, Any] = {
        "label": label(name, t),
        "label_visibility": "collapsed",
        "key": key,
        "on_change": _changed,
        "args": (process, name),
    }
    match option.kind:
        case "switch":
            st.toggle(**common)
        case "choice":
            common |= {"options": option.choices, "format_func": lambda value: choice(name, value, t)}
            if sum(len(choice(name, value, t)) + EDGES for value in option.choices) <= BESIDE_EACH_OTHER:
                st.segmented_control(**common, required=True)
            else:
                st.selectbox(**common)
        case "share":
            st.slider(**common, min_value=0.0, max_value=1.0, step=0.01, format="%.2f")
        case "whole":
            low, high = (None if limit is None else int(limit) for limit in (option.low, option.high))
            st.number_input(**common, min_value=low, max_value=high, step=1)
        case "decimal":
            st.number_input(**common, min_value=option.low, max_value=option.high, step=1.0, format="%g")
        case _:
            st.text_input(**common, max_chars=option.longest, autocomplete="off", placeholder=t("nothing_value"))


def _notes(process: Process, person: Person, name: str, problem: Problem | str | None, t: Texts) -> None:
    """What is wrong, what waits, and where the value comes from with the way back."""
    if isinstance(problem, Problem):
        st.error(safe.in_markdown(sentence(problem, t)), icon=":material/error:")
    elif problem is not None:
        st.error(safe.in_markdown(t("setting_not_kept", error=problem)), icon=":material/error:")
    for left_out in person.resolved.left_out:
        if left_out.name == name:
            instead = t("in_force_instead", value=shown(name, getattr(person.resolved.settings, name), t))
            told = t("waits", why=why(left_out, t))
            st.warning(safe.in_markdown(f"{told} {instead}"), icon=":material/hourglass_top:")
    if name in person.late:
        st.caption(f":material/restart_alt: {t('counts_late')}")
    _origin(process, person, name, t)


def _origin(process: Process, person: Person, name: str, t: Texts) -> None:
    found = person.origin(name)
    if found != "here":
        st.caption(t(f"origin_{found}", variable=variable(name)))
        return
    set_there = name in person.environment.model_fields_set
    before = shown(name, getattr(person.environment, name), t)
    told = t("origin_here_environment" if set_there else "origin_here_default", variable=variable(name), value=before)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f":material/edit: {safe.in_markdown(told)}", width="content")
        st.button(
            t("back"),
            key=f"back-{name}",
            type="tertiary",
            icon=":material/undo:",
            help=t("back_help"),
            on_click=keeping.forget,
            args=(process, name),
        )
