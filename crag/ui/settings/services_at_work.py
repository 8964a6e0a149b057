"""Who does what with the settings as they stand, and a test of each of them by a click."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from crag.ui import safe
from crag.ui.money import money
from crag.ui.settings.person import Person
from crag.ui.state import Process
from crag.ui.texts import Texts
from crag.ui.texts.told import translated

if TYPE_CHECKING:
    from crag.runtime import Job
    from crag.services import Service, Tested

TICK = 0.3
TESTS: Final = "settings-tests"
"""Where a session has, by task, the service that it tested last, and the job."""
OWN: Final = ("", "extractive", "idf", "builtin")
"""Names of services that are parts of CRAG."""
ICONS = {
    "read": ":material/picture_as_pdf:",
    "embed": ":material/scatter_plot:",
    "grade": ":material/grading:",
    "write": ":material/edit_note:",
    "rewrite": ":material/manage_search:",
    "search": ":material/public:",
}


def draw(process: Process, person: Person, t: Texts) -> None:
    """One row for each task; who reads and embeds as it will be when the house is opened anew."""
    from crag.services import services  # with assembly: seconds that the first paint need not wait

    st.html(f"<h3 class='crag-part'>{t('part_who')}</h3>")
    with st.container(border=True, key="services", gap="small"):
        for service in services(person.resolved.settings):
            _draw_service(process, person, service, t)


def tested(service: Service) -> Job[Tested] | None:
    """The last test of a service as it stands now, in this session."""
    known, job = st.session_state.get(TESTS, {}).get(service.task, (None, None))
    return job if known == service else None


def _draw_service(process: Process, person: Person, service: Service, t: Texts) -> None:
    with st.container(key=f"service-{service.task}", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            name = t(f"service_{service.name}") if service.name in OWN else service.name
            where = t("service_here") if not service.host else t("service_at", host=service.host)
            said = f"**{safe.in_markdown(name)}**" + (f" :small[{safe.in_markdown(where)}]" if service.name else "")
            row = t("service_row", task=t(f"task_{service.task}"), name=said)
            st.markdown(f"{ICONS[service.task]} {row}", width="stretch")
            if service.can_be_tested:
                _draw_test(process, person, service, t)
        if service.task == "search":
            _draw_budget(person, t)
        if service.can_be_tested:
            _draw_result(person, service, t)


def _draw_budget(person: Person, t: Texts) -> None:
    """How much of the day's searches is used, and what it cost."""
    from crag.services import searches_used

    settings = person.resolved.settings
    used = searches_used(settings)
    if used is None:
        return
    cost = f" {t('searches_cost', cost=money(used * settings.web_price, settings.currency))}"
    st.caption(t("searches_used", n=used, limit=settings.web_daily_searches) + (cost if settings.web_price else ""))


def _draw_test(process: Process, person: Person, service: Service, t: Texts) -> None:
    job = tested(service)
    st.button(
        t("test"),
        key=f"test-{service.task}",
        icon=":material/network_check:",
        on_click=_test,
        args=(process, person, service),
        disabled=job is not None and job.running,
        help=t(f"test_help_{service.task}" if service.task in ("search", "read") else "test_help"),
    )


def _test(process: Process, person: Person, service: Service) -> None:
    job = process.test(service, person.resolved.settings)
    st.session_state.setdefault(TESTS, {})[service.task] = (service, job)


def _draw_result(person: Person, service: Service, t: Texts) -> None:
    """How the last test went; while it runs, looked at again and again."""
    job = tested(service)
    if job is None:
        return
    if job.running:
        _follow(service, t)
    elif job.error:
        st.error(safe.in_markdown(job.error), icon=":material/error:")
    else:
        _draw_tested(job.events[-1], person.settings.currency, t)


@st.fragment(run_every=TICK)
def _follow(service: Service, t: Texts) -> None:
    job = tested(service)
    st.caption(f":material/progress_activity: {t('testing')}")
    if job is None or not job.running:
        st.rerun()


def _draw_tested(found: Tested, currency: str, t: Texts) -> None:
    cost = f" {t('test_cost', cost=money(found.cost, currency))}" if found.cost is not None else ""
    show, icon = (st.success, ":material/check_circle:") if found.ok else (st.error, ":material/error:")
    show(safe.in_markdown(translated(found.text, t.language) + cost), icon=icon)
    if found.notice:
        st.warning(safe.in_markdown(translated(found.notice, t.language)), icon=":material/warning:")
