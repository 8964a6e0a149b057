"""The figures of a run with their 95 % intervals, and how they differ from the run before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from crag.ui import safe
from crag.ui.texts import Texts, evaluation_sentences

if TYPE_CHECKING:
    from crag.evaluation.comparison import Change, Comparison
    from crag.evaluation.metrics import Estimate, Share
    from crag.evaluation.report import Report
    from crag.evaluation.summary import Group

FEW = 30
"""Questions below which no single figure proves much."""


def draw(group: Group, comparison: Comparison | None, report: Report, t: Texts) -> None:
    """Of the whole run or of one language."""
    if group.metrics.questions < FEW:
        st.caption(f":material/info: {t('golden_few_questions', n=group.metrics.questions)}")
    changes = {one.name: one for one in comparison.changes if one.language == group.language} if comparison else {}
    st.html(table(group, changes, t))
    st.caption(t("golden_figures_help"))
    for note in report.notes:
        st.caption(f":material/info: {safe.in_markdown(translated(note, t))}")
    limits = report.thresholds
    st.caption(
        safe.in_markdown(
            t(
                "golden_ran_with",
                evaluator=f"{report.evaluator.name} {report.evaluator.version}",
                generator=report.generator,
                lower=limits.lower,
                upper=limits.upper,
                strip=limits.strip,
                k=report.k,
                version=report.catalog_version,
            )
        )
    )


def table(group: Group, changes: dict[str, Change], t: Texts) -> str:
    """The measures that there are labels for, by section, as HTML."""
    from crag.evaluation.tables import SECTIONS, value_of

    names = ["golden_measure", "golden_value", "golden_interval", *(["golden_difference"] if changes else [])]
    head = "".join(f"<th scope='col'>{safe.in_html(t(name))}</th>" for name in names)
    body = []
    for section, measures in SECTIONS.items():
        lines = [
            _line(name, value, changes.get(name), bool(changes), t)
            for name in measures
            if (value := value_of(group.metrics, name)) is not None
        ]
        if lines:
            title = safe.in_html(t(f"golden_section_{section.split()[0].lower()}"))
            body.append(f"<tr><th scope='rowgroup' colspan='{len(names)}'>{title}</th></tr>{''.join(lines)}")
    return (
        f"<div class='crag-wide'><table class='crag-figures'><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _line(name: str, value: Share | Estimate, change: Change | None, compared: bool, t: Texts) -> str:
    between = t("golden_between", low=value.low, high=value.high, n=value.n)
    cells = [
        safe.in_html(t(f"measure_{name}")),
        f"<b>{value.value:.3f}</b>",
        f"<span class='crag-interval'>{_bar(value)}</span>{safe.in_html(between)}",
    ]
    if compared:
        cells.append(safe.in_html(_difference(change, t)))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _bar(value: Share | Estimate) -> str:
    """The interval as a bar on [0, 1], with the value as a mark."""
    places = f"--low:{value.low:.3f};--high:{value.high:.3f};--value:{min(1.0, max(0.0, value.value)):.3f}"
    return f"<span class='crag-range' style='{places}'><i></i><b></b></span>"


def _difference(change: Change | None, t: Texts) -> str:
    """New minus old; where questions can be paired, how many were gained and lost, and how surely."""
    if change is None or change.difference is None:
        return ""
    said = f"{change.difference:+.3f}"
    if change.pairs and (change.gained or change.lost):
        said += t("golden_gained", gained=change.gained, lost=change.lost, p=change.p)
    return said


def translated(sentence: str, t: Texts) -> str:
    """What the evaluation says in a sentence of its own, in the page's language."""
    return evaluation_sentences.translated(sentence, t.language)
