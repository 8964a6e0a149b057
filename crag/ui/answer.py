"""One answer: badge and decision sentence, text, sources, notices, and the panels with its evidence."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from crag.export.wording import is_written
from crag.schema import Action, Trace
from crag.text import language
from crag.ui import (
    answer_text,
    copying,
    doubts,
    exporting,
    golden,
    marks,
    revising,
    safe,
    sources,
    spoken,
    written_text,
)
from crag.ui.marks import Look
from crag.ui.panels import compare, documents, on_page, refined_context, replay, second_look, timing, web
from crag.ui.texts import Texts
from crag.ui.texts.told import told

BADGES = {
    Action.CORRECT: ("green", ":material/check_circle:"),
    Action.AMBIGUOUS: ("orange", ":material/help:"),
    Action.INCORRECT: ("red", ":material/cancel:"),
}
PANELS = {
    "documents": documents.draw,
    "refined_context": refined_context.draw,
    "replay": replay.draw,
    "on_page": on_page.draw,
    "second_look": second_look.draw,
    "timing": timing.draw,
    "compare": compare.draw,
}


def draw(trace: Trace, t: Texts, also: Callable[[], None] | None = None) -> None:
    """A finished or stopped turn; a decision that nothing came of yet is not shown as one.

    `also` draws what else can be done with it, beside the export.
    """
    said = told(trace, t.language)
    if trace.standalone:
        draw_understood(trace.standalone, t)
    if trace.action is not None and (trace.strips or trace.answer or not trace.stopped):
        draw_decision(trace.action, trace.decision, t)
    if trace.direct:
        _badge("gray", ":material/chat:", t("direct"), t("direct_help"))
    if trace.thinking:
        with st.expander(t("thinking"), icon=":material/psychology:", key=f"thinking-{trace.turn_id}"):
            st.html(spoken.in_its_language(trace.thinking, "crag-thinking"))
    if trace.answer:
        (draw_written if is_written(trace) else draw_text)(trace.answer, marks.look_of(trace, t))
    if said.cut:
        st.caption(f":material/content_cut: **{t('cut_short')}** {safe.in_markdown(said.cut)}")
    if said.error:
        st.error(safe.in_markdown(said.error), icon=":material/error:")
    if trace.stopped:
        came = trace.answer or trace.documents
        st.caption(f":material/stop_circle: {t('stopped' if came else 'stopped_empty')}")
    sources.draw(trace, t)
    doubts.draw(trace, t)
    if trace.files:
        names = ", ".join(trace.files)
        st.caption(f":material/filter_alt: {safe.in_markdown(t('asked_of', files=names))}")
    for notice in _notices(said, t):
        st.caption(f":material/info: {safe.in_markdown(notice)}")
    if trace.documents or trace.decisions or trace.calls:
        _evidence(trace, t)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"tools-{trace.turn_id}"):
        copying.draw(trace, t)
        if also is not None:
            also()
        golden.draw(trace, t)
        exporting.draw(trace, t)


def draw_understood(question: str, t: Texts) -> None:
    """The follow-up as it was searched for and graded by."""
    st.caption(f":material/quick_reference_all: {safe.in_markdown(t('understood', question=question))}")


def draw_decision(action: Action, sentence: str, t: Texts) -> None:
    colour, icon = BADGES[action]
    _badge(colour, icon, t(action), sentence)


def _badge(colour: str, icon: str, word: str, sentence: str) -> None:
    st.markdown(f":{colour}-badge[{icon} {word}] :small[{safe.in_markdown(sentence)}]")


def spoken_end(trace: Trace, t: Texts) -> str:
    """How the turn ended, for those who hear it."""
    if trace.direct and trace.answer and not trace.stopped:
        return f"{t('direct')}. {t('direct_help')}"
    if trace.error or trace.stopped or trace.action is None:
        return told(trace, t.language).error or t("stopped" if trace.answer or trace.documents else "stopped_empty")
    return t("said_end", action=t(trace.action), sentence=trace.decision)


def draw_written(text: str, look: Look | None = None) -> None:
    """An answer in a model's words, with the structure it was given; `look` as for `written_text.as_html`."""
    inside = written_text.as_html(text, look)
    st.html(f"<div class='crag-written crag-answer' lang='{language(text)}'>{inside}</div>")


def draw_text(text: str, look: Look | None = None) -> None:
    """The answer as plain text: lines kept, rows of tables as tables, nothing else in it interpreted."""
    inside = answer_text.as_html(text, look)
    st.html(f"<div class='crag-text crag-answer' lang='{language(text)}'>{inside}</div>")


def _notices(trace: Trace, t: Texts) -> list[str]:
    notices = list(dict.fromkeys(trace.notices))  # both looks may have the same to tell
    if trace.check.unknown:
        notices.append(t("unknown_citations", numbers=", ".join(f"[{n}]" for n in trace.check.unknown)))
    return notices


@st.fragment
def _evidence(trace: Trace, t: Texts) -> None:
    """One panel at a time, opened by a click; only what is open is drawn."""
    revising.draw(trace, t)
    labels = {"timing": t("panel_timing")} if trace.direct else _labels(trace, t)
    chosen = st.pills(
        t("evidence"),
        list(labels),
        format_func=lambda name: labels[name],
        key=f"panel-{trace.turn_id}",
        label_visibility="collapsed",
    )
    if chosen:
        with st.container(border=True, gap="small", key=f"open-{trace.turn_id}"):
            PANELS[chosen](trace, t)


def _labels(trace: Trace, t: Texts) -> dict[str, str]:
    """The panels of an answer that rests on evidence, with what each holds."""
    return {
        "documents": t("panel_documents_web", n=len(trace.documents), web=len(trace.web_documents))
        if trace.web_documents
        else t("panel_documents", n=len(trace.documents)),
        "refined_context": t(
            "panel_refined_context", n=sum(strip.kept for strip in trace.strips), of=len(trace.strips)
        ),
        "replay": t("panel_replay"),
        "on_page": t("panel_on_page"),
        "second_look": t("panel_second_look") if trace.search_query else web.summary(trace, t),
        "timing": t("panel_timing"),
        "compare": t("panel_compare"),
    }
