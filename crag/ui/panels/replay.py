"""Replay: sliders for the thresholds of one answer; what follows from its stored scores is shown at once."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from crag.replay import Changes, Lacking, changes, lacking, looks, regraded, replay
from crag.schema import Decision, GradedStrip, Knowledge, Thresholds, Trace
from crag.ui import state
from crag.ui.panels import documents, refined_context, strip_plot
from crag.ui.texts import Texts

LONG = 8
"""From so many strips on the list scrolls by itself; so does the text from 1200 characters on."""


def draw(trace: Trace, t: Texts) -> None:
    """Nothing here calls a model but the button that asks anew."""
    from crag.ui import answer  # which imports the panels

    if not trace.strips or not trace.decisions:
        st.caption(t("replay_nothing"))
        return
    st.caption(t("replay_help"))
    limits = _sliders(trace, t)
    decision, strips, knowledge = replay(trace, limits)
    for look in looks(trace, limits):
        if look is not None:
            answer.draw_decision(look.action, look.sentence, t)
    st.markdown(f"**{_said(changes(trace, decision, strips, knowledge.sources), knowledge, t)}**")
    if lacks := lacking(trace, decision):
        st.info(t(f"replay_lacks_{lacks}"), icon=":material/public:" if lacks is Lacking.WEB else ":material/history:")
    _buttons(trace, limits, t)
    _plots(trace, limits, strips, t)
    _strips(trace, decision, strips, knowledge, t)


def _sliders(trace: Trace, t: Texts) -> Thresholds:
    """The thresholds as they stand; one slider with two ends, so that the lower one cannot pass the upper one."""
    own = trace.thresholds
    st.session_state.setdefault(_key(trace, "limits"), (own.lower, own.upper))
    st.session_state.setdefault(_key(trace, "strip"), own.strip)
    left, right = st.columns([3, 2])
    with left:
        st.slider(t("replay_limits"), 0.0, 1.0, step=0.01, format="%.2f", key=_key(trace, "limits"))
    with right:
        strip = st.slider(t("replay_strip"), 0.0, 1.0, step=0.01, format="%.2f", key=_key(trace, "strip"))
    lower, upper = st.session_state[_key(trace, "limits")]
    return Thresholds(lower=lower, upper=upper, strip=strip, top_strips=own.top_strips)


def _key(trace: Trace, name: str) -> str:
    return f"replay-{name}-{trace.turn_id}"


def _said(change: Changes, knowledge: Knowledge, t: Texts) -> str:
    """What changes against the answer as it was, as a sentence."""
    if not change:
        return t("replay_same")
    counted = (
        ("replay_strips_more", len(change.gained)),
        ("replay_strips_less", len(change.lost)),
        ("replay_sources_more", max(0, change.sources)),
        ("replay_sources_less", max(0, -change.sources)),
    )
    comma, semicolon = ("，", "；") if t.language == "zh" else (", ", "; ")
    parts = [comma.join(t(key, n=n) for key, n in counted if n)]
    if change.action is not None:
        parts.append(t("replay_action", action=t(change.action)))
    if not knowledge.sources:
        parts.append(t("replay_empty"))
    return t("replay_change", changes=semicolon.join(part for part in parts if part))


def _buttons(trace: Trace, limits: Thresholds, t: Texts) -> None:
    moved = limits != trace.thresholds
    with st.container(horizontal=True, gap="small", key=_key(trace, "buttons")):
        asked = st.button(
            t("replay_ask"),
            key=_key(trace, "ask"),
            icon=":material/send:",
            type="primary",
            help=t("replay_ask_help"),
            disabled=not moved,
        )
        st.button(
            t("replay_back"),
            key=_key(trace, "back"),
            icon=":material/undo:",
            help=t("replay_back_help"),
            on_click=_back,
            args=(trace,),
            disabled=not moved,
        )
    if asked and _ask(trace, limits):
        st.rerun()


def _back(trace: Trace) -> None:
    own = trace.thresholds
    st.session_state[_key(trace, "limits")] = (own.lower, own.upper)
    st.session_state[_key(trace, "strip")] = own.strip


def _ask(trace: Trace, limits: Thresholds) -> bool:
    """The same question, to the same files and under the settings of its turn but for the thresholds."""
    process = state.process()
    conversation, _ = state.conversation(process)
    turn = next((t for t in conversation.turns if t.job.id == trace.turn_id), None) if conversation else None
    if conversation is None or turn is None:
        return False
    chosen = {"lower": limits.lower, "upper": limits.upper, "strip_threshold": limits.strip}
    settings = turn.settings.model_copy(update=chosen)
    process.ask(conversation.id, trace.standalone or turn.question, settings, turn.files)
    return True


def _plots(trace: Trace, limits: Thresholds, strips: Sequence[GradedStrip], t: Texts) -> None:
    graded = regraded((*trace.documents, *trace.web_documents), limits)
    if any(document.score is not None for document in graded):
        st.altair_chart(documents.plot(graded, limits, t), alt=t("plot_alt"))
    if any(strip.score is not None for strip in strips):
        st.altair_chart(strip_plot.plot(strips, limits.strip, t), alt=t("replay_strip_alt"))


def _strips(
    trace: Trace, decision: Decision | None, strips: Sequence[GradedStrip], knowledge: Knowledge, t: Texts
) -> None:
    """What is kept now or was kept before, and the text that a generator would read."""
    change = changes(trace, decision, strips, knowledge.sources)
    notes = dict.fromkeys(change.gained, t("replay_gained")) | dict.fromkeys(change.lost, t("replay_lost"))
    shown = [strip for strip in strips if strip.kept or strip.id in notes]
    st.markdown(f"**{t('replay_kept', n=len(knowledge.strips), of=len(strips))}**")
    if shown:
        with st.container(height=420 if len(shown) > LONG else "content", border=False, key=_key(trace, "strips")):
            st.html(refined_context.listed(shown, t, notes))
    if not knowledge.text:
        st.caption(t("given_nothing"))
        return
    with st.expander(t("replay_given", n=len(knowledge.text)), icon=":material/notes:", key=_key(trace, "given")):
        st.code(knowledge.text, language=None, wrap_lines=True, height=320 if len(knowledge.text) > 1200 else "content")
