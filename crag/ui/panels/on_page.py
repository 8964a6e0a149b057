"""The evidence on the page: the image of a source's page with its strips, kept, dropped and cited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from crag.cited import look_of, strips_on
from crag.errors import CragError
from crag.knowledge_base.evidence import Look, Mark, PageWords, shown
from crag.schema import Fate, GradedStrip, Trace
from crag.ui import library, safe, state
from crag.ui.library_controls import draw_password
from crag.ui.panels import sheet
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from crag.knowledge_base.base import KnowledgeBase
    from crag.knowledge_base.pages import Page


@dataclass(frozen=True)
class Place:
    """A page of a content that this answer has to do with; `n` where it is a numbered source."""

    content: str
    file: str
    page: int
    n: int | None = None


def places(trace: Trace) -> list[Place]:
    """Sources in their order, then the other pages that documents stand on; none for the web."""
    found = [Place(s.content, s.file, s.page, s.n) for s in trace.sources if not s.url]
    seen = {(place.content, place.page) for place in found}
    for document in trace.documents:
        for page in document.pages if not document.url else ():
            if (document.content, page) not in seen:
                seen.add((document.content, page))
                found.append(Place(document.content, document.file, page))
    return found


def open_at(turn_id: str, number: int) -> None:
    """Opens the panel of a turn at one of its places; for a click on a citation."""
    st.session_state[f"panel-{turn_id}"] = "on_page"
    st.session_state[f"place-{turn_id}"] = number
    _leaf(turn_id, None)


def draw(trace: Trace, t: Texts) -> None:
    """The page of one source, chosen here or by a click on its citation."""
    house = state.process().house
    known = places(trace)
    if house is None or not known:
        st.caption(t("no_documents"))
        return
    number = st.selectbox(
        t("source"),
        range(len(known)),
        format_func=lambda n: _label(known[n], t),
        key=f"place-{trace.turn_id}",
        on_change=_leaf,
        args=(trace.turn_id, None),
    )
    place = known[number or 0]
    leaf = st.session_state.get(f"leaf-{trace.turn_id}") or place.page
    try:
        _draw(house.knowledge_base, trace, place, leaf, t)
    except CragError as error:
        st.error(safe.in_markdown(str(error)), icon=":material/error:")


def _leaf(turn_id: str, page: int | None) -> None:
    """Turns to another page of the same file; None: back to the source's own."""
    st.session_state[f"leaf-{turn_id}"] = page


def _label(place: Place, t: Texts) -> str:
    name = safe.clean(t("place", file=place.file, page=place.page))
    return f"[{place.n}] {name}" if place.n is not None else t("place_unused", place=name)


def _draw(base: KnowledgeBase, trace: Trace, place: Place, number: int, t: Texts) -> None:
    path = base.pages.path_of(place.content)
    strips = strips_on(trace, place.content, number)
    if path is None:
        st.info(t("image_gone"), icon=":material/hide_image:")
        sheet.draw(None, (0, 0), (), _items(trace, strips, t), "fit", "", t)
        return
    page = base.pages.page(path, number)
    stale = bool(strips) and not {p.id for p in page.passages} & {d for strip in strips for d in strip.documents}
    marks = () if stale else marks_of(trace, strips, page.words, number, t)
    key = f"sheet-{trace.turn_id}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"bar-{trace.turn_id}"):
        sheet.turn_pages(number, len(base.pages.of(path)), partial(_leaf, trace.turn_id), key, t)
        zoom = sheet.zoom(f"zoom-{trace.turn_id}", t)
        sheet.download(
            partial(base.pages.marked, path, number, marks, page.size, sheet.DOWNLOAD_DPI),
            f"{path.rpartition('/')[2].removesuffix('.pdf')}-p{number}.png",
            f"{key}-download",
            t,
        )
    if stale:
        st.info(t("page_read_anew"), icon=":material/history:")
    locked = partial(draw_password, state.process(), base, path, False, False, t, f"-{trace.turn_id}")
    image = sheet.picture(partial(base.pages.image, path, number, sheet.ZOOMS[zoom]), t, locked)
    with st.container(horizontal=True, vertical_alignment="center", key=f"below-{trace.turn_id}"):
        _legend(trace, strips, page, t)
        _link(path, number, t)
    alt = t("page_alt", page=number, file=path)
    sheet.draw(image, page.size, marks, _items(trace, strips, t), zoom, alt, t)


def _link(path: str, number: int, t: Texts) -> None:
    """To the same page as it was read and cut; the way back leads to this conversation."""
    if (page := st.session_state.get(state.LIBRARY)) is not None:
        kept = {name: st.query_params[name] for name in (state.CONVERSATION,) if name in st.query_params}
        where = kept | {library.FILE: path, library.PAGE: str(number)}
        st.page_link(page, label=t("in_knowledge_base"), icon=":material/library_books:", query_params=where)


def marks_of(trace: Trace, strips: Sequence[GradedStrip], words: PageWords, page: int, t: Texts) -> tuple[Mark, ...]:
    """A mark for each strip that has a place on the page."""
    made = (
        Mark(
            key=strip.id[:12],
            look=look_of(trace, strip),
            rects=shown(words, [(span.start, span.end) for span in strip.spans if span.page == page]),
            name=_said(trace, strip, t),
        )
        for strip in strips
    )
    return tuple(mark for mark in made if mark.rects)


def _said(trace: Trace, strip: GradedStrip, t: Texts) -> str:
    """How it looks, its score, and where the score alone does not tell it, why."""
    score = t("no_score") if strip.score is None else f"{strip.score:.2f}"
    why = "" if strip.fate is Fate.KEPT else f" · {t(f'fate_{strip.fate.name.lower()}')}"
    return f"{t(f'look_{look_of(trace, strip)}')} · {score}{why}"


def _legend(trace: Trace, strips: Sequence[GradedStrip], page: Page, t: Texts) -> None:
    """How many strips of this page look how."""
    looks = [look_of(trace, strip) for strip in strips]
    parts = [
        f"<span class='crag-key crag-key-{look}'>{safe.in_html(t(f'look_{look}'))} {looks.count(look)}</span>"
        for look in (Look.CITED, Look.KEPT, Look.DROPPED)
        if look in looks
    ]
    if page.row.facts.ocr:
        parts.append(f"<span>{safe.in_html(t('health_ocr'))}</span>")
    text = "".join(parts) or safe.in_html(t("nothing_on_page"))
    st.html(f"<div class='crag-legend'>{text}</div>")


def _items(trace: Trace, strips: Sequence[GradedStrip], t: Texts) -> str:
    """The strips as text, whether or not the page can be shown."""
    return "".join(
        sheet.item(
            [strip.id[:12]],
            f"<small>{safe.in_html(_said(trace, strip, t))}</small>{safe.of_document(strip.text)}",
            f"crag-strip-item crag-item-{look_of(trace, strip)}",
        )
        for strip in strips
    )
