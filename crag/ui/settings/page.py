"""The Settings page: its groups, one of them open, and what is to be said of all of them."""

from __future__ import annotations

from typing import Final

import streamlit as st

from crag.options import GROUPS, matters, option
from crag.ui import safe
from crag.ui.dates import day
from crag.ui.settings import fields, keeping, keys, person, privacy, reopening, services_at_work
from crag.ui.settings.person import Person
from crag.ui.state import Process
from crag.ui.texts import Texts

GROUP: Final = "group"
"""The query parameter that names the open group."""
ALL: Final = ("models", "web", "decision", "knowledge", "privacy", "appearance")
ICONS: Final = {
    "models": ":material/hub:",
    "web": ":material/public:",
    "decision": ":material/tune:",
    "knowledge": ":material/library_books:",
    "privacy": ":material/lock:",
    "appearance": ":material/translate:",
}
FOLDED: Final = ("calls",)
"""Parts that few people change."""


def draw(process: Process, t: Texts) -> None:
    """The open group; the others are not drawn."""
    who = person.of(process)
    with st.container(key="settings"):
        st.header(t("settings"), anchor=False)
        if who.error:
            st.error(safe.in_markdown(t("settings_unreadable", error=who.error)), icon=":material/error:")
        group = _group(t)
        reopening.draw(process, who, t)
        if group == "privacy":
            privacy.draw(process, who, t)
        else:
            if group in ("models", "web"):
                privacy.draw_sentence(who, t)
            if group == "models":
                services_at_work.draw(process, who, t)
            elif group == "decision":
                _limits(process, who, t)
            for part in GROUPS[group]:
                _part(process, who, group, part, t)
            if group == "appearance":
                st.caption(t("appearance_help"))
        if group == "knowledge":
            reopening.draw_folders(process, t)
        _all(process, who, t)


def _group(t: Texts) -> str:
    """The group that the address names, else the first."""
    named = st.query_params.get(GROUP, "")
    st.session_state["settings-group"] = named if named in ALL else ALL[0]
    st.segmented_control(
        t("group"),
        ALL,
        key="settings-group",
        format_func=lambda group: f"{ICONS[group]} {t(f'group_{group}')}",
        label_visibility="collapsed",
        required=True,
        on_change=_go,
    )
    return str(st.session_state["settings-group"])


def _go() -> None:
    st.query_params[GROUP] = st.session_state["settings-group"]


def _part(process: Process, who: Person, group: str, part: str, t: Texts) -> None:
    """The settings that mean something with what is chosen, and those that were changed all the same."""
    names = [name for name in GROUPS[group][part] if matters(name, who.wanted) or name in who.stored]
    if not names:
        return
    if part in FOLDED:
        with st.expander(t(f"part_{part}"), key=f"part-{part}"):
            _rows(process, who, names, t)
        return
    if len(GROUPS[group]) > 1:
        st.html(f"<h3 class='crag-part'>{t(f'part_{part}')}</h3>")
    _rows(process, who, names, t)


def _rows(process: Process, who: Person, names: list[str], t: Texts) -> None:
    for name in names:
        draw_one = keys.draw if option(name).kind == "key" else fields.draw
        draw_one(process, who, name, t)


def _limits(process: Process, who: Person, t: Texts) -> None:
    """The thresholds that hold, and where they come from."""
    found = process.limits(who.settings)
    limits = found.thresholds
    said = t("limits_now", upper=limits.upper, lower=limits.lower, strip=limits.strip)
    if found.calibration is not None:
        when, questions = day(found.calibration.day, t), found.calibration.counts.questions
        said = f"{said} {t('limits_calibrated', day=when, n=questions)}"
    st.caption(said)


def _all(process: Process, who: Person, t: Texts) -> None:
    """How much is changed, the way back for all of it, and where it is kept."""
    changed = {*who.stored, *who.keys}
    st.divider()
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.caption(t("counts_next", file=safe.in_markdown(str(process.store.path))), width="stretch")
        if changed:
            with st.popover(t("reset_all"), icon=":material/undo:", key="reset-all"):
                st.markdown(t("settings_changed", n=len(changed)))
                st.caption(t("reset_all_ask"))
                st.button(
                    t("reset_all_do"), key="reset-all-do", on_click=keeping.forget, args=(process, *sorted(changed))
                )
