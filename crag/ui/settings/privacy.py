"""What leaves the machine: with the settings as they stand, and with each choice that could be made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, get_args

import streamlit as st

from config import LlmProvider, Settings, WebProvider
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
    rows = "".join(_row(service, name, t) for service, name in choices(person.settings, t))
    heads = "".join(f"<th>{t(f'privacy_{column}')}</th>" for column in ("task", "who", "where", "what"))
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


def choices(settings: Settings, t: Texts) -> Iterator[tuple[Service, str]]:
    """Who would do a task, and what that choice is called, for every choice that sends anything."""
    from crag.services import services

    tasks: tuple[tuple[str, str, tuple[str, ...], dict[str, str]], ...] = (
        ("write", "llm_provider", get_args(LlmProvider), {}),
        ("grade", "grader_provider", get_args(LlmProvider), {"evaluator": "llm"}),
        ("embed", "embedding_provider", option("embedding_provider").choices, {}),
        ("read", "parser", option("parser").choices, {}),
        ("search", "web_provider", get_args(WebProvider), {"web": "auto"}),
    )
    for task, field, providers, beside in tasks:
        for provider in providers:
            if provider == "embedded" and task == "grade":
                continue
            made = settings.model_copy(update={**beside, field: provider})
            service = next(service for service in services(made) if service.task == task)
            if service.sends:
                yield service, choice(field, provider, t)


def _row(service: Service, name: str, t: Texts) -> str:
    what = t("and").join(t(f"sends_{thing}") for thing in service.sends) if service.outside else t("privacy_nothing")
    where = t("service_at", host=service.host) if service.outside else t("service_here")
    cells = (t(f"task_{service.task}"), name, where, what)
    return f"<tr>{''.join(f'<td>{safe.in_html(cell)}</td>' for cell in cells)}</tr>"
