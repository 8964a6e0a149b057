"""One file of the knowledge base: its numbers and notes, and its pages as thumbnails with their health."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import streamlit as st

from crag.errors import PageImageError
from crag.events import FileRow
from crag.ui import safe
from crag.ui.texts import Texts
from crag.ui.texts.files import translated

if TYPE_CHECKING:
    from crag.knowledge_base.base import KnowledgeBase
    from crag.knowledge_base.pages import PageRow

AT_ONCE: Final = 24
"""Thumbnails; more are leafed through."""
WIDTH: Final = 180
"""Pixels of a thumbnail."""
FINE: Final = ("text",)

Go = Callable[[str | None, int | None], None]


def draw_facts(row: FileRow, t: Texts) -> None:
    """Pages, passages, pages read by OCR, seconds; the reason why it is not indexed, and its warnings."""
    if row.error:
        st.error(safe.in_markdown(translated(row.error, t.language)), icon=":material/error:")
    else:
        parts = [t("file_numbers", pages=row.pages, n=row.passages)]
        parts += [t("n_ocr", n=row.ocr_pages)] if row.ocr_pages else []
        st.caption(" · ".join([*parts, t("seconds", n=row.seconds)]))
    for warning in row.warnings:
        st.warning(safe.in_markdown(translated(warning, t.language)), icon=":material/warning:")


def draw_pages(base: KnowledgeBase, path: str, go: Go, locked: Callable[[], None], t: Texts) -> None:
    """The thumbnails, all or those that want a look; `locked` is drawn where they wait for a password."""
    pages = base.pages.of(path)
    doubtful = [page for page in pages if wants_a_look(page)]
    if doubtful and len(doubtful) < len(pages):
        which = st.segmented_control(
            t("pages_to_show"),
            ["all", "doubtful"],
            format_func=lambda name: t(f"pages_{name}", n=len(pages if name == "all" else doubtful)),
            default="all",
            required=True,
            key="library-pages",
            label_visibility="collapsed",
        )
        pages = doubtful if which == "doubtful" else pages
    part = 1
    if len(pages) > AT_ONCE:
        part = st.pagination(-(-len(pages) // AT_ONCE), key=f"library-part-{len(pages)}")
    seen = pages[(part - 1) * AT_ONCE : part * AT_ONCE]
    images: dict[int, bytes] = {}
    try:
        with st.spinner(t("drawing")):
            images = base.pages.thumbnails(path, [page.number for page in seen], WIDTH) if seen else {}
    except PageImageError as error:
        st.info(t(f"image_{error.reason}"), icon=":material/hide_image:")
        if error.reason == "locked":
            locked()
    with st.container(horizontal=True, gap="small", key="thumbnails"):
        for page in seen:
            _thumbnail(path, page, images.get(page.number), go, t)


def wants_a_look(page: PageRow) -> bool:
    """Not read from a sound text layer, or with something to tell."""
    return page.health not in FINE or page.facts.ocr or bool(page.facts.notes)


def health(page: PageRow, t: Texts) -> list[tuple[str, str]]:
    """(kind, words) for what is worth knowing about a page; kind is ok, warned or failed."""
    if page.facts.ocr:
        found = [("warned", t("health_ocr"))]
    else:
        kind = "ok" if page.health == "text" else "warned" if page.health in ("empty", "doubtful") else "failed"
        found = [(kind, t(f"health_{page.health}"))]
    if page.facts.tables:
        found.append(("fact", t("n_tables", n=page.facts.tables)))
    if page.facts.columns > 1:
        found.append(("fact", t("n_columns", n=page.facts.columns)))
    return found


def badges(page: PageRow, t: Texts) -> str:
    """The same as HTML."""
    return "".join(
        f"<span class='crag-badge crag-{kind}'>{safe.in_html(words)}</span>" for kind, words in health(page, t)
    )


def _thumbnail(path: str, page: PageRow, image: bytes | None, go: Go, t: Texts) -> None:
    """A card; its button covers it whole."""
    wide, high = (page.height, page.width) if page.rotation % 180 else (page.width, page.height)
    ratio = f"aspect-ratio:{max(wide, 1):.1f}/{max(high, 1):.1f}"
    inside = f"<div class='crag-no-image' style='{ratio}'>{safe.in_html(t('no_image'))}</div>"
    if image:
        inside = f"<img src='data:image/png;base64,{base64.b64encode(image).decode()}' alt=''>"
    with st.container(key=f"thumb-{page.number}", width=WIDTH // 2 + 64, gap=None):
        st.html(f"<div class='crag-thumb'>{inside}</div><div class='crag-badges'>{badges(page, t)}</div>")
        st.button(
            t("page_n", n=page.number),
            key=f"open-{page.number}",
            type="tertiary",
            on_click=go,
            args=(path, page.number),
        )
