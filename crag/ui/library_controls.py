"""What can be done with one file on the Knowledge base page: read it again, give its password, delete it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import streamlit as st

from crag.errors import CragError
from crag.events import FileRow
from crag.knowledge_base.health import OcrMode
from crag.ui import safe
from crag.ui.state import Process
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from crag.knowledge_base.base import KnowledgeBase

DOOMED: Final = "library-doomed"
"""Where the path of the file stands that shall perhaps be deleted."""
REFUSED: Final = "library-read-again-refused"
"""Where the path of the file stands that was not read again, because a build was running."""
MODES: Final[tuple[OcrMode, ...]] = ("auto", "off", "force")


def draw(
    process: Process, base: KnowledgeBase, row: FileRow, building: bool, gone: Callable[[], None], t: Texts
) -> None:
    """The row of controls under the file's numbers; `gone` is called when the file is deleted."""
    if st.session_state.get(REFUSED) == row.path:
        st.warning(t("read_again_later"), icon=":material/hourglass_top:")
        if not building:
            st.session_state[REFUSED] = None
    if building:
        st.caption(f":material/progress_activity: {t('being_built')}")
    elif (failed := process.failed_again(row.path)) is not None:
        st.error(safe.in_markdown(failed), icon=":material/error:")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="file-controls"):
        _read_again(process, base, row, building, t)
        st.space("stretch")
        st.button(
            t("delete"),
            key="delete-file",
            icon=":material/delete:",
            type="tertiary",
            disabled=building,
            on_click=_consider,
            args=(row.path,),
        )
    if st.session_state.get(DOOMED) == row.path and not building:
        _confirm(base, row.path, gone, t)


def _read_again(process: Process, base: KnowledgeBase, row: FileRow, building: bool, t: Texts) -> None:
    own = base.options().get(row.path)
    held = own or process.settings.ocr
    chosen = st.segmented_control(
        t("ocr_own" if own else "ocr_usual", mode=t(f"ocr_{held}")),
        MODES,
        format_func=lambda mode: t(f"ocr_{mode}"),
        default=held,
        required=True,
        key=f"ocr-{row.path}-{held}",
        help=t("ocr_help"),
        disabled=building,
        width="content",
    )
    st.button(
        t("read_again"),
        key="read-again",
        icon=":material/refresh:",
        type="secondary" if chosen == held else "primary",
        on_click=_again,
        args=(process, row.path, None if chosen == held else chosen),
        disabled=building,
    )


def _again(process: Process, path: str, ocr: OcrMode | None) -> None:
    st.session_state[REFUSED] = None if process.read_again(path, ocr) else path


def _consider(path: str | None) -> None:
    st.session_state[DOOMED] = path


def _confirm(base: KnowledgeBase, path: str, gone: Callable[[], None], t: Texts) -> None:
    """The second step of deleting: what goes is named."""
    with st.container(border=True, key="delete-sure"):
        st.markdown(t("delete_sure", file=safe.in_markdown(path)))
        with st.container(horizontal=True, gap="small"):
            st.button(t("delete_not"), key="delete-not", on_click=_consider, args=(None,))
            sure = st.button(t("delete_yes"), key="delete-yes", type="primary", icon=":material/delete:")
        if not sure:
            return
        try:
            with st.spinner(t("deleting")):
                base.delete(path)
        except CragError as error:
            st.error(safe.in_markdown(str(error)), icon=":material/error:")
            return
    _consider(None)
    gone()
    st.rerun()


def draw_password(
    process: Process, base: KnowledgeBase, path: str, read: bool, building: bool, t: Texts, place: str = ""
) -> None:
    """The field for the password of a protected file; `read`: the file is then read again, else its pages are drawn.

    `place` tells fields of one page apart.
    """
    form = st.form(f"password-form{place}", clear_on_submit=True, border=False)
    row = form.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"password-row{place}")
    with row:
        given = st.text_input(
            t("password"),
            type="password",
            key=f"password-{path}{place}",
            icon=":material/key:",
            help=t("password_help"),
            disabled=building,
            width=320,
        )
        submitted = st.form_submit_button(
            t("password_read" if read else "password_show"),
            key=f"password-give{place}",
            disabled=building,
            type="primary",
        )
    if not (submitted and given):
        return
    try:
        base.set_password(path, given)
    except CragError as error:
        st.error(safe.in_markdown(str(error)), icon=":material/error:")
        return
    if read:
        _again(process, path, None)
    st.rerun()
