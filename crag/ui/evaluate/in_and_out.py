"""How golden questions come in and go out: one by one, or as a file that the commands read too."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, Literal

import streamlit as st

from crag.errors import CragError
from crag.ui import golden as star
from crag.ui import safe
from crag.ui.evaluate import jobs
from crag.ui.evaluate.table import Table
from crag.ui.state import Process
from crag.ui.texts import Texts

FORMS: Final[dict[Literal["jsonl", "csv"], str]] = {"jsonl": ":material/data_object:", "csv": ":material/table:"}
MOST_MB: Final = 20


def add(process: Process, busy: bool, t: Texts) -> None:
    opened = _popover("add", ":material/add:", busy, t)
    if opened.open:
        from crag.history.golden import Golden

        number = st.session_state.setdefault("golden-add-number", 0)  # fields that were saved start anew
        with opened:
            made = star.fields(Golden(question=""), f"golden-add-{number}", star.paths_of(process), t)
            if made is not None and star.keep(jobs.store_of(process), made, t):
                st.session_state["golden-add-number"] = number + 1
                st.rerun()


def bring_in(process: Process, busy: bool, t: Texts) -> None:
    from crag.evaluation.golden import arrived

    number = st.session_state.setdefault("golden-import-number", 0)  # after an import it is closed again
    opened = _popover("import", ":material/upload:", busy, t, number)
    if not opened.open:
        return
    with opened:
        st.caption(t("golden_import_help"))
        file = st.file_uploader(
            t("golden_import_file"), type=list(FORMS), key=f"golden-import-file-{number}", max_upload_size=MOST_MB
        )
        if file is None:
            return
        try:
            came = arrived(file.name, file.getvalue(), jobs.store_of(process).all())
        except CragError as error:
            st.error(safe.in_markdown(str(error)), icon=":material/error:")
            return
        counts = {"added": len(came.added), "edited": len(came.changed), "same": came.same}
        said = t("golden_comma").join(t(f"golden_n_{name}", n=n) for name, n in counts.items() if n)
        st.markdown(said)
        changes = bool(came.added or came.changed)
        if st.button(
            t("golden_import_do"), key="golden-import-do", type="primary", icon=":material/upload:",
            disabled=not changes,
        ):  # fmt: skip
            jobs.store_of(process).save(came.added, came.changed)
            st.session_state["golden-import-number"] = number + 1
            st.toast(said, icon=":material/check_circle:")
            st.rerun()


def export(table: Table, t: Texts) -> None:
    opened = _popover("export", ":material/download:", False, t)
    if not opened.open:
        return
    from crag.evaluation.golden import written

    with opened:
        st.caption(t("golden_export_help"))
        for form, icon in FORMS.items():
            st.download_button(
                t(f"golden_as_{form}"),
                data=partial(written, table.goldens, form),
                file_name=f"golden.{form}",
                mime="text/csv" if form == "csv" else "application/jsonl",
                key=f"golden-export-{form}",
                icon=icon,
                on_click="ignore",
                type="tertiary",
            )


def _popover(name: str, icon: str, busy: bool, t: Texts, number: int = 0) -> Any:
    return st.popover(
        t(f"golden_{name}"),
        icon=icon,
        key=f"golden-{name}-open-{number}",
        on_change="rerun",
        disabled=busy,
        width="content",
        help=t("golden_save_first") if busy else None,
    )
