"""One page of a file: its image with the strips as they were cut, the passages they belong to, its canonical text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from crag.knowledge_base.evidence import Look, Mark, shown
from crag.schema import Passage
from crag.text import language
from crag.ui import safe
from crag.ui.library_file import badges
from crag.ui.panels import sheet
from crag.ui.texts import Texts
from crag.ui.texts.files import translated

if TYPE_CHECKING:
    from crag.knowledge_base.base import KnowledgeBase
    from crag.knowledge_base.pages import Page


def draw(base: KnowledgeBase, path: str, number: int, go: Callable[[str | None, int | None], None], t: Texts) -> None:
    """`number` counts from 1. Raises KnowledgeBaseError where the file has no such page."""
    page = base.pages.page(path, number)
    marks = marks_of(page, t)
    st.button(
        t("all_pages"),
        key="back-to-file",
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=go,
        args=(path, None),
    )
    st.subheader(safe.in_markdown(path), anchor=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="page-bar"):
        sheet.turn_pages(number, len(base.pages.of(path)), partial(go, path), "leaf", t)
        zoom = sheet.zoom("page-zoom", t)
        sheet.download(
            partial(base.pages.marked, path, number, marks, page.size, sheet.DOWNLOAD_DPI),
            f"{path.rpartition('/')[2].removesuffix('.pdf')}-p{number}.png",
            "page-download",
            t,
        )
    cut = t("cut", n=len(page.passages), strips=len({strip for strip, _ in _strips(page)}))
    st.html(f"<div class='crag-badges'>{badges(page.row, t)}<span>{safe.in_html(cut)}</span></div>")
    for note in page.row.facts.notes:
        st.caption(f":material/info: {safe.in_markdown(translated(note, t.language))}")
    image = sheet.picture(partial(base.pages.image, path, number, sheet.ZOOMS[zoom]), t)
    items = "".join(_passage(passage, number, t) for passage in page.passages)
    sheet.draw(image, page.size, marks, items, zoom, t("page_alt", page=number, file=path), t)
    with st.expander(t("canonical_text", n=len(page.words.text)), icon=":material/notes:", key="canonical"):
        if page.words.text:
            st.code(safe.clean(page.words.text), language=None, wrap_lines=True, height=420)
        else:
            st.caption(t("no_text_on_page"))


def _strips(page: Page) -> list[tuple[str, tuple[tuple[int, int], ...]]]:
    """(id, ranges on this page) of each strip once: neighbouring passages share some."""
    number = page.row.number
    found = {
        strip.id: tuple((span.start, span.end) for span in strip.spans if span.page == number)
        for passage in page.passages
        for strip in passage.strips
    }
    return [(key, ranges) for key, ranges in found.items() if ranges]


def marks_of(page: Page, t: Texts) -> tuple[Mark, ...]:
    """A mark per strip that has a place on the page."""
    made = (
        Mark(key=key[:12], look=Look.CUT, rects=shown(page.words, ranges), name=t("strip_n", n=place))
        for place, (key, ranges) in enumerate(_strips(page), 1)
    )
    return tuple(mark for mark in made if mark.rects)


def _passage(passage: Passage, number: int, t: Texts) -> str:
    """Its name and heading, then its strips; pointing at the name shows all of them."""
    keys = [strip.id[:12] for strip in passage.strips]
    others = [page for page in passage.pages if page != number]
    also = f" · {t('also_on', pages=', '.join(map(str, others)))}" if others else ""
    name = f"<b>{safe.in_html(t('passage_n', n=passage.number + 1))}</b>{safe.in_html(also)}"
    heading = f"<br>{safe.in_html(passage.heading)}" if passage.heading else ""
    strips = "".join(
        sheet.item(
            [strip.id[:12]],
            f"<span lang='{language(strip.text)}'>{safe.of_document(strip.text)}</span>",
            "crag-strip-item crag-item-cut"
            + ("" if any(span.page == number for span in strip.spans) else " crag-elsewhere"),
        )
        for strip in passage.strips
    )
    return f"<section>{sheet.item(keys, name + heading, 'crag-passage-item')}{strips}</section>"
