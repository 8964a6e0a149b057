"""One answer: badge and decision sentence, text, sources, notices, and the panels with its evidence."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from crag.export.wording import is_written
from crag.schema import Action, Support, Trace
from crag.text import language
from crag.ui import answer_text, exporting, golden, safe, spoken, written_text
from crag.ui.panels import documents, on_page, refined_context, replay, second_look, timing, web
from crag.ui.texts import Texts

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
}


def draw(trace: Trace, t: Texts) -> None:
    """A finished or stopped turn; a decision that nothing came of yet is not shown as one."""
    if trace.standalone:
        draw_understood(trace.standalone, t)
    if trace.action is not None and (trace.strips or trace.answer or not trace.stopped):
        draw_decision(trace.action, trace.decision, t)
    if trace.direct:
        _badge("gray", ":material/chat:", t("direct"), t("direct_help"))
    if trace.thinking:
        with st.expander(t("thinking"), icon=":material/psychology:", key=f"thinking-{trace.turn_id}"):
            st.html(spoken.in_its_language(trace.thinking, "crag-thinking"))
    if trace.answer and is_written(trace):
        draw_written(trace.answer, {citation.n: web.name_of(citation, t) for citation in trace.citations})
    elif trace.answer:
        draw_text(trace.answer)
    if trace.cut:
        st.caption(f":material/content_cut: **{t('cut_short')}** {safe.in_markdown(trace.cut)}")
    if trace.error:
        st.error(safe.in_markdown(trace.error), icon=":material/error:")
    if trace.stopped:
        kept = trace.answer or trace.documents
        st.caption(f":material/stop_circle: {t('stopped' if kept else 'stopped_empty')}")
    _footer(trace, t)
    if trace.files:
        names = ", ".join(trace.files)
        st.caption(f":material/filter_alt: {safe.in_markdown(t('asked_of', files=names))}")
    for notice in _notices(trace, t):
        st.caption(f":material/info: {safe.in_markdown(notice)}")
    if trace.documents or trace.decisions or trace.calls:
        _evidence(trace, t)
    with st.container(horizontal=True, gap="small", key=f"keep-{trace.turn_id}"):
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
        return trace.error or t("stopped" if trace.answer or trace.documents else "stopped_empty")
    return t("said_end", action=t(trace.action), sentence=trace.decision)


def draw_written(text: str, places: Mapping[int, str] | None = None) -> None:
    """An answer in a model's words, with the structure it was given; `places` as for `written_text.as_html`."""
    inside = written_text.as_html(text.strip(), places)
    st.html(f"<div class='crag-written crag-answer' lang='{language(text)}'>{inside}</div>")


def draw_text(text: str) -> None:
    """The answer as plain text: lines kept, rows of tables as tables, nothing else in it interpreted."""
    inside = answer_text.as_html(text.strip())
    st.html(f"<div class='crag-text crag-answer' lang='{language(text)}'>{inside}</div>")


def _footer(trace: Trace, t: Texts) -> None:
    """The cited sources, and how long it took; a click on one in a file shows it on its page."""
    cited = sorted(trace.citations, key=lambda citation: citation.n)
    places = {place.n: number for number, place in enumerate(on_page.places(trace)) if place.n is not None}
    chips = "".join(
        f"<span class='crag-chip'><b>[{citation.n}]</b> {web.place(citation, t)}</span>"
        for citation in cited
        if citation.n not in places
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"sources-{trace.turn_id}"):
        for citation in cited:
            if citation.n in places:
                st.button(
                    f"**\\[{citation.n}\\]** {safe.in_markdown(t('place', file=citation.file, page=citation.page))}",
                    key=f"cited-{trace.turn_id}-{citation.n}",
                    help=t("show_on_page"),
                    on_click=on_page.open_at,
                    args=(trace.turn_id, places[citation.n]),
                )
        spent = safe.in_html(timing.spent(trace, t))
        st.html(f"<div class='crag-sources'>{chips}<span class='crag-took'>{spent}</span></div>")


def _notices(trace: Trace, t: Texts) -> list[str]:
    notices = list(trace.notices)
    if trace.check.unknown:
        notices.append(t("unknown_citations", numbers=", ".join(f"[{n}]" for n in trace.check.unknown)))
    unsupported = sum(
        sentence.support is Support.UNSUPPORTED and bool(sentence.cites) for sentence in trace.check.sentences
    )
    if unsupported:
        notices.append(t("unsupported", n=unsupported))
    if uncited := sum(not sentence.cites for sentence in trace.check.sentences):
        notices.append(t("uncited", n=uncited))
    return notices


@st.fragment
def _evidence(trace: Trace, t: Texts) -> None:
    """One panel at a time, opened by a click; only what is open is drawn."""
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
    }
