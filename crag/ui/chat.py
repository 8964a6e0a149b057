"""The conversation: its turns, the one that runs, the box to ask in, and what to do where nothing was asked yet."""

from __future__ import annotations

import streamlit as st

from config import Settings
from crag.export.wording import is_written
from crag.pipeline import LONGEST_QUESTION
from crag.runtime import JobState
from crag.ui import answer, exporting, query_gate, safe, sidebar, spoken, state, welcome
from crag.ui.knowledge import Overview
from crag.ui.progress import TurnView, turn_view
from crag.ui.state import Conversation, Process, Turn
from crag.ui.texts import Texts
from crag.ui.texts.told import translated

TICK = 0.2
PATIENT_TICK = 1.0
"""Seconds between two looks at a turn that waits for a person: nothing else happens meanwhile."""
ROOM = 4000
"""More characters than a question may have, so that what is too long is told instead of being cut off."""
YOU, CRAG = ":material/person:", ":material/fact_check:"


def draw(
    process: Process, conversation: Conversation | None, gone: bool, overview: Overview, settings: Settings, t: Texts
) -> None:
    """The middle of the page."""
    turns = list(conversation.turns) if conversation else []
    running = {turn.job.id for turn in turns if turn.job.running}  # read once: what is drawn as running ends in a rerun
    st.chat_input(
        t("answering" if running else "nothing_to_ask" if overview.empty else "ask"),
        key="question",
        disabled=overview.empty,
        max_chars=LONGEST_QUESTION + ROOM,
        on_submit=_submit,
        args=(process, conversation, settings),
    )
    with st.container(key="main"):
        if gone:
            st.info(t("conversation_gone"), icon=":material/history_toggle_off:")
        if not turns:
            _first(process, overview, settings, t)
        for turn in turns:
            last = turn is turns[-1]
            with st.chat_message("user", avatar=YOU):
                st.html(spoken.in_its_language(turn.question, "crag-question", "h2"))
            with st.chat_message("assistant", avatar=CRAG):
                if turn.job.id in running:
                    _follow(turn, t)
                else:
                    _ended(process, conversation, turn, last, settings, t)
        if conversation and not running:
            exporting.draw_conversation([turn.trace for turn in turns if turn.trace], conversation.id, t)
        _tell(turns, running, t)


def _first(process: Process, overview: Overview, settings: Settings, t: Texts) -> None:
    """Where nothing was asked yet."""
    if overview.empty:
        welcome.draw_empty(process, overview, t)
    elif question := welcome.draw_examples(process, t):
        _ask(process, None, question, settings)
        st.rerun()


def _tell(turns: list[Turn], running: set[str], t: Texts) -> None:
    """Brings what was asked on this page into view, and says aloud how it has ended; the browser does each once."""
    before = st.session_state.setdefault("turns-before", {turn.job.id for turn in turns})
    if not turns or turns[-1].job.id in before:
        return
    newest = turns[-1]
    spoken.show_newest(newest.job.id)
    if newest.job.id not in running:
        trace = newest.trace
        failed = translated(newest.job.error or "", t.language)
        spoken.say(answer.spoken_end(trace, t) if trace else failed, once=newest.job.id)


def _submit(process: Process, conversation: Conversation | None, settings: Settings) -> None:
    _ask(process, conversation, st.session_state["question"] or "", settings)


def _ask(process: Process, conversation: Conversation | None, question: str, settings: Settings) -> None:
    if question.strip():
        known = conversation.id if conversation else None
        state.show(process.ask(known, question.strip(), settings, sidebar.files(conversation)))


def _ended(
    process: Process, conversation: Conversation | None, turn: Turn, last: bool, settings: Settings, t: Texts
) -> None:
    """A turn that has finished, was stopped or failed; the last one can be tried again where something is missing."""
    trace = turn.trace
    if trace is not None:
        answer.draw(trace, t)
    if turn.job.state is JobState.FAILED:
        st.error(safe.in_markdown(translated(turn.job.error or "", t.language)), icon=":material/error:")
    if last and conversation is not None and (mend := _mend(turn)):
        st.button(
            t(mend),
            key=f"again-{turn.job.id}",
            icon=":material/refresh:",
            on_click=process.ask_again,
            args=(conversation, turn, settings),
        )


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
        status = t("stopping") if stopping else t("doing_waiting") if turn.waits else _status(view, t)
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
