"""The Knowledge base page: all files in a table, the pages of one as thumbnails, one page as it was read and cut."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from crag.errors import CragError
from crag.events import FileRow
from crag.knowledge_base.opening import wants_password
from crag.ui import library_controls, library_file, library_page, safe
from crag.ui.knowledge import Overview
from crag.ui.state import Process
from crag.ui.texts import Texts
from crag.ui.texts.files import translated

if TYPE_CHECKING:
    from crag.knowledge_base.base import KnowledgeBase

MOST_NAMES: Final = 500
"""So many files of other kinds are named."""
DELETED: Final = "library-deleted"
"""Where the path of the file waits that was just deleted, until the table has said so."""
FILE, PAGE = "f", "p"
"""The query parameters that name a file and a page, so that a reload shows them again."""


def draw(process: Process, overview: Overview, t: Texts) -> None:
    """The table, the file that the address names, or its page."""
    if process.house is None:
        return
    base = process.house.knowledge_base
    row = next((row for row in overview.rows if row.path == st.query_params.get(FILE)), None)
    with st.container(key="library"):
        try:
            if row is None:
                _files(process, overview, t)
            elif (number := _number(st.query_params.get(PAGE))) and number <= row.pages:
                library_page.draw(base, row.path, number, go, t)
            else:
                _file(process, base, row, overview.building, t)
        except CragError as error:
            st.error(safe.in_markdown(str(error)), icon=":material/error:")
            st.button(t("all_files"), key="back-to-files", icon=":material/arrow_back:", on_click=go)


def go(path: str | None = None, page: int | None = None) -> None:
    """Puts a file, and a page of it, into the address; without them the table."""
    for name, value in ((FILE, path), (PAGE, page)):
        if value is None:
            st.query_params.pop(name, None)
        else:
            st.query_params[name] = str(value)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and 0 < int(text) < 10**6 else None


def _file(process: Process, base: KnowledgeBase, row: FileRow, building: bool, t: Texts) -> None:
    st.button(t("all_files"), key="back-to-files", icon=":material/arrow_back:", type="tertiary", on_click=go)
    st.subheader(safe.in_markdown(row.path), anchor=False)
    library_file.draw_facts(row, t)
    if wants_password(row.error):
        library_controls.draw_password(process, base, row.path, True, building, t)
    library_controls.draw(process, base, row, building, partial(_deleted, row.path), t)
    locked = partial(library_controls.draw_password, process, base, row.path, False, building, t)
    library_file.draw_pages(base, row.path, go, locked, t)


def _deleted(path: str) -> None:
    """Back to the table, which then says so."""
    st.session_state[DELETED] = path
    go()


def _files(process: Process, overview: Overview, t: Texts) -> None:
    st.header(t("knowledge_base"), anchor=False)
    if overview.error:
        st.error(safe.in_markdown(overview.error), icon=":material/error:")
    st.session_state.pop(library_controls.DOOMED, None)  # whoever comes back has not deleted it
    if (path := st.session_state.pop(DELETED, None)) is not None:
        st.toast(t("deleted", file=safe.in_markdown(path)), icon=":material/delete:")
    if not overview.rows:
        st.caption(t("no_rows"))
    else:
        size = process.house.knowledge_base.size_on_disk() if process.house else 0
        st.caption(f"{_totals(overview, t)} · {t('index_size', mb=size / 1e6)}")
        _table(process, overview.rows, t)
    if overview.ignored:
        with st.expander(t("ignored", n=len(overview.ignored)), icon=":material/block:", key="library-ignored"):
            st.caption(t("ignored_help"))
            names = "".join(f"<li>{safe.in_html(name)}</li>" for name in overview.ignored[:MOST_NAMES])
            st.html(f"<ul class='crag-list'>{names}</ul>")
            if len(overview.ignored) > MOST_NAMES:
                st.caption(t("and_more", n=len(overview.ignored) - MOST_NAMES))


def _totals(overview: Overview, t: Texts) -> str:
    parts = [t("kb_files", n=len(overview.indexed)), t("kb_passages", n=overview.passages)]
    parts.append(t("n_pages", n=sum(row.pages for row in overview.indexed)))
    if read := sum(row.ocr_pages for row in overview.indexed):
        parts.append(t("n_ocr", n=read))
    if failed := sum(bool(row.error) for row in overview.rows):
        parts.append(t("n_not_indexed", n=failed))
    return " · ".join(parts)


def worst_first(rows: Sequence[FileRow]) -> list[FileRow]:
    """What is not indexed, then what has the most warnings, then by name."""
    return sorted(rows, key=lambda row: (not row.error, -len(row.warnings), row.path.casefold()))


def _table(process: Process, rows: Sequence[FileRow], t: Texts) -> None:
    """A click on any cell opens its file."""
    wanted = st.text_input(t("search_files"), key="library-search", icon=":material/search:", placeholder=t("name"))
    words = wanted.casefold().split()
    found = [row for row in worst_first(rows) if all(word in row.path.casefold() for word in words)]
    if not found:
        st.caption(t("no_such_file"))
        return
    st.caption(t("open_file_help"))
    sizes = process.house.knowledge_base.pages.sizes() if process.house else {}
    opened = st.session_state.setdefault("library-opened", 0)  # a table that has been clicked starts anew
    event: Any = st.dataframe(
        _columns(found, sizes, t),
        column_config=_config(t),
        hide_index=True,
        height=min(38 + 35 * len(found), 560),
        on_select="rerun",
        selection_mode="single-cell",
        key=f"library-files-{opened}",
        placeholder="–",
        alt=t("files_alt"),
    )
    if cells := event.selection.cells:
        st.session_state["library-opened"] = opened + 1
        go(found[cells[0][0]].path)
        st.rerun()


def _columns(rows: Sequence[FileRow], sizes: dict[str, int], t: Texts) -> dict[str, list[Any]]:
    kinds = ["failed" if row.error else "warned" if row.warnings else "ok" for row in rows]
    return {
        "file": [safe.clean(row.path) for row in rows],
        "state": [t(f"file_{kind}") for kind in kinds],
        "note": [_note(row, t) for row in rows],
        "pages": [row.pages if not row.error else None for row in rows],
        "passages": [row.passages if not row.error else None for row in rows],
        "ocr": [row.ocr_pages if not row.error else None for row in rows],
        "warnings": [len(row.warnings) + bool(row.error) for row in rows],
        "seconds": [row.seconds for row in rows],
        "size": [sizes.get(row.path) for row in rows],
    }


def _note(row: FileRow, t: Texts) -> str:
    notes = (row.error,) if row.error else row.warnings
    return safe.clean(" ".join(translated(note, t.language) for note in notes))


def _config(t: Texts) -> dict[str, Any]:
    number = st.column_config.NumberColumn
    return {
        "file": st.column_config.TextColumn(t("column_file"), width="medium", pinned=True),
        "state": st.column_config.TextColumn(t("column_state")),
        "note": st.column_config.TextColumn(t("column_note"), width="medium"),
        "pages": number(t("column_pages"), format="localized"),
        "passages": number(t("column_passages"), format="localized"),
        "ocr": number(t("column_ocr"), format="localized", help=t("column_ocr_help")),
        "warnings": number(t("column_warnings")),
        "seconds": number(t("column_seconds"), format="%.1f"),
        "size": number(t("column_size"), format="bytes"),
    }
