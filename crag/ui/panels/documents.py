"""Documents and scores: a dot per document against both thresholds, and the table with verdicts and reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import altair as alt
import streamlit as st

from crag.rulings import ANSWERS, own_grade
from crag.schema import GradedDocument, Thresholds, Trace, Verdict
from crag.search.external import host
from crag.text import language
from crag.ui import safe, spoken
from crag.ui.colours import QUIET, SHAPES, VERDICTS
from crag.ui.dates import day
from crag.ui.panels import corrections, second_opinion, web
from crag.ui.texts import Texts
from crag.ui.texts.told import translated

DODGE = 0.03
"""Scores that round to the same multiple of this stand above each other."""
LONGEST_NAME = 40
"""Characters of a file name in the table; the middle of a longer one is left out."""
NAMED = 0.12
"""A zone this wide has room for the verdict's name."""


def draw(trace: Trace, texts: Texts) -> None:
    """The plot and the table of what was retrieved, the corrections, and what the web gave."""
    if trace.hypothetical:
        with st.expander(texts("hyde"), icon=":material/edit_note:", key=f"hyde-{trace.turn_id}"):
            st.caption(texts("hyde_help"))
            st.html(spoken.in_its_language(trace.hypothetical, "crag-thinking"))
    if not trace.documents:
        st.caption(texts("no_documents"))
        _draw_web(trace, texts)
        return
    graded = [document for document in trace.documents if document.score is not None]
    if graded:
        st.caption(texts("scores_help"))
        st.altair_chart(plot(trace.documents, trace.thresholds, texts), alt=texts("plot_alt"))
    said = corrections.said(trace)
    show_table(trace.documents, trace.thresholds, texts, said)
    ungraded = len(trace.documents) - len(graded)
    if ungraded:
        st.caption(f":material/help: {texts('ungraded_help', n=ungraded)}")
    corrections.draw(trace, said, texts)
    second_opinion.draw(trace, plot, texts)
    _draw_web(trace, texts)


def _draw_web(trace: Trace, texts: Texts) -> None:
    """What the web gave, apart from the documents: the decision was taken without it."""
    if trace.web:
        st.markdown(f"**:material/public: {texts('from_the_web')}**")
        st.caption(safe.in_markdown(web.sent(trace.web, trace.currency, texts)))
        if trace.web_documents:
            show_table(trace.web_documents, trace.thresholds, texts)
        elif trace.web.results is not None:
            st.caption(texts("web_nothing"))


def show_table(
    documents: tuple[GradedDocument, ...], thresholds: Thresholds, texts: Texts, said: Mapping[str, bool] | None = None
) -> None:
    """Rank, file, pages, score against both thresholds, verdict, reason; the text itself unfolds under the reason.

    What is ungraded has no score, and its cause as the reason. `said` holds by id what the user says of documents.
    """
    names = ("rank", "web_page" if documents[0].url else "file", "score", "verdict", "reason")
    head = "".join(f"<th scope='col'>{safe.in_html(texts(name))}</th>" for name in names)
    rows = "".join(
        _row(rank, document, thresholds, texts, (said or {}).get(document.id, _by_hand(document)))
        for rank, document in enumerate(documents, 1)
    )
    label = safe.in_html(texts("table_alt"))
    st.html(f"<table class='crag-documents' aria-label='{label}'><thead><tr>{head}</tr></thead>{rows}</table>")


def _row(rank: int, document: GradedDocument, thresholds: Thresholds, texts: Texts, said: bool | None) -> str:
    heading = f"<strong>{safe.in_html(document.heading)}</strong> " if document.heading else ""
    text = f"<div class='crag-text' lang='{language(document.text)}'>{heading}{safe.of_document(document.text)}</div>"
    cells = (
        ("rank", str(rank)),
        ("file", _place(document, texts)),
        ("score", _bar(document, thresholds, texts)),
        ("verdict", f"<span class='crag-verdict'>{safe.in_html(texts(document.verdict))}</span>{_said(said, texts)}"),
        (
            "reason",
            f"<details><summary>{safe.in_html(_why(document, texts))}</summary>{text}</details>",
        ),
    )
    inside = "".join(f"<td class='crag-{name}-cell'>{cell}</td>" for name, cell in cells)
    return f"<tr class='crag-{document.verdict}'>{inside}</tr>"


def _why(document: GradedDocument, texts: Texts) -> str:
    """The reason of the evaluator's score, or the cause why there is none."""
    own = own_grade(document)
    return own.reason or translated(own.cause or "", texts.language)


def _place(document: GradedDocument, texts: Texts) -> str:
    """File and pages, or the linked title with the host and the date of publication."""
    if document.url:
        small = " · ".join(part for part in (host(document.url), day(document.published or "", texts)) if part)
        name = safe.link(document.url, document.heading or document.url)
        return f"{name}<small>{safe.in_html(small)}</small>"
    name = f"<span title='{safe.in_html(document.file)}'>{safe.in_html(short(document.file))}</span>"
    return f"{name}<small>{texts('pages', pages=pages(document.pages))}</small>"


def _by_hand(document: GradedDocument) -> bool | None:
    """What a person said of the document before it was decided on; None: nothing."""
    return None if document.by_evaluator is None else document.score == ANSWERS


def _said(answers: bool | None, texts: Texts) -> str:
    """By what the user has corrected the grade."""
    if answers is None:
        return ""
    return f"<small class='crag-said'>{safe.in_html(texts('corrected_yes' if answers else 'corrected_no'))}</small>"


def _bar(document: GradedDocument, thresholds: Thresholds, texts: Texts) -> str:
    """The score as a bar; two marks stand for the thresholds."""
    if document.score is None:
        return texts("no_score")
    own = document.by_evaluator
    score = texts("no_score") if own is None or own.score is None else f"{own.score:.2f}"
    beside = f"<small class='crag-said'>{safe.in_html(texts('by_evaluator', score=score))}</small>" if own else ""
    places = f"--score:{document.score:.4f};--lower:{thresholds.lower:.4f};--upper:{thresholds.upper:.4f}"
    return f"{document.score:.2f}<div class='crag-bar' style='{places}'><i></i><b></b><b></b></div>{beside}"


def short(name: str) -> str:
    """The name with its middle left out where it is too long: beginning and end tell files apart."""
    if len(name) <= LONGEST_NAME:
        return name
    end = LONGEST_NAME // 2
    return f"{name[: LONGEST_NAME - end - 1]}…{name[-end:]}"


def pages(numbers: tuple[int, ...]) -> str:
    """`5`, or `5–6` for a run."""
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}"


def plot(
    documents: tuple[GradedDocument, ...], thresholds: Thresholds, texts: Texts
) -> alt.LayerChart | alt.FacetChart:
    """Each graded document a dot on 0..1; the thresholds are rules, the band between them is shaded."""
    lower, upper = thresholds.lower, thresholds.upper
    axis = alt.Axis(values=[0, lower, upper, 1], format=".2f", grid=False, domain=False, labelOverlap="greedy")
    across: dict[str, Any] = {"scale": alt.Scale(domain=[0, 1], nice=False), "axis": axis, "title": None}
    band = (
        alt.Chart(alt.InlineData(values=[{"from": lower, "to": upper}]))
        .mark_rect(opacity=0.14, color=VERDICTS[Verdict.PARTIAL])
        .encode(x=alt.X("from:Q", **across), x2="to:Q")
    )
    rules = (
        alt.Chart(alt.InlineData(values=[{"at": lower}, {"at": upper}]))
        .mark_rule(strokeDash=[4, 3], color=QUIET, strokeWidth=1.5)
        .encode(x=alt.X("at:Q", **across))
    )
    words = (
        alt.Chart(alt.InlineData(values=_zones(thresholds, texts)))
        .mark_text(baseline="top", dy=4, color=QUIET, fontSize=12)
        .encode(x=alt.X("at:Q", **across), y=alt.value(0), text="text:N")
    )
    return alt.layer(band, rules, words, _points(_dots(documents, texts), across, texts)).properties(height=150)


def _points(dots: list[dict[str, Any]], across: dict[str, Any], texts: Texts) -> alt.Chart:
    level = alt.Scale(domain=[-1, max(2, max(dot["level"] for dot in dots) + 1.6)])
    points: alt.Chart = (
        alt.Chart(alt.InlineData(values=dots))
        .mark_point(filled=True, size=120, opacity=0.9)
        .encode(
            x=alt.X("score:Q", **across),
            y=alt.Y("level:Q", axis=None, scale=level),
            color=alt.Color("colour:N", scale=None),
            shape=alt.Shape("shape:N", scale=None),
            tooltip=[
                alt.Tooltip("document:N", title=texts("file")),
                alt.Tooltip("score:Q", title=texts("score"), format=".3f"),
                alt.Tooltip("verdict:N", title=texts("verdict")),
                alt.Tooltip("reason:N", title=texts("reason")),
            ],
        )
    )
    return points


def _zones(thresholds: Thresholds, texts: Texts) -> list[dict[str, Any]]:
    """The verdicts' names in the middle of their zones, where there is room."""
    zones = {
        Verdict.IRRELEVANT: (0.0, thresholds.lower),
        Verdict.PARTIAL: (thresholds.lower, thresholds.upper),
        Verdict.RELEVANT: (thresholds.upper, 1.0),
    }
    return [
        {"at": (start + end) / 2, "text": texts(verdict)}
        for verdict, (start, end) in zones.items()
        if end - start >= NAMED
    ]


def _dots(documents: tuple[GradedDocument, ...], texts: Texts) -> list[dict[str, Any]]:
    """`level` counts the dots that stand at the same place already."""
    seen: Counter[int] = Counter()
    dots = []
    for rank, document in enumerate(documents, 1):
        if document.score is None:
            continue
        place = round(document.score / DODGE)
        name = texts("place", file=document.file, page=pages(document.pages))
        dots.append(
            {
                "score": document.score,
                "level": seen[place],
                "verdict": texts(document.verdict),
                "reason": own_grade(document).reason,
                "colour": VERDICTS[document.verdict],
                "shape": SHAPES[document.verdict],
                "document": f"{rank}. {name}",
            }
        )
        seen[place] += 1
    return dots
