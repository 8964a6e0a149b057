"""The plots of a report as inline SVG: drawn by Altair, rendered by vl-convert on this machine, without a script."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import altair as alt

from crag.evaluation.metrics import Bin
from crag.evaluation.rows import Row
from crag.evaluation.summary import UNDECIDED, Latency
from crag.schema import Action

WIDTH, HEIGHT = 380, 230
BINS = 20
LABELS = {True: "answers", False: "does not", None: "unknown"}
ACTIONS = [*(str(action) for action in Action), UNDECIDED]

INK, BLUE, GREEN, ORANGE, QUIET, GRID = (f"#0101{number:02x}" for number in range(1, 7))
"""Stand for the colours of the page, which Altair cannot name; `svg` puts those in."""
COLOURS: Final = {
    INK: "currentColor",
    BLUE: "var(--blue)",
    GREEN: "var(--green)",
    ORANGE: "var(--orange)",
    QUIET: "var(--quiet)",
    GRID: "var(--line)",
}
_NAMESPACE = re.compile(r' xmlns(?::xlink)?="[^"]*"')


def svg(chart: alt.TopLevelMixin, label: str) -> str:
    """The chart as an SVG element in the colours of the page around it; `label` is what a screen reader says."""
    import vl_convert  # loads a script engine of some 90 MB: only where a report is drawn

    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    drawn = str(vl_convert.vegalite_to_svg(_dressed(chart), vl_version=version))
    drawn = _NAMESPACE.sub("", drawn, count=2)  # an element inside HTML needs none
    for stand_in, colour in COLOURS.items():
        drawn = drawn.replace(f'"{stand_in}"', f'"{colour}"')
    return drawn.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def _dressed(chart: alt.TopLevelMixin) -> dict[str, Any]:
    specification: dict[str, Any] = chart.to_dict()
    axis = {"labelColor": INK, "titleColor": INK, "gridColor": GRID, "domainColor": QUIET, "tickColor": QUIET}
    font = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    specification["config"] = {
        "background": "transparent",
        "padding": {"left": 20, "right": 12, "top": 5, "bottom": 5},  # labels can be wider on the reader's machine
        "font": "system-ui, sans-serif",
        "view": {"stroke": None},
        "axis": axis | font | {"labelLimit": 220},
        "legend": {"labelColor": INK, "titleColor": INK, "orient": "top", "title": None} | {"labelFontSize": 12},
    }
    return specification


def _over(values: list[dict[str, Any]]) -> alt.Chart:
    return alt.Chart({"values": values})


def calibration(curves: Mapping[str, Sequence[Bin]]) -> str:
    """Mean score against the share that answers, one line per name; the diagonal is perfect calibration."""
    values = [
        {"score": bin_.score, "relevant": bin_.relevant, "n": bin_.n, "of": name}
        for name, bins in curves.items()
        for bin_ in bins
        if bin_.n
    ]
    names = list(curves)
    x = alt.X("score:Q", title="mean score of the bin", scale=alt.Scale(domain=[0, 1]))
    y = alt.Y("relevant:Q", title="share that answers", scale=alt.Scale(domain=[0, 1]))
    colour = alt.Color(
        "of:N",
        scale=alt.Scale(domain=names, range=[BLUE, ORANGE, GREEN, QUIET][: len(names)]),
        legend=alt.Legend() if len(names) > 1 else None,
    )
    ideal = _over([{"score": 0, "relevant": 0}, {"score": 1, "relevant": 1}])
    base = _over(values).encode(x=x, y=y, color=colour)
    sized = base.mark_circle(opacity=0.85).encode(
        size=alt.Size("n:Q", scale=alt.Scale(type="sqrt", domainMin=0, range=[12, 260]), legend=None)
    )
    chart = alt.layer(
        ideal.mark_line(color=QUIET, strokeDash=[5, 4], strokeWidth=1).encode(x="score:Q", y="relevant:Q"),
        base.mark_line(strokeWidth=2),
        sized,
    )
    return svg(chart.properties(width=WIDTH, height=HEIGHT), "Calibration curve")


def scores(rows: Sequence[Row], lower: float, upper: float) -> str:
    """Histogram of the document scores of the first look by label, with both thresholds."""
    counts: dict[tuple[int, str], int] = {}
    for document in (document for row in rows for document in row.documents):
        if document.score is not None:
            key = (min(int(document.score * BINS), BINS - 1), LABELS[document.label])
            counts[key] = counts.get(key, 0) + 1
    names = [name for name in LABELS.values() if any(label == name for _, label in counts)]
    colours = {"answers": GREEN, "does not": ORANGE, "unknown": QUIET}
    values = [
        {"start": at / BINS, "end": (at + 1) / BINS, "count": count, "label": label, "order": names.index(label)}
        for (at, label), count in sorted(counts.items())
    ]
    bars = (
        _over(values)
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("start:Q", bin="binned", title="document score", scale=alt.Scale(domain=[0, 1])),
            x2="end:Q",
            y=alt.Y("count:Q", title="documents", axis=alt.Axis(tickMinStep=1)),
            color=alt.Color("label:N", scale=alt.Scale(domain=names, range=[colours[name] for name in names])),
            order="order:Q",
        )
    )
    limits = _over([{"at": lower, "is": "lower"}, {"at": upper, "is": "upper"}])
    rules = limits.mark_rule(color=INK, strokeDash=[4, 3]).encode(x="at:Q")
    names_of = limits.mark_text(color=INK, align="left", dx=4, baseline="top", fontSize=11).encode(
        x="at:Q", y=alt.value(0), text="is:N"
    )
    chart = alt.layer(bars, rules, names_of)
    return svg(chart.properties(width=WIDTH, height=HEIGHT), "Histogram of document scores by label")


def confusion(counts: Mapping[str, Mapping[str, int]]) -> str:
    """Heat map of expected against triggered actions; the shade is the share of its row, the number the questions."""
    expected = [action for action in ACTIONS if action in counts]
    triggered = [
        action for action in ACTIONS if action != UNDECIDED or any(UNDECIDED in row for row in counts.values())
    ]
    values = []
    for line in expected:
        total = sum(counts[line].values())
        for column in triggered:
            n = counts[line].get(column, 0)
            values.append({"expected": line, "triggered": column, "n": n, "share": n / total, "right": line == column})
    base = _over(values).encode(
        x=alt.X("triggered:N", sort=triggered, title="triggered", axis=alt.Axis(orient="top", labelAngle=0)),
        y=alt.Y("expected:N", sort=expected, title="expected"),
    )
    cells = base.mark_rect(stroke=GRID).encode(
        color=alt.condition("datum.right", alt.value(GREEN), alt.value(ORANGE)),
        opacity=alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.0, 0.6]), legend=None),
    )
    numbers = base.mark_text(color=INK, fontSize=14).encode(text="n:Q")
    size = {"width": 96 * len(triggered), "height": 56 * len(expected)}
    return svg(alt.layer(cells, numbers).properties(**size), "Expected and triggered actions")


def latency(stages: Mapping[str, Latency]) -> str:
    """Bars of the median milliseconds per stage, with a tick at the 95th percentile."""
    names = [name.replace("_", " ") for name in stages]
    values = [
        {"stage": name, "median": spent.median_ms, "p95": spent.p95_ms}
        for name, spent in zip(names, stages.values(), strict=True)
    ]
    base = _over(values).encode(y=alt.Y("stage:N", sort=names, title=None))
    bars = base.mark_bar(color=BLUE, height=14).encode(x=alt.X("median:Q", title="milliseconds: median, tick at p95"))
    ticks = base.mark_tick(color=INK, thickness=2, height=18).encode(x="p95:Q")
    size = {"width": WIDTH, "height": 24 * len(values)}
    return svg(alt.layer(bars, ticks).properties(**size), "Milliseconds per stage")
