"""The conversation: its turns, the one that runs, the box to ask in, and what to do where nothing was asked yet."""

from __future__ import annotations

from functools import partial

import streamlit as st

from config import Settings
from crag.export.wording import is_written
from crag.runtime import JobState
from crag.ui import (
    answer,
    asking,
    clicks,
    exporting,
    feedback,
    long_conversation,
    query_gate,
    safe,
    spoken,
    suggesting,
    turn_tools,
    welcome,
)
from crag.ui.conversations import Conversation, Turn
from crag.ui.feedback import Keep
from crag.ui.knowledge import Overview
from crag.ui.progress import TurnView, turn_view
from crag.ui.state import Process
from crag.ui.texts import Texts

TICK = 0.2
PATIENT_TICK = 1.0
"""Seconds between two looks at a turn that waits for a person: nothing else happens meanwhile."""
YOU, CRAG = ":material/person:", ":material/fact_check:"


def draw(
    process: Process, conversation: Conversation | None, gone: bool, overview: Overview, settings: Settings, t: Texts
) -> None:
    """The middle of the page."""
    turns = conversation.turns if conversation else ()
    running = {turn.job.id for turn in turns if turn.job.running}  # read once: what is drawn as running ends in a rerun
    asking.draw(process, conversation, bool(running), overview, settings, t)
    clicks.begin()
    with st.container(key="main"):
        if gone:
            st.info(t("conversation_gone"), icon=":material/history_toggle_off:")
        if not turns:
            _first(process, overview, settings, t)
        if conversation is not None:
            _draw_turns(process, conversation, running, settings, t)
        if conversation and not running:
            exporting.draw_conversation([turn.trace for turn in turns if turn.trace], conversation.id, t)
        _tell(turns, running, t)


def _first(process: Process, overview: Overview, settings: Settings, t: Texts) -> None:
    """Where nothing was asked yet."""
    if overview.empty:
        welcome.draw_empty(process, overview, t)
    elif question := welcome.draw_examples(process, t):
        asking.ask(process, None, question, settings)
        st.rerun()


def _draw_turns(process: Process, conversation: Conversation, running: set[str], settings: Settings, t: Texts) -> None:
    """Some of its turns whole, with the way to those before and after them."""
    count = len(conversation.places)
    first = long_conversation.first(conversation)
    long_conversation.draw_before(conversation, first, t)
    for place in conversation.places[first : first + long_conversation.WHOLE]:
        turn, last = place.turn, place is conversation.places[-1]
        with st.chat_message("user", avatar=YOU):
            turn_tools.draw_question(process, conversation, turn, settings, t)
        with st.chat_message("assistant", avatar=CRAG):
            turn_tools.draw_versions(process, conversation, place, t)
            if turn.job.id in running:
                _follow(turn, t)
            else:
                _ended(process, conversation, turn, last, settings, t)
    long_conversation.draw_after(conversation, first, count, t)
    if conversation.not_kept:
        st.warning(safe.in_markdown(t("not_kept", why=conversation.not_kept)), icon=":material/save_as:")
        st.button(t("keep_again"), key="keep-again", on_click=process.keeping.catch_up, args=(conversation,))


def _tell(turns: tuple[Turn, ...], running: set[str], t: Texts) -> None:
    """Brings what was asked on this page into view, and says aloud how it has ended; the browser does each once."""
    before = st.session_state.setdefault("turns-before", {turn.job.id for turn in turns})
    if not turns or turns[-1].job.id in before:
        return
    newest = turns[-1]
    spoken.show_newest(newest.job.id)
    if newest.job.id not in running:
        trace = newest.trace
        spoken.say(answer.spoken_end(trace, t) if trace else newest.job.error or "", once=newest.job.id)


def _ended(process: Process, conversation: Conversation, turn: Turn, last: bool, settings: Settings, t: Texts) -> None:
    """A turn that has finished, was stopped or failed; where something is missing it can be tried again."""
    trace, mend = turn.trace, _mend(turn)
    lacks = mend is not None and (last or trace is None)
    if trace is not None:
        keep = partial(process.talks.rate, conversation, turn)
        answer.draw(trace, t, partial(_tools, process, conversation, turn, settings, not lacks, keep, t))
        feedback.draw_why(turn.job.id, turn.opinion, keep, t)
        asked = [place.turn.question for place in conversation.places]
        if last and (question := suggesting.draw(trace, asked, t)):
            asking.ask(process, conversation, question, settings)
            st.rerun()
    if turn.job.state is JobState.FAILED:
        st.error(safe.in_markdown(turn.job.error or ""), icon=":material/error:")
    elif turn.gap is not None:
        st.warning(t(f"gap_{turn.gap}"), icon=":material/history_toggle_off:")
    if lacks and mend is not None:
        st.button(
            t(mend),
            key=f"again-{turn.job.id}",
            icon=":material/refresh:",
            on_click=process.ask_again if mend == "grade_again" else process.try_again,
            args=(conversation, turn, settings),
        )


def _tools(
    process: Process, conversation: Conversation, turn: Turn, settings: Settings, again: bool, keep: Keep, t: Texts
) -> None:
    """What can be done with an answer, beside copying and exporting it."""
    if turn.trace and turn.trace.answer:
        feedback.draw_thumbs(turn.job.id, turn.opinion, keep)
    if again:
        turn_tools.draw_again(process, conversation, turn, settings, t)


def _mend(turn: Turn) -> str | None:
    """What the button says that asks again; None where nothing is missing. Grades that are known are kept."""
    trace = turn.trace
    if trace is None or trace.stopped:
        return "try_again"
    if any(document.score is None for document in (*trace.documents, *trace.web_documents)):
        return "grade_again"
    if trace.error is not None:
        return "try_again"
    quoted = trace.covered and turn.settings.llm_provider != "embedded" and not is_written(trace)
    return "write_again" if trace.cut or quoted else None


def _follow(turn: Turn, t: Texts) -> None:
    """The running turn: redrawn from its events until it ends, less often while it waits for a person."""
    asks = turn.asks
    st.fragment(_draw_running, run_every=PATIENT_TICK if asks else TICK)(turn, asks, t)


def _draw_running(turn: Turn, asked: bool, t: Texts) -> None:
    """Once; the whole page follows when it has ended, or begins or ends to ask."""
    running, asks = turn.job.running, turn.asks
    view = turn_view(turn.job.events)
    if view.understood:
        answer.draw_understood(view.understood, t)
    if view.decision is not None:
        answer.draw_decision(view.decision.action, view.decision.sentence, t)
    if view.text and turn.settings.llm_provider != "embedded":
        answer.draw_written(view.text)
    elif view.text:
        answer.draw_text(view.text)
    if asks and view.asking and turn.gate is not None:
        query_gate.draw(turn.job.id, turn.gate, view.asking, turn.settings.web_pages == "on", t)
    with st.container(horizontal=True, vertical_alignment="center", key=f"live-{turn.job.id}"):
        stopping = turn.job.stopping.is_set()
        waiting = t("doing_reading_files" if turn.reads else "doing_waiting") if turn.waits else _status(view, t)
        status = t("stopping") if stopping else waiting
        st.caption(f":material/progress_activity: {status}", width="stretch")
        spoken.say(status)
        st.button(
            t("stop"),
            key=f"stop-{turn.job.id}",
            icon=":material/stop_circle:",
            on_click=turn.job.stop,
            disabled=stopping,
        )
    if not running or asks is not asked:
        st.rerun()


def _status(view: TurnView, t: Texts) -> str:
    return " · ".join([*(t(f"step_{name}", n=n) for name, n in view.steps), t(f"doing_{view.doing}")])
