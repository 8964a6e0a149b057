"""Thresholds that the last runs speak for, beside those in force: shown, used with one click, and undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import streamlit as st

from config import Settings
from crag.errors import CragError
from crag.runtime import JobState
from crag.schema import Action
from crag.ui import safe
from crag.ui.evaluate import jobs, sweep_plot
from crag.ui.evaluate.figures import translated
from crag.ui.state import Limits, Process
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from crag.assembly import House
    from crag.calibrations import LogitMap
    from crag.evaluation.calibration import Suggestion

TICK = 0.5
SAID, FAILED = "golden-thresholds-said", "golden-thresholds-failed"
"""Where it waits what the last click did, or why it could not, until the page has said so."""
VARIABLES: Final = {"upper": "CRAG_UPPER", "lower": "CRAG_LOWER", "strip_threshold": "CRAG_STRIP_THRESHOLD"}
MOST_MOVED: Final = 10
KINDS: Final = {Action.CORRECT: "answerable", Action.AMBIGUOUS: "uncertain", Action.INCORRECT: "uncovered"}


def draw(process: Process, house: House, settings: Settings, running: bool, t: Texts) -> None:
    """While questions run there is nothing to suggest yet: the numbers in force alone are shown."""
    st.subheader(t("golden_thresholds"), anchor=False)
    if said := st.session_state.pop(SAID, None):
        st.toast(said, icon=":material/tune:")
    if error := st.session_state.pop(FAILED, None):
        st.error(safe.in_markdown(error), icon=":material/error:")
    _in_force(process, house, settings, t)
    if running:
        st.caption(t("golden_after_run"))
        return
    if not any(answer.swept_under for answer in jobs.store_of(process).answered().values()):
        st.caption(t("golden_nothing_to_try"))
        return
    job = jobs.suggestion(process, house, settings)
    if job.running:
        _wait(process, t)
    elif job.state is JobState.FAILED:
        st.info(safe.in_markdown(translated(job.error or "", t)), icon=":material/info:")
    elif (found := job.events[-1].found) is not None:
        _suggestion(process, house, settings, found, t)


@st.fragment(run_every=TICK)
def _wait(process: Process, t: Texts) -> None:
    job = process.runtime.latest(jobs.SUGGEST)
    st.caption(f":material/progress_activity: {t('golden_trying')}")
    if job is None or not job.running:
        st.rerun()


def _in_force(process: Process, house: House, settings: Settings, t: Texts) -> None:
    """The numbers that hold, where they come from, and the way back where they were calibrated."""
    from crag.evaluation.calibrating import own_evaluator

    limits = process.limits(settings)
    now = limits.thresholds
    numbers = t("golden_numbers", upper=now.upper, lower=now.lower, strip=now.strip)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="golden-in-force"):
        st.markdown(f"{numbers} :small[{_origin(limits, t)}]", width="stretch")
        if limits.calibration is not None:
            st.button(
                t("golden_undo"),
                key="golden-undo",
                icon=":material/undo:",
                on_click=_undo,
                args=(process, t),
                help=t("golden_undo_help"),
            )
    if told := house.calibrated(own_evaluator(house, settings)).not_applied:
        st.warning(safe.in_markdown(translated(told, t)), icon=":material/warning:")
    if explicit := house.in_force(settings).explicit:
        names = t("golden_comma").join(VARIABLES[name] for name in explicit)
        st.caption(f":material/info: {safe.in_markdown(t('golden_explicit', names=names))}")


def _origin(limits: Limits, t: Texts) -> str:
    found = limits.calibration
    if found is None:
        return t("limits_set" if limits.explicit else "limits_default")
    return t("golden_calibrated", day=found.day, n=found.counts.questions, set=safe.in_markdown(found.question_set))


def _suggestion(process: Process, house: House, settings: Settings, found: Suggestion, t: Texts) -> None:
    for warning in found.warnings:
        st.warning(safe.in_markdown(translated(warning, t)), icon=":material/warning:")
    left, right = st.columns([6, 5], gap="medium")
    with left:
        alt = t("golden_sweep_alt", now=_pair(found.surface.now), then=_pair((found.after.upper, found.after.lower)))
        st.altair_chart(sweep_plot.plot(found, t), alt=alt)
        st.caption(t("golden_sweep_help"))
        if (found.before.document_map, found.before.strip_map) != (found.after.document_map, found.after.strip_map):
            st.caption(t("golden_sweep_refitted"))
    with right:
        st.html(_table(found, t))
        gain = found.gain
        said = t("golden_gain", gain=gain.after - gain.before, low=gain.low, high=gain.high)
        if gain.held_out is not None:
            said += t("golden_held_out", gain=gain.held_out)
        st.caption(said)
        _use(process, house, settings, found, t)
    if found.notes or found.moved:
        with st.expander(t("golden_why"), icon=":material/help:", key="golden-why"):
            st.html(_why(found, t))


def _pair(pair: tuple[float, float]) -> str:
    return f"{pair[0]:.2f} / {pair[1]:.2f}"


def _use(process: Process, house: House, settings: Settings, found: Suggestion, t: Texts) -> None:
    if not found.changes:
        st.markdown(f":material/check_circle: {t('golden_nothing_better')}")
        return
    st.button(
        t("golden_use"),
        key="golden-use",
        type="primary",
        icon=":material/tune:",
        on_click=_apply,
        args=(process, house, settings, found, t),
        help=t("golden_use_help"),
    )


def _apply(process: Process, house: House, settings: Settings, found: Suggestion, t: Texts) -> None:
    """As `crag calibrate --apply` does, with the same provenance."""
    from crag import calibrations
    from crag.evaluation.calibrating import Source, record
    from crag.evaluation.golden import SET, sha256_of
    from crag.evaluation.utility import Weights

    try:
        source = Source(SET, sha256_of(jobs.store_of(process).all()), ())
        folder = calibrations.folder_of(process.settings.data_dir)
        calibrations.apply(folder, record(house, settings, [source], found, Weights()))
    except CragError as error:
        st.session_state[FAILED] = str(error)
    else:
        st.session_state[SAID] = t("golden_used")


def _undo(process: Process, t: Texts) -> None:
    from crag import calibrations

    try:
        _, now = calibrations.undo(calibrations.folder_of(process.settings.data_dir))
    except CragError as error:
        st.session_state[FAILED] = str(error)
    else:
        st.session_state[SAID] = t("golden_undone_to", day=now) if now else t("golden_undone")


def _table(found: Suggestion, t: Texts) -> str:
    """In force beside suggested, as HTML: the numbers, then what they make of the labelled questions."""
    head = "".join(f"<th scope='col'>{safe.in_html(t(name))}</th>" for name in ("golden_in_force", "golden_suggested"))
    rows = [*_numbers(found, t), *_actions(found, t), *_refinement(found, t)]
    rows.append((t("golden_utility"), f"{found.gain.before:.3f}", f"{found.gain.after:.3f}"))
    lines = "".join(
        f"<tr{' class=crag-moved' if now != then else ''}><th scope='row'>{safe.in_html(name)}</th>"
        f"<td>{safe.in_html(now)}</td><td>{safe.in_html(then)}</td></tr>"
        for name, now, then in rows
    )
    return f"<table class='crag-numbers'><thead><tr><td></td>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _numbers(found: Suggestion, t: Texts) -> list[tuple[str, str, str]]:
    pairs = [("golden_upper", "upper"), ("golden_lower", "lower"), ("strip_threshold", "strip")]
    rows = [(t(name), f"{getattr(found.before, key):.3f}", f"{getattr(found.after, key):.3f}") for name, key in pairs]
    if found.before.maps_scores or found.after.maps_scores:
        rows += [
            (t(f"golden_{name}"), _map(getattr(found.before, name), t), _map(getattr(found.after, name), t))
            for name in ("document_map", "strip_map")
        ]
    return rows


def _map(by: LogitMap, t: Texts) -> str:
    from crag.calibrations import LogitMap

    return t("golden_as_given") if by == LogitMap() else f"logit × {by.slope:.2f} {by.offset:+.2f}"


def _actions(found: Suggestion, t: Texts) -> list[tuple[str, str, str]]:
    """How many questions of each kind trigger which action."""
    rows = []
    for expected, kind in KINDS.items():
        before, after = (side.actions.get(expected, {}) for side in (found.effect_before, found.effect_after))
        for action in (*Action, "UNDECIDED"):
            now, then = before.get(action, 0), after.get(action, 0)
            if now or then:
                rows.append((t(f"golden_{kind}", action=t(action)), str(now), str(then)))
    return rows


def _refinement(found: Suggestion, t: Texts) -> list[tuple[str, str, str]]:
    before, after = found.effect_before, found.effect_after
    rows = []
    if before.answer_kept[1] or after.answer_kept[1]:
        kept = [t("golden_n_of", n=side.answer_kept[0], of=side.answer_kept[1]) for side in (before, after)]
        rows.append((t("golden_keeps_answer"), kept[0], kept[1]))
    if before.dropped is not None and after.dropped is not None:
        rows.append((t("golden_drops"), f"{before.dropped:.0%}", f"{after.dropped:.0%}"))
    return rows


def _why(found: Suggestion, t: Texts) -> str:
    """What calibration says of its choice, and the questions whose action changes."""
    notes = "".join(f"<li>{safe.in_html(translated(note, t))}</li>" for note in found.notes)
    moved = "".join(
        f"<li><b>{safe.in_html(t(one.before))} → {safe.in_html(t(one.after))}</b> {safe.in_html(one.question)} "
        f"<small>({safe.in_html(t('golden_expects_action', action=t(one.expected)))})</small></li>"
        for one in found.moved[:MOST_MOVED]
    )
    more = len(found.moved) - MOST_MOVED
    rest = f"<li>{safe.in_html(t('and_more', n=more))}</li>" if more > 0 else ""
    return f"<ul class='crag-list crag-changes'>{notes}{moved}{rest}</ul>"
