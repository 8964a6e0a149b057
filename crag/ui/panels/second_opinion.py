"""A second opinion on a grade, on demand: the judge again, how firmly it stands by a score, or another model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from config import Settings
from crag.runtime import Job
from crag.schema import Grade, GradedDocument, Thresholds, Trace
from crag.ui import safe, state
from crag.ui.money import money
from crag.ui.texts import Texts
from crag.ui.texts.told import translated

if TYPE_CHECKING:
    from crag.opinions import Opinion, Way

TICK: Final = 0.3
ICONS: Final = {"again": ":material/refresh:", "stable": ":material/scatter_plot:", "other": ":material/balance:"}

Plot = Callable[[tuple[GradedDocument, ...], Thresholds, Texts], Any]
"""Draws scores against the thresholds."""


def draw(trace: Trace, plot: Plot, texts: Texts) -> None:
    """One document at a time, the one nearest to a threshold first; what is asked for runs as a job."""
    graded = [one for one in (*trace.documents, *trace.web_documents) if one.score is not None]
    if not graded:
        return
    with st.expander(texts("opinion"), icon=":material/balance:", key=f"opinion-{trace.turn_id}"):
        from crag.opinions import ways  # with assembly, which is there once something was answered

        process = state.process()
        house, settings = process.house, _settings(trace)
        possible = ways(settings, house, trace.evaluator) if house is not None else ()
        st.caption(_why(trace, possible, texts))
        if not possible:
            return
        document = _chosen(trace, graded, texts)
        job = process.runtime.job(st.session_state.get(_key(trace, document), ""))
        _buttons(trace, document, graded, possible, texts, running=job is not None and job.running)
        if job is not None:
            _result(job, trace, document, plot, texts)


def _why(trace: Trace, possible: Sequence[Way], texts: Texts) -> str:
    """What can be asked here, and why not more."""
    said = [texts("opinion_help")]
    if all(way.kind == "other" for way in possible):
        key = "opinion_another_judge" if trace.evaluator.name == "llm" else "opinion_fixed"
        said.append(texts(key, evaluator=trace.evaluator.name))
    if not possible:
        said.append(texts("opinion_nobody"))
    return safe.in_markdown(" ".join(said if possible else said[1:]))


def _chosen(trace: Trace, graded: Sequence[GradedDocument], texts: Texts) -> GradedDocument:
    limits = trace.thresholds
    near = sorted(
        graded, key=lambda one: min(abs((one.score or 0.0) - limit) for limit in (limits.lower, limits.upper))
    )
    by_id = {one.id: one for one in near}
    rank = {one.id: number for number, one in enumerate(graded, 1)}
    chosen = st.selectbox(
        texts("opinion_document"),
        list(by_id),
        format_func=lambda id_: texts(
            "opinion_row", rank=rank[id_], place=_place(by_id[id_], texts), score=by_id[id_].score
        ),
        key=f"opinion-document-{trace.turn_id}",
    )
    return by_id[chosen]


def _place(document: GradedDocument, texts: Texts) -> str:
    if document.url:
        return safe.clean(document.heading or document.url)
    return safe.clean(texts("place", file=document.file, page=document.page))


def _buttons(
    trace: Trace,
    document: GradedDocument,
    others: Sequence[GradedDocument],
    possible: Sequence[Way],
    texts: Texts,
    *,
    running: bool,
) -> None:
    from crag.opinions import TIMES

    with st.container(horizontal=True, gap="small", key=f"opinion-ways-{trace.turn_id}"):
        for way in possible:
            st.button(
                texts(f"opinion_{way.kind}", model=safe.in_markdown(way.spec.name)),
                key=f"opinion-{way.kind}-{trace.turn_id}-{way.spec.name}",
                icon=ICONS[way.kind],
                help=texts(f"opinion_{way.kind}_help", n=TIMES),
                on_click=_ask,
                args=(trace, document, others, way),
                disabled=running,
            )


def _ask(trace: Trace, document: GradedDocument, others: Sequence[GradedDocument], way: Way) -> None:
    from crag.opinions import opinion

    process = state.process()
    house = process.house
    if house is None:
        return

    async def source(_: Job[Opinion]) -> Any:
        yield await opinion(way, house, trace.standalone or trace.question, document, others)

    st.session_state[_key(trace, document)] = process.runtime.start("opinion", source).id


def _result(job: Job[Opinion], trace: Trace, document: GradedDocument, plot: Plot, texts: Texts) -> None:
    if job.running:
        _follow(job, texts)
    elif job.error:
        st.error(safe.in_markdown(translated(job.error, texts.language)), icon=":material/error:")
    elif job.events:
        _said(job.events[-1], trace, document, plot, texts)


@st.fragment(run_every=TICK)
def _follow(job: Job[Opinion], texts: Texts) -> None:
    st.caption(f":material/progress_activity: {texts('opinion_asking')}")
    if not job.running:
        st.rerun()


def _said(opinion: Opinion, trace: Trace, document: GradedDocument, plot: Plot, texts: Texts) -> None:
    """The scores as dots, what they mean in a sentence, and what failed."""
    found, limits = opinion.found, trace.thresholds
    if found.scores:
        grades = [Grade(score=score, reason=opinion.way.spec.name) for score in found.scores]
        dots = tuple(GradedDocument.of(document, grade, limits) for grade in grades)
        st.altair_chart(plot(dots, limits, texts), alt=texts("opinion_alt"))
        st.markdown(safe.in_markdown(sentence(opinion, trace, document, texts)))
    if found.causes:
        causes = " ".join(dict.fromkeys(translated(cause, texts.language) for cause in found.causes))
        failed = texts("opinion_failed", n=len(found.causes), causes=causes)
        st.error(safe.in_markdown(failed), icon=":material/error:")
    st.caption(safe.in_markdown(_took(opinion, trace.currency, texts)))


def sentence(opinion: Opinion, trace: Trace, document: GradedDocument, texts: Texts) -> str:
    """Which scores were given, by whom, how many leave the verdict as it is, and how far they lie apart. Pure."""
    found, limits, before = opinion.found, trace.thresholds, document.score or 0.0
    stay = len(found.scores) - found.differing(before, limits)
    scores = texts("and").join(f"{score:.2f}" for score in found.scores)
    parts = [
        texts("opinion_scores", model=opinion.way.spec.name, scores=scores, before=before),
        texts(
            f"opinion_stay_{limits.verdict(before)}",
            n=stay,
            of=len(found.scores),
            upper=limits.upper,
            lower=limits.lower,
        ),
    ]
    if len(found.scores) > 1:
        parts.append(texts("opinion_spread", spread=found.spread or 0.0, mean=fmean(found.scores)))
    if opinion.way.kind == "again":
        parts.append(texts("opinion_kept"))
    return ("" if texts.language == "zh" else " ").join(parts)


def _took(opinion: Opinion, currency: str, texts: Texts) -> str:
    costs = [call.cost for call in opinion.calls if call.cost is not None]
    said = [texts("n_calls", n=len(opinion.calls))]
    if costs:
        said.append(money(sum(costs), currency))
    return " · ".join(said)


def _settings(trace: Trace) -> Settings:
    """Those of the trace's turn, else those of the process."""
    process = state.process()
    conversation, _ = state.conversation(process)
    turns = conversation.turns if conversation else []
    return next((turn.settings for turn in turns if turn.job.id == trace.turn_id), process.settings)


def _key(trace: Trace, document: GradedDocument) -> str:
    return f"opinion-job-{trace.turn_id}-{document.id}"
