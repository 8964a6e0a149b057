"""Refined context: every strip in document order, kept or dropped, and the text the generator was given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Final

import streamlit as st

from crag.export.wording import is_written
from crag.schema import Fate, GradedStrip, Thresholds, Trace
from crag.ui import safe
from crag.ui.panels import sent, strip_changes, web
from crag.ui.texts import Texts

NEAR: Final = 0.1
"""A score this close to the strip threshold is near it."""

FILTERS: dict[str, Callable[[GradedStrip, Thresholds], bool]] = {
    "all": lambda strip, limits: True,
    "kept": lambda strip, limits: strip.kept,
    "dropped": lambda strip, limits: not strip.kept,
    "near": lambda strip, limits: strip.score is not None and abs(strip.score - limits.strip) <= NEAR,
}


def draw(trace: Trace, texts: Texts) -> None:
    if not trace.strips:
        st.caption(texts("no_strips"))
        return
    counts = {name: sum(keep(strip, trace.thresholds) for strip in trace.strips) for name, keep in FILTERS.items()}
    chosen = st.segmented_control(
        texts("filter"),
        list(FILTERS),
        format_func=lambda name: f"{texts(f'filter_{name}')} {counts[name]}",
        default="all",
        required=True,
        key=f"strips-{trace.turn_id}",
        label_visibility="collapsed",
    )
    shown = [strip for strip in trace.strips if FILTERS[chosen or "all"](strip, trace.thresholds)]
    st.caption(
        texts(
            "strips_help_web" if trace.web_documents else "strips_help",
            strip=trace.thresholds.strip,
            top=trace.thresholds.top_strips,
        )
    )
    if shown:
        with st.container(height=420 if len(shown) > 8 else "content", border=False, key=f"ledger-{trace.turn_id}"):
            st.html(listed(shown, texts, strip_changes.notes(trace, texts)))
    else:
        st.caption(texts("none_of_these"))
    strip_changes.draw(trace, shown, texts)
    sent.draw(trace, texts)
    if not trace.sent or not is_written(trace):
        _given(trace, texts)


def _given(trace: Trace, texts: Texts) -> None:
    """The knowledge as it was quoted from, where no model has written the answer."""
    st.markdown(f"**{texts('given')}**")
    if trace.knowledge:
        st.caption(texts("given_help", n=len(trace.knowledge), sources=len(trace.sources)))
        st.code(
            trace.knowledge, language=None, wrap_lines=True, height=320 if len(trace.knowledge) > 1200 else "content"
        )
    else:
        st.caption(texts("given_nothing"))


def listed(strips: Sequence[GradedStrip], texts: Texts, notes: Mapping[str, str] | None = None) -> str:
    """Strips in document order as HTML, page by page; `notes` adds words to a strip, by its id."""
    pages = "".join(_page(list(group), texts, notes or {}) for _, group in groupby(strips, _place))
    name = safe.in_html(texts("strips_listed"))
    return f"<div class='crag-ledger' role='region' tabindex='0' aria-label='{name}'>{pages}</div>"  # scrolls by key


def _place(strip: GradedStrip) -> tuple[str, int]:
    return strip.file, strip.page


def _page(strips: Sequence[GradedStrip], texts: Texts, notes: Mapping[str, str]) -> str:
    """The strips of one page under its name; those of the web say so and stand on blue."""
    first = strips[0]
    rows = "".join(_strip(strip, texts, notes.get(strip.id)) for strip in strips)
    mark = f"<span class='crag-origin'>{safe.in_html(texts('from_the_web'))}</span> " if first.url else ""
    kind = " crag-web" if first.url else ""
    return f"<section class='crag-page{kind}'><h3>{mark}{web.place(first, texts)}</h3>{rows}</section>"


def _strip(strip: GradedStrip, texts: Texts, more: str | None) -> str:
    """Kept plain; dropped grey and struck through, with the reason why."""
    kind = "kept" if strip.kept else "dropped"
    score = texts("no_score") if strip.score is None else f"{strip.score:.2f}"
    why = [more] if more else []
    why += [] if strip.fate is Fate.KEPT else [texts(f"fate_{strip.fate.name.lower()}")]
    why += [strip.cause] if strip.cause else []
    note = f"<div class='crag-note'>{safe.in_html(' · '.join(why))}</div>" if why else ""
    title = safe.in_html(strip.reason)
    text = safe.of_document(strip.text)
    body = f"<span>{text}</span>" if strip.kept else f"<s>{text}</s>"
    word = safe.in_html(texts(f"filter_{kind}"))
    return (
        f"<div class='crag-strip crag-{kind}'><span class='crag-place'>{strip.order + 1}</span><div>{body}{note}</div>"
        f"<div class='crag-score' title='{title}'>{score}<small>{word}</small></div></div>"
    )
