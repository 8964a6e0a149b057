"""What came of the last run: how many are as expected, the confusion matrix, what changed, and every question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import streamlit as st

from crag.schema import Action
from crag.ui import safe
from crag.ui.evaluate import figures, jobs
from crag.ui.evaluate.table import HEAD, ROW, Table
from crag.ui.state import Process
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from crag.evaluation.comparison import ChangedQuestion, Comparison
    from crag.evaluation.report import Report
    from crag.evaluation.rows import Mark, Row
    from crag.evaluation.summary import Group
    from crag.history.golden import Goldens, Run

TALLEST: Final = 460
MOST_CHANGED: Final = 12
"""So many changed questions are named; all can be chosen in the table."""
UNDECIDED: Final = "UNDECIDED"


@dataclass(frozen=True)
class Ran:
    """The last run, and the one before it as far as there is one."""

    run: Run
    report: Report
    comparison: Comparison | None


def draw(process: Process, table: Table, go: Callable[[int | None], None], t: Texts) -> None:
    """Nothing where nothing was run yet. Raises HistoryError."""
    store = jobs.store_of(process)
    runs = store.runs(2)
    if not runs:
        if table.goldens:
            st.caption(t("golden_never_run"))
        return
    ran = _ran(str(process.store.path), tuple(runs), store)
    if ran is None:
        st.warning(t("golden_unreadable"), icon=":material/warning:")
    else:
        _results(ran, go, t)


@st.cache_resource(max_entries=4, show_spinner=False)
def _ran(path: str, runs: tuple[Run, ...], _store: Goldens) -> Ran | None:
    """Read once: a report of many questions is large. `path` tells stores apart."""
    from crag.evaluation.comparison import compare
    from crag.evaluation.golden_runs import report_from

    reports = [report_from(_store, run.id) for run in runs]
    newest, before = reports[0], reports[1] if len(reports) > 1 else None
    if newest is None:
        return None
    return Ran(runs[0], newest, compare(before, newest) if before else None)


@st.fragment
def _results(ran: Ran, go: Callable[[int | None], None], t: Texts) -> None:
    report = ran.report
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="golden-results-bar"):
        st.subheader(t("golden_last_run"), anchor=False, width="stretch")
        _report_button(ran, t)
    st.markdown(_headline(ran, t))
    group = _group(report, t)
    left, right = st.columns([1, 1], gap="medium")
    with left:
        st.markdown(f"**{t('golden_confusion')}**")
        st.html(confusion(group.metrics.confusion, t))
    with right:
        st.markdown(f"**{t('golden_changes')}**")
        _changes(ran.comparison, t)
    with st.expander(t("golden_figures"), icon=":material/monitoring:", key="golden-figures", on_change="rerun") as box:
        if box.open:
            figures.draw(group, ran.comparison, report, t)
    _questions(ran, go, t)


def _headline(ran: Ran, t: Texts) -> str:
    """How many took the expected action, and when."""
    now = ran.report.groups[0].metrics.shares.get("action_as_expected")
    said = []
    if now is not None:
        said.append(f"**{t('golden_as_expected', n=now.hits, of=now.n)}**")
        before = _before(ran.comparison)
        if before is not None:
            said.append(t("golden_was", n=before[0], of=before[1]))
    said.append(t("golden_ran_at", time=ran.run.created[:16].replace("T", " "), n=ran.run.asked))
    if ran.run.left:
        said.append(t("golden_left", n=ran.run.left))
    if ran.report.counts.failed:
        said.append(t("golden_n_failed", n=ran.report.counts.failed))
    return " · ".join(said)


def _before(comparison: Comparison | None) -> tuple[int, int] | None:
    from crag.evaluation.metrics import Share

    changes = comparison.changes if comparison else ()
    old = next((one.old for one in changes if one.name == "action_as_expected" and one.language is None), None)
    return (old.hits, old.n) if isinstance(old, Share) else None


def _report_button(ran: Ran, t: Texts) -> None:
    st.download_button(
        t("golden_report"),
        data=partial(_html, ran),
        file_name=f"evaluation-{ran.run.created[:10]}.html",
        mime="text/html",
        key="golden-report",
        icon=":material/lab_profile:",
        on_click="ignore",
        help=t("golden_report_help"),
    )


def _html(ran: Ran) -> str:
    from crag.evaluation.html_report import html_of

    return html_of(ran.report, ran.comparison)


def _group(report: Report, t: Texts) -> Group:
    """The figures of all questions, or of those in the chosen language where there are several."""
    groups = {group.language or "all": group for group in report.groups if group.set is None}
    if len(groups) < 2:
        return report.groups[0]
    chosen = st.segmented_control(
        t("golden_language"),
        list(groups),
        format_func=lambda name: t(f"golden_in_{name}"),
        default="all",
        required=True,
        key="golden-language",
        label_visibility="collapsed",
    )
    return groups[chosen or "all"]


def confusion(counts: Mapping[str, Mapping[str, int]], t: Texts) -> str:
    """Expected actions down, triggered ones across, as HTML; the shade is the share of the row."""
    if not counts:
        return f"<p class='crag-note'>{safe.in_html(t('golden_no_expectation'))}</p>"
    actions = [str(action) for action in Action]
    across = [*actions, UNDECIDED] if any(UNDECIDED in line for line in counts.values()) else actions
    head = "".join(f"<th scope='col'>{safe.in_html(t(action))}</th>" for action in across)
    lines = []
    for expected in actions:
        line = counts.get(expected, {})
        total = sum(line.values())
        cells = "".join(_cell(line.get(column, 0), total, expected == column) for column in across)
        lines.append(f"<tr><th scope='row'>{safe.in_html(t(expected))}</th>{cells}</tr>")
    corner = safe.in_html(t("golden_corner"))
    label = safe.in_html(t("golden_confusion_alt"))
    return (
        f"<table class='crag-confusion' aria-label='{label}'><thead><tr><td>{corner}</td>{head}</tr></thead>"
        f"<tbody>{''.join(lines)}</tbody></table>"
    )


def _cell(n: int, total: int, right: bool) -> str:
    share = n / total if total else 0.0
    kind = "right" if right else "wrong"
    mark = "✓ " if right and n else "✕ " if n else ""
    return f"<td class='crag-{kind}' style='--share:{share:.3f}'>{mark}{n}</td>"


def _changes(comparison: Comparison | None, t: Texts) -> None:
    if comparison is None:
        st.caption(t("golden_no_run_before"))
        return
    if not comparison.questions:
        st.caption(t("golden_nothing_changed"))
    lines = "".join(_change(one, t) for one in comparison.questions[:MOST_CHANGED])
    if lines:
        st.html(f"<ul class='crag-list crag-changes'>{lines}</ul>")
    if len(comparison.questions) > MOST_CHANGED:
        st.caption(t("and_more", n=len(comparison.questions) - MOST_CHANGED))
    for warning in comparison.warnings:
        st.caption(f":material/info: {safe.in_markdown(figures.translated(warning, t))}")


def _change(one: ChangedQuestion, t: Texts) -> str:
    parts = []
    if one.old_action is not one.new_action:
        before, after = (t(action or UNDECIDED) for action in (one.old_action, one.new_action))
        parts.append(f"{before} → {after}")
    if one.old_match is not one.new_match and one.new_match is not None:
        parts.append(t("golden_match_gained" if one.new_match else "golden_match_lost"))
    said = safe.in_html("; ".join(parts))
    return f"<li><b>{said}</b> {safe.in_html(one.question)}</li>"


# --- every question


def _questions(ran: Ran, go: Callable[[int | None], None], t: Texts) -> None:
    """A click on any cell opens the answer."""
    changed = {one.id for one in ran.comparison.questions} if ran.comparison else set()
    kinds: dict[str, list[Row]] = {
        "all": list(ran.report.rows),
        "wrong": [row for row in ran.report.rows if row.failure is not None],
        "changed": [row for row in ran.report.rows if row.id in changed],
    }
    chosen = st.segmented_control(
        t("golden_show"),
        list(kinds),
        format_func=lambda kind: t(f"golden_show_{kind}", n=len(kinds[kind])),
        default="all",
        required=True,
        key="golden-shown",
        label_visibility="collapsed",
    )
    rows = kinds[chosen or "all"]
    if not rows:
        st.caption(t("golden_show_none"))
        return
    st.caption(t("golden_open_help"))
    opened = st.session_state.setdefault("golden-opened", 0)  # a table that has been clicked starts anew
    event: Any = st.dataframe(
        columns(rows, t),
        column_config=_config(t),
        hide_index=True,
        height=min(HEAD + ROW * len(rows), TALLEST),
        on_select="rerun",
        selection_mode="single-cell",
        key=f"golden-results-{opened}",
        placeholder="–",
        alt=t("golden_results_alt"),
    )
    if cells := event.selection.cells:
        st.session_state["golden-opened"] = opened + 1
        go(int(rows[cells[0][0]].id))
        st.rerun()


def columns(rows: Sequence[Row], t: Texts) -> dict[str, list[Any]]:
    """The rows as the table shows them."""
    return {
        "state": [("✓ " + t("golden_right")) if row.failure is None else ("✕ " + failure(row, t)) for row in rows],
        "question": [safe.clean(row.question) for row in rows],
        "expected": [t(row.expected) if row.expected else None for row in rows],
        "action": [t(row.action or UNDECIDED) for row in rows],
        "best": [row.best for row in rows],
        "rank": [_rank(row, t) for row in rows],
        "answer": [_marked(row.answer_holds, "golden_found", "golden_not_found", t) for row in rows],
        "covered": [t("golden_covered" if row.covered else "golden_refused") for row in rows],
    }


def failure(row: Row, t: Texts) -> str:
    """What went wrong; an error with its own words."""
    assert row.failure is not None, "only rows that failed are asked for"
    said = t(f"golden_failure_{row.failure.name.lower()}")
    return safe.clean(f"{said}: {row.error}" if row.error else said)


def _rank(row: Row, t: Texts) -> str | None:
    if not row.labelled or row.error:
        return None
    return t("golden_rank", rank=row.hit_rank) if row.hit_rank else t("golden_not_found")


def _marked(mark: Mark, yes: str, no: str, t: Texts) -> str | None:
    return None if mark is None else ("✓ " + t(yes) if mark else "✕ " + t(no))


def _config(t: Texts) -> dict[str, Any]:
    text = st.column_config.TextColumn
    return {
        "state": text(t("golden_state"), width=185),
        "question": text(t("golden_question"), width=250),
        "expected": text(t("golden_expected"), width=78),
        "action": text(t("golden_action"), width=78),
        "best": st.column_config.NumberColumn(t("golden_best"), width=78, format="%.2f", help=t("golden_best_help")),
        "rank": text(t("golden_rank_of"), help=t("golden_rank_help")),
        "answer": text(t("golden_answer"), help=t("golden_answer_help")),
        "covered": text(t("golden_says")),
    }
