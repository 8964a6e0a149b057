"""Replay: sliders for the thresholds of one answer, and its actions; what follows from its scores is shown at once."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from crag.replay import Changes, Lacking, changes, lacking, looks, regraded, replay
from crag.revision import amended
from crag.schema import Action, Changed, Decision, GradedStrip, Knowledge, Thresholds, Trace
from crag.ui import pending, revising
from crag.ui.panels import documents, refined_context, strip_plot
from crag.ui.texts import Texts

BY_SCORES = "action_by_scores"
LONG = 8
"""From so many strips on the list scrolls by itself; so does the text from 1200 characters on."""


def draw(trace: Trace, t: Texts) -> None:
    """Nothing here calls a model but the button that has the answer made anew."""
    from crag.ui import answer  # which imports the panels

    if not trace.strips or not trace.decisions:
        st.caption(t("replay_nothing"))
        return
    st.caption(t("replay_help"))
    limits = _sliders(trace, t)
    now = amended(trace, pending.of(trace))
    decision, strips, knowledge = replay(now, limits)
    for number, look in enumerate(looks(now, limits), start=1):
        if look is not None:
            answer.draw_decision(look.action, look.sentence, t)
            _action(trace, number, look, t)
    st.markdown(f"**{_said(changes(trace, decision, strips, knowledge.sources), knowledge, t)}**")
    if lacks := lacking(now, decision):
        st.info(t(f"replay_lacks_{lacks}"), icon=":material/public:" if lacks is Lacking.WEB else ":material/history:")
    _buttons(trace, limits, t)
    _plots(now, limits, strips, t)
    _strips(trace, decision, strips, knowledge, t)


def _sliders(trace: Trace, t: Texts) -> Thresholds:
    """The thresholds as they stand; one slider with two ends, so that the lower one cannot pass the upper one."""
    now = amended(trace, pending.of(trace)).thresholds
    st.session_state[_key(trace, "limits")] = (now.lower, now.upper)
    st.session_state[_key(trace, "strip")] = now.strip
    left, right = st.columns([3, 2])
    for place, name in ((left, "limits"), (right, "strip")):
        with place:
            key = _key(trace, name)
            st.slider(t(f"replay_{name}"), 0.0, 1.0, step=0.01, format="%.2f", key=key, on_change=_moved, args=(trace,))
    return now


def _moved(trace: Trace) -> None:
    own, (lower, upper) = trace.thresholds, st.session_state[_key(trace, "limits")]
    strip = st.session_state[_key(trace, "strip")]
    limits = Thresholds(lower=lower, upper=upper, strip=strip, top_strips=own.top_strips)
    if limits == own:
        pending.forget(trace, Changed.THRESHOLDS)
    else:
        pending.put(trace, pending.made(Changed.THRESHOLDS, limits, own))


def _action(trace: Trace, number: int, look: Decision, t: Texts) -> None:
    """The action of one look, as the scores say or as a person sets it."""
    key = _key(trace, f"action-{number}")
    said = pending.ruled(trace, Changed.ACTION, str(number))
    st.session_state[key] = BY_SCORES if said is None else said
    st.segmented_control(
        t("action_by_hand" if number == 1 else "action_by_hand_second"),
        [BY_SCORES, *Action],
        format_func=t,
        required=True,
        key=key,
        on_change=_set_action,
        args=(trace, number, look.by_scores if look.by_hand else look.action, key),
    )


def _set_action(trace: Trace, number: int, before: Action | None, key: str) -> None:
    chosen = st.session_state[key]
    after = None if chosen == BY_SCORES else chosen
    pending.put(trace, pending.made(Changed.ACTION, after, before, str(number)))


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
            help=t("replay_ask_help"),
            disabled=not pending.of(trace),
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
    if asked:
        revising.answer(trace, pending.of(trace), t)


def _back(trace: Trace) -> None:
    pending.forget(trace, Changed.THRESHOLDS)


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
