"""What leaves the machine: with the settings as they stand, and with each choice that could be made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from config import Settings
from crag.options import CHANGEABLE, option
from crag.ui import safe
from crag.ui.settings import keys
from crag.ui.settings.fields import choice
from crag.ui.settings.person import Person
from crag.ui.settings.wrong import label
from crag.ui.state import Process
from crag.ui.texts import Texts
from crag.ui.what_leaves import what_leaves

if TYPE_CHECKING:
    from crag.services import Service


def draw_sentence(person: Person, t: Texts) -> None:
    """With the present settings, in one sentence."""
    from crag.services import leaving  # with assembly: seconds that the first paint need not wait

    outside = leaving(person.settings, person.opened)
    icon = ":material/cloud_upload:" if outside else ":material/lock:"
    st.info(safe.in_markdown(what_leaves(outside, t)), icon=icon)


def draw(process: Process, person: Person, t: Texts) -> None:
    draw_sentence(person, t)
    st.caption(t("stays"))
    _keys(process, person, t)
    st.html(f"<h3 class='crag-part'>{t('privacy_choices')}</h3>")
    st.caption(t("privacy_choices_help"))
    heads = "".join(f"<th scope='col'>{t(f'privacy_{column}')}</th>" for column in ("task", "what", "where"))
    rows = "".join(_row(task, what, places, t) for (task, what), places in choices(person.settings, t).items())
    st.html(f"<div class='crag-wide'><table class='crag-calls crag-choices'><tr>{heads}</tr>{rows}</table></div>")


def _keys(process: Process, person: Person, t: Texts) -> None:
    """Every key that is set, wherever it belongs on the other groups."""
    st.html(f"<h3 class='crag-part'>{t('privacy_keys')}</h3>")
    found = [name for name in sorted(CHANGEABLE) if option(name).kind == "key" and keys.key_of(person, name)]
    if not found:
        st.caption(t("privacy_no_keys"))
    for name in found:
        with st.container(horizontal=True, vertical_alignment="center", key=f"held-{name}"):
            st.markdown(safe.in_markdown(label(name, t)), width="content")
            keys.draw_state(process, person, name, t)


def choices(settings: Settings, t: Texts) -> dict[tuple[str, str], list[str]]:
    """For every choice that could be made: by task and what leaves, to whom; with nothing that leaves, by whom."""
    from crag.services import services

    tasks: tuple[tuple[str, str, dict[str, str]], ...] = (
        ("read", "parser", {}),
        ("embed", "embedding_provider", {}),
        ("grade", "grader_provider", {"evaluator": "llm"}),
        ("write", "llm_provider", {}),
        ("search", "web_provider", {"web": "auto"}),
    )
    found: dict[tuple[str, str], list[str]] = {}
    for task, field, beside in tasks:
        for provider in option(field).choices:
            if provider in ("", "none"):
                continue
            made = settings.model_copy(update={**beside, field: provider})
            service = next(service for service in services(made) if service.task == task)
            found.setdefault((task, _leaves(service, t)), []).append(_place(service, choice(field, provider, t)))
    return dict(sorted(found.items(), key=lambda row: ([task for task, _, _ in tasks].index(row[0][0]), -len(row[1]))))


def _leaves(service: Service, t: Texts) -> str:
    return t("and").join(t(f"sends_{thing}") for thing in service.sends) if service.outside else t("privacy_nothing")


def _place(service: Service, name: str) -> str:
    """The name of a choice, with its address where that tells more."""
    known = service.host and "." in service.host and service.outside
    return f"{name} ({service.host})" if known else name


def _row(task: str, what: str, places: list[str], t: Texts) -> str:
    cells = (t(f"task_{task}"), what, t("and").join(places))
    return f"<tr>{''.join(f'<td>{safe.in_html(cell)}</td>' for cell in cells)}</tr>"
