"""A page's image with its marks, and beside it the list of what is marked: pointing at one shows the other."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import streamlit as st

from crag.errors import PageImageError
from crag.knowledge_base.evidence import Mark
from crag.ui import safe
from crag.ui.texts import Texts

ZOOMS: Final = {"fit": 120, "100": 120, "150": 150, "200": 200}
"""Dots per inch that the image is drawn at, by zoom."""
DOWNLOAD_DPI: Final = 150
CSS_PIXELS: Final = 96 / 72
"""Per point."""


def zoom(key: str, t: Texts) -> str:
    """The chosen one of `ZOOMS`."""
    chosen = st.segmented_control(
        t("zoom"),
        list(ZOOMS),
        format_func=lambda name: t("zoom_fit") if name == "fit" else f"{name} %",
        default="fit",
        required=True,
        key=key,
        label_visibility="collapsed",
    )
    return chosen or "fit"


def turn_pages(number: int, last: int, go: Callable[[int], None], key: str, t: Texts) -> None:
    """Previous and next page of `last`, with the number between them."""
    st.button(
        t("previous_page"),
        key=f"{key}-previous",
        icon=":material/chevron_left:",
        on_click=go,
        args=(number - 1,),
        disabled=number <= 1,
    )
    st.markdown(t("page_of", n=number, of=last), width="content")
    st.button(
        t("next_page"),
        key=f"{key}-next",
        icon=":material/chevron_right:",
        icon_position="right",
        on_click=go,
        args=(number + 1,),
        disabled=number >= last,
    )


def picture(draw: Callable[[], bytes], t: Texts, locked: Callable[[], None] | None = None) -> bytes | None:
    """The image, or nothing and the sentence why there is none; `locked` is drawn where it waits for a password."""
    try:
        with st.spinner(t("drawing")):
            return draw()
    except PageImageError as error:
        st.info(t(f"image_{error.reason}"), icon=":material/hide_image:")
        if error.reason == "locked" and locked is not None:
            locked()
        return None


def download(draw: Callable[[], bytes], name: str, key: str, t: Texts) -> None:
    """The button; the image is drawn when it is clicked."""
    st.download_button(
        t("download_image"),
        data=draw,
        file_name=name,
        mime="image/png",
        key=key,
        icon=":material/download:",
        on_click="ignore",
        type="tertiary",
    )


def draw(
    image: bytes | None, size: tuple[float, float], marks: Sequence[Mark], items: str, chosen: str, alt: str, t: Texts
) -> None:
    """Image and list side by side, below each other where it is narrow.

    `items` is HTML made of `item`; `size` is the displayed page in points, `chosen` one of `ZOOMS`. Without an image
    only the list is drawn.
    """
    keys = [mark.key for mark in marks]
    frame = _frame(image, size, marks, chosen, alt) if image else ""
    kind = "crag-sheet" if image else "crag-sheet crag-sheet-bare"
    listed = f"<div class='crag-sheet-list' role='group' aria-label='{safe.in_html(t('on_this_page'))}'>{items}</div>"
    st.html(f"<div class='{kind}'>{frame}{listed if items else ''}</div><style>{_pointing(keys)}</style>")


def item(keys: Iterable[str], inside: str, kind: str = "") -> str:
    """An element of the list that belongs to the marks with these keys; reachable by Tab."""
    of = " ".join(f"crag-of-{key}" for key in keys)
    return f"<div class='crag-item {kind} {of}' tabindex='0'>{inside}</div>"


def _frame(image: bytes, size: tuple[float, float], marks: Sequence[Mark], chosen: str, alt: str) -> str:
    width, height = max(1.0, size[0]), max(1.0, size[1])
    wide = "100%" if chosen == "fit" else f"{width * CSS_PIXELS * int(chosen) / 100:.0f}px"
    drawn = "".join(_mark(mark, width, height) for mark in sorted(marks, key=lambda mark: mark.look == "cited"))
    source = base64.b64encode(image).decode()
    return (
        f"<div class='crag-sheet-frame' tabindex='0' role='group' aria-label='{safe.in_html(alt)}'>"
        f"<div class='crag-sheet-page' style='width:{wide};aspect-ratio:{width:.2f}/{height:.2f}'>"
        f"<img src='data:image/png;base64,{source}' alt='{safe.in_html(alt)}'>{drawn}</div></div>"
    )


def _mark(mark: Mark, width: float, height: float) -> str:
    """Boxes over the image in per cent of it; Streamlit lets no SVG through."""
    kind = f"crag-mark crag-mark-{mark.look} crag-at-{mark.key}"
    title = safe.in_html(mark.name)
    return "".join(
        f"<i class='{kind}' title='{title}' style='left:{100 * r.x0 / width:.3f}%;top:{100 * r.y0 / height:.3f}%;"
        f"width:{100 * (r.x1 - r.x0) / width:.3f}%;height:{100 * (r.y1 - r.y0) / height:.3f}%'></i>"
        for r in mark.rects
    )


def _pointing(keys: Sequence[str]) -> str:
    """Who points at an item sees its mark, who points at a mark sees its item; without a script."""
    rules = []
    for key in dict.fromkeys(keys):
        rules.append(f".crag-sheet:has(.crag-of-{key}:is(:hover,:focus)) .crag-at-{key}{{--crag-pointed:1}}")
        rules.append(f".crag-sheet:has(.crag-at-{key}:hover) .crag-strip-item.crag-of-{key}{{--crag-tint:14%}}")
    return "".join(rules)
