"""The bar of an answer that a person is changing: each change in a sentence, what follows, and the way to answer."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from crag.export.wording import changed
from crag.replay import Lacking, lacking
from crag.revision import amended, revised
from crag.schema import Change, Trace
from crag.ui import pending, safe, state
from crag.ui.panels import corrections
from crag.ui.settings import person
from crag.ui.texts import Texts


def draw(trace: Trace, t: Texts) -> None:
    """Nothing where nothing is changed. What follows is shown at once, without a call."""
    changes = pending.of(trace)
    if not changes:
        return
    with st.container(border=True, gap="xsmall", key=f"changes-{trace.turn_id}"):
        said = t("between_changes").join(changed(change, trace, t) for change in changes)
        st.markdown(f":small[**{t('changes', n=len(changes))}** {safe.in_markdown(said)}]")
        outcome = _draw_decision(trace, changes, t)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            go = st.button(
                t("change_answer"), key=f"change-answer-{trace.turn_id}", icon=":material/send:", type="primary"
            )
            st.button(
                t("change_back"),
                key=f"change-back-{trace.turn_id}",
                icon=":material/undo:",
                on_click=corrections.take_back,
                args=(trace,),
            )
            st.caption(outcome, width="stretch")
    if go:
        answer(trace, changes, t)


def answer(trace: Trace, changes: Sequence[Change], t: Texts) -> None:
    """Begins another version of the answer and shows it; the panel that is open stays open."""
    process = state.process()
    conversation, _ = state.conversation(process)
    turns = conversation.turns if conversation else ()
    turn = next((turn for turn in turns if turn.trace and turn.trace.turn_id == trace.turn_id), None)
    if conversation is None or turn is None:
        st.error(t("change_gone"), icon=":material/error:")
        return
    version = process.answer_with(conversation, turn, changes, person.of(process).settings)
    pending.forget_all(trace)
    corrections.settle(trace)
    st.session_state[f"panel-{version.job.id}"] = st.session_state.get(f"panel-{trace.turn_id}")
    st.rerun()


def _draw_decision(trace: Trace, changes: Sequence[Change], t: Texts) -> str:
    """The action; returns how many strips are kept, and what has to be done first that was not done yet."""
    from crag.ui import answer as answers  # which draws this bar

    decision, strips, knowledge = revised(trace, changes)
    if decision is not None:
        answers.draw_decision(decision.action, decision.sentence, t)
    before, now = (sum(strip.kept for strip in some) for some in (trace.strips, strips))
    said = [t("change_kept" if now == before else "change_kept_before", n=now, of=len(strips), before=before)]
    match lacking(amended(trace, changes), decision):
        case Lacking.WEB:
            said.append(t("change_web_first"))
        case Lacking.SECOND_LOOK:
            said.append(t("change_look_first"))
        case None if not knowledge.sources:
            said.append(t("change_empty"))
    return " ".join(said)
