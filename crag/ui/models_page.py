"""The Models page: who does what with the present settings, what leaves the machine, and a test of each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crag.ui import safe
from crag.ui.money import money
from crag.ui.state import Process
from crag.ui.texts import Texts
from crag.ui.what_leaves import what_leaves

if TYPE_CHECKING:
    from crag.services import Service, Tested

TICK = 0.3
ICONS = {
    "embed": ":material/scatter_plot:",
    "grade": ":material/grading:",
    "write": ":material/edit_note:",
    "rewrite": ":material/manage_search:",
    "search": ":material/public:",
}


def draw(process: Process, t: Texts) -> None:
    from crag.services import leaving, services  # with assembly: seconds that the first paint need not wait

    with st.container(key="models"):
        st.header(t("models"), anchor=False)
        outside = leaving(process.settings)
        icon = ":material/cloud_upload:" if outside else ":material/lock:"
        st.info(safe.in_markdown(what_leaves(outside, t)), icon=icon)
        found = services(process.settings)
        for service in found:
            _draw_service(process, service, t)
        st.caption(t("models_help"))


def _draw_service(process: Process, service: Service, t: Texts) -> None:
    with st.container(border=True, key=f"service-{service.task}", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            name = t(f"service_{service.name}") if service.name in ("", "extractive", "idf") else service.name
            where = t("service_here") if not service.host else t("service_at", host=service.host)
            said = f"**{safe.in_markdown(name)}**" + (f" :small[{safe.in_markdown(where)}]" if service.name else "")
            st.markdown(f"{ICONS[service.task]} {t(f'task_{service.task}')}: {said}", width="stretch")
            if service.can_be_tested:
                _draw_test(process, service, t)
        if service.can_be_tested:
            _draw_result(process, service, t)


def _draw_test(process: Process, service: Service, t: Texts) -> None:
    job = process.tests.get(service.task)
    st.button(
        t("test"),
        key=f"test-{service.task}",
        icon=":material/network_check:",
        on_click=process.test,
        args=(service,),
        disabled=job is not None and job.running,
        help=t("test_help"),
    )


def _draw_result(process: Process, service: Service, t: Texts) -> None:
    """How the last test went; while it runs, looked at again and again."""
    job = process.tests.get(service.task)
    if job is None:
        return
    if job.running:
        _follow(process, service, t)
    elif job.error:
        st.error(safe.in_markdown(job.error), icon=":material/error:")
    else:
        _draw_tested(job.events[-1], process.settings.currency, t)


@st.fragment(run_every=TICK)
def _follow(process: Process, service: Service, t: Texts) -> None:
    job = process.tests.get(service.task)
    st.caption(f":material/progress_activity: {t('testing')}")
    if job is None or not job.running:
        st.rerun()


def _draw_tested(tested: Tested, currency: str, t: Texts) -> None:
    cost = f" {t('test_cost', cost=money(tested.cost, currency))}" if tested.cost is not None else ""
    show, icon = (st.success, ":material/check_circle:") if tested.ok else (st.error, ":material/error:")
    show(safe.in_markdown(tested.text + cost), icon=icon)
    if tested.notice:
        st.warning(safe.in_markdown(tested.notice), icon=":material/warning:")
