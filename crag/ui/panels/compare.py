"""Compare: the same question with no retrieval, by plain RAG, or under other settings, beside the answer as it is."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st
from pydantic import ValidationError

from config import Settings
from crag.events import Finished, Token
from crag.export.wording import is_written
from crag.runtime import Job, JobState
from crag.schema import CitationCheck, Source, Support, Trace
from crag.text import language
from crag.ui import answer_text, marks, safe, state, written_text
from crag.ui.marks import Look
from crag.ui.money import cost_of, money, total
from crag.ui.panels import web
from crag.ui.settings import person
from crag.ui.state import Process
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from crag.assembly import House
    from crag.compare import Compared

TICK = 0.3
NOTHING, PLAIN, OTHER = "nothing", "plain", "other"
ICONS = {NOTHING: ":material/psychology:", PLAIN: ":material/text_snippet:", OTHER: ":material/tune:"}


@dataclass(frozen=True)
class Shown:
    """One answer as a column shows it."""

    answer: str
    written: bool
    """Whether a model wrote it: then it has structure."""
    decided: str
    """What was decided, as Markdown of our own."""
    sources: Sequence[Source]
    given: int
    """Characters of the knowledge."""
    check: CitationCheck
    calls: int
    cost: tuple[float, bool] | None
    """What is known of it, and whether that is all."""
    currency: str
    seconds: float
    notes: tuple[str, ...] = ()
    """Why it ends early, or failed."""


def draw(trace: Trace, t: Texts) -> None:
    """Columns side by side; the first is the answer as it is."""
    st.caption(t("compare_help"))
    process = state.process()
    settings = _settings(process, trace)
    _start_buttons(process, settings, trace, t)
    found = [(way, job) for way in (NOTHING, PLAIN, OTHER) if (job := _job(process, trace, way))]
    if not found:
        st.caption(t("compare_none"))
        return
    if any(job.running for _, job in found):
        st.fragment(_columns, run_every=TICK)(trace, found, t, True)
    else:
        _columns(trace, found, t, False)


def _settings(process: Process, trace: Trace) -> Settings:
    """Those that the answer was asked under, as far as they are known."""
    conversation, _ = state.conversation(process)
    turns = conversation.turns if conversation else []
    own = person.of(process).settings
    return next((turn.as_asked(own) for turn in turns if turn.job.id == trace.turn_id), own)


def _house(process: Process) -> House:
    if process.house is None:
        raise RuntimeError("there is no answer to compare before the house is open")
    return process.house


def _key(trace: Trace, name: str) -> str:
    return f"compare-{name}-{trace.turn_id}"


def _job(process: Process, trace: Trace, way: str) -> Job[Any] | None:
    return process.runtime.job(process.compared.get((trace.turn_id, way), ""))


def _start_buttons(process: Process, settings: Settings, trace: Trace, t: Texts) -> None:
    no_model = settings.llm_provider == "embedded"
    with st.container(horizontal=True, gap="small", key=_key(trace, "start")):
        for way in (NOTHING, PLAIN):
            job = _job(process, trace, way)
            st.button(
                t(f"compare_{way}"),
                key=_key(trace, way),
                icon=ICONS[way],
                help=t(f"compare_{way}_help"),
                disabled=job is not None and job.running,
                on_click=_start,
                args=(process, trace, way, _another_way(process, settings, trace, way)),
            )
        with st.popover(t("compare_other"), icon=ICONS[OTHER], help=t("compare_other_help"), key=_key(trace, OTHER)):
            _other_settings(process, settings, trace, no_model, t)


def _other_settings(process: Process, settings: Settings, trace: Trace, no_model: bool, t: Texts) -> None:
    limits = trace.thresholds
    lower, upper = st.slider(
        t("thresholds"), 0.0, 1.0, (limits.lower, limits.upper), 0.01, format="%.2f", key=_key(trace, "limits")
    )
    strip = st.slider(t("strip_threshold"), 0.0, 1.0, limits.strip, 0.01, format="%.2f", key=_key(trace, "strip"))
    k = st.slider(t("compare_k"), 1, 50, trace.k, 1, key=_key(trace, "k"))
    chosen: dict[str, object] = {"lower": lower, "upper": upper, "strip_threshold": strip, "k": k}
    if not no_model:
        model = st.text_input(t("compare_model"), value=settings.llm_model, key=_key(trace, "model"))
        evaluators = list(dict.fromkeys(("lightweight", "llm", settings.evaluator)))
        evaluator = st.selectbox(
            t("compare_evaluator"), evaluators, evaluators.index(settings.evaluator), key=_key(trace, "evaluator")
        )
        chosen |= {"llm_model": model.strip(), "evaluator": evaluator}
    st.button(
        t("compare_run"),
        key=_key(trace, "run"),
        type="primary",
        icon=":material/send:",
        on_click=_start_other,
        args=(process, trace, settings, chosen),
    )
    if error := st.session_state.get(_key(trace, "error")):
        st.error(safe.in_markdown(error), icon=":material/error:")


def _another_way(process: Process, settings: Settings, trace: Trace, way: str) -> Callable[[], Any]:
    def source() -> Any:
        from crag.assembly import compared
        from crag.compare import Way

        return compared(_house(process), settings, trace, Way(way))

    return source


def _start(process: Process, trace: Trace, way: str, source: Callable[[], Any]) -> None:
    process.compared[trace.turn_id, way] = process.runtime.start("compare", source()).id


def _start_other(process: Process, trace: Trace, settings: Settings, chosen: dict[str, object]) -> None:
    """The whole flow, with the conversation left out: follow-ups are asked as the question that stands alone."""
    st.session_state.pop(_key(trace, "error"), None)
    try:
        other = type(settings).model_validate(settings.model_dump() | chosen)
    except ValidationError as error:
        st.session_state[_key(trace, "error")] = error.errors()[0]["msg"].removeprefix("Value error, ")
        return
    question = trace.standalone or trace.question
    source = state.turn_source(_house(process), other, question, trace.files)
    process.compared[trace.turn_id, OTHER] = process.runtime.start("compare", source).id


def _columns(trace: Trace, found: Sequence[tuple[str, Job[Any]]], t: Texts, following: bool) -> None:
    columns = st.columns(len(found) + 1)
    with columns[0]:
        _column(t("compare_crag"), _of_trace(trace, t), t)
    for column, (way, job) in zip(columns[1:], found, strict=True):
        with column:
            _draw_job(trace, way, job, t)
    if following and not any(job.running for _, job in found):
        st.rerun(scope="app")


def _draw_job(trace: Trace, way: str, job: Job[Any], t: Texts) -> None:
    title, last = t(f"compare_{way}"), job.events[-1] if job.events else None
    if job.running:
        st.markdown(f"**{title}**")
        st.caption(f":material/progress_activity: {t('compare_doing')}")
        _answer("".join(event.text for event in job.events if isinstance(event, Token)), written=True, look=None)
        st.button(t("stop"), key=_key(trace, f"stop-{way}"), icon=":material/stop_circle:", on_click=job.stop)
    elif job.state is JobState.FAILED or last is None:
        st.markdown(f"**{title}**")
        st.error(safe.in_markdown(job.error or t("compare_stopped")), icon=":material/error:")
    else:
        _column(title, _of_trace(last.trace, t) if isinstance(last, Finished) else _of_compared(last, t), t)


def _of_trace(trace: Trace, t: Texts) -> Shown:
    from crag.ui import answer  # which imports the panels

    colour, icon = answer.BADGES[trace.action] if trace.action else ("gray", ":material/question_mark:")
    word = t(trace.action) if trace.action else t("compare_ungraded")
    return Shown(
        answer=trace.answer,
        written=is_written(trace),
        decided=f":{colour}-badge[{icon} {word}]",
        sources=trace.sources,
        given=len(trace.knowledge),
        check=trace.check,
        calls=len(trace.calls),
        cost=cost_of(trace),
        seconds=sum(seconds for stage, seconds in trace.timings.items() if stage != "wait"),
        currency=trace.currency,
        notes=tuple(note for note in (trace.cut, trace.error, t("compare_stopped") if trace.stopped else None) if note),
    )


def _of_compared(found: Compared, t: Texts) -> Shown:
    return Shown(
        answer=found.answer,
        written=found.generator != "extractive",
        decided=f":gray-badge[{ICONS[found.way]} {t('compare_ungraded')}]",
        sources=found.sources,
        given=len(found.knowledge),
        check=found.check,
        calls=len(found.calls),
        cost=total([call.cost for call in found.calls]),
        seconds=found.seconds,
        currency=found.currency,
        notes=tuple(note for note in (found.cut, found.error, t("compare_stopped") if found.stopped else None) if note),
    )


def _column(title: str, shown: Shown, t: Texts) -> None:
    st.markdown(f"**{title}** {shown.decided}")
    named = {source.n: web.name_of(source, t) for source in shown.sources}
    doubts = marks.marks_in(marks.shown(shown.answer), shown.check.sentences)
    _answer(shown.answer, written=shown.written, look=Look("", named, doubts, t))
    for note in shown.notes:
        st.caption(f":material/error: {safe.in_markdown(note)}")
    if shown.sources:
        places = "".join(f"<li>[{source.n}] {web.place(source, t)}</li>" for source in shown.sources)
        st.html(f"<ul class='crag-list'>{places}</ul>")
    st.caption(" · ".join(safe.in_markdown(fact) for fact in _facts(shown, t)))


def _answer(text: str, *, written: bool, look: Look | None) -> None:
    if text:
        inside = (written_text if written else answer_text).as_html(text, look)
        kind = "crag-written" if written else "crag-text"
        st.html(f"<div class='{kind} crag-compared' lang='{html.escape(language(text))}'>{inside}</div>")


def _facts(shown: Shown, t: Texts) -> list[str]:
    """What can be counted: sources, sentences that hold, what was given, calls, seconds, cost."""
    facts = []
    if shown.sources:
        facts.append(t("compare_sources", n=len(shown.sources)))
        facts.append(t("compare_characters", n=shown.given))
        held = sum(sentence.support is Support.SUPPORTED for sentence in shown.check.sentences)
        facts.append(t("compare_supported", n=held, of=len(shown.check.sentences)))
    elif shown.answer:
        facts.append(t("compare_no_sources"))
    facts += [t("seconds", n=shown.seconds), t("n_calls", n=shown.calls)]
    if shown.cost:
        cost, whole = shown.cost
        facts.append(money(cost, shown.currency) if whole else t("at_least", cost=money(cost, shown.currency)))
    return facts
