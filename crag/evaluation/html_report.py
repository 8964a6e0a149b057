"""The report of a run for people: one HTML file with tables, plots and failures that loads nothing from anywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from crag.evaluation import plots
from crag.evaluation.comparison import Comparison
from crag.evaluation.metrics import Bin
from crag.evaluation.report import Report
from crag.evaluation.rows import failures_of
from crag.evaluation.summary import Group
from crag.evaluation.tables import name_of, sections_of, worded

LISTED = 500
"""At most so many failures, and changed questions, are listed; the JSON holds all."""

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
"""Controls and direction marks: they would reorder or hide what is read."""


def _readable(value: object) -> object:
    return _UNSEEN.sub("", value) if type(value) is str else value  # not the plots, which are marked as safe


_environment = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,  # questions, names and errors are data: none of them becomes markup
    finalize=_readable,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def html_of(report: Report, comparison: Comparison | None = None) -> str:
    """The whole page, in light and dark; `comparison` adds what changed since an older report."""
    overall = report.groups[0].metrics
    failures = failures_of(report.rows)
    return _environment.get_template("report.html.jinja").render(
        report=report,
        overall=overall,
        groups=[name_of(group) for group in report.groups],
        sections=sections_of(report.groups),
        plots=_plots(report),
        failures=failures[:LISTED],
        failed=len(failures),
        comparison=comparison,
        listed=LISTED,
        worded=worded,
    )


def _plots(report: Report) -> list[dict[str, Any]]:
    """Title, explanation and SVG of each plot that there are numbers for."""
    overall = report.groups[0].metrics
    found: list[dict[str, Any]] = []

    def add(title: str, says: str, svg: str) -> None:
        found.append({"title": title, "says": says, "svg": svg})

    if overall.calibration:
        says = (
            "On the dashed line a score of 0.8 means that 8 of 10 such documents answer. Dots grow with their number."
        )
        add("Calibration", says, plots.calibration(_curves(report.groups)))
    if any(document.score is not None for row in report.rows for document in row.documents):
        says = "The first look's documents. Good scores keep the colours apart, with the thresholds between them."
        drawn = plots.scores(report.rows, report.thresholds.lower, report.thresholds.upper)
        add("Scores by label", says, drawn)
    if overall.confusion:
        says = "Only questions with an expected action. The shade is the share of the row."
        add("Actions", says, plots.confusion(overall.confusion))
    if overall.latency:
        says = "Per question that had the stage, on the machine of the run. The last two rows are sums."
        add("Time", says, plots.latency(overall.latency))
    return found


def _curves(groups: Sequence[Group]) -> Mapping[str, Sequence[Bin]]:
    """One curve per language where there are several, otherwise one of all."""
    of_language = {
        group.language: group.metrics.calibration for group in groups if group.set is None and group.language
    }
    curves = {name: bins for name, bins in of_language.items() if bins}
    return curves if len(curves) > 1 else {"all": groups[0].metrics.calibration}
