"""The golden questions as a table that is edited in place: what was typed, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import streamlit as st

from config import Settings
from crag.errors import CragError
from crag.schema import Action
from crag.ui import golden as star
from crag.ui import safe
from crag.ui.evaluate import jobs
from crag.ui.knowledge import Overview
from crag.ui.state import Process
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from crag.assembly import House
    from crag.evaluation.golden import Problem
    from crag.history.golden import Answered, Golden

BASE, VERSION = "golden-base", "golden-version"
"""Where a session keeps the questions that the edits of its table are edits of, and the number of the table: each
saved or discarded edit makes a new one."""
MOST_PROBLEMS: Final = 5
ROW, HEAD = 35, 38
"""Pixels of a row of a table, and of its head with what belongs to the frame."""
TALLEST: Final = 400


@dataclass(frozen=True)
class Table:
    """The questions as one run of the page sees them."""

    goldens: tuple[Golden, ...]
    answered: Mapping[int, Answered]
    pending: frozenset[int]
    """Ids of those that have no answer which holds."""
    reasons: tuple[str, ...]
    """What has changed since they were asked, by the keys of `golden_runs.REASONS`; empty: only questions have."""
    askable: bool


@dataclass(frozen=True)
class Edits:
    """What was typed into the table, made of questions."""

    added: tuple[Golden, ...]
    changed: tuple[Golden, ...]
    deleted: tuple[int, ...]
    problems: tuple[tuple[int, Problem], ...]
    """(row, counted from 1 as the table shows it; why it cannot be kept)."""

    def __bool__(self) -> bool:
        return bool(self.added or self.changed or self.deleted)


def table_of(process: Process, house: House, settings: Settings, overview: Overview) -> Table:
    """Raises HistoryError, KnowledgeBaseError."""
    from crag.evaluation.golden_runs import changed_since, to_ask, under_of

    store = jobs.store_of(process)
    goldens, answered = store.all(), store.answered()
    if not goldens:
        return Table((), {}, frozenset(), (), not overview.empty)
    under = under_of(house, settings)
    pending = frozenset(golden.id for golden in to_ask(goldens, answered, under))
    earlier = [answered[golden.id].under for golden in goldens if golden.id in answered and golden.id in pending]
    reasons = changed_since(earlier[0], under) if earlier else ()
    return Table(tuple(goldens), answered, pending, reasons, not overview.empty)


def edited(goldens: Sequence[Golden], state: Mapping[str, Any]) -> Edits:
    """The edits that Streamlit's editor holds in `state`, as questions; pure.

    A row that is added and left empty counts for nothing.
    """
    from crag.evaluation.golden import problem
    from crag.history.golden import Golden

    gone = set(state.get("deleted_rows", ()))
    rows = {int(row): values for row, values in state.get("edited_rows", {}).items()}
    kept = [_with(one, rows.get(row, {})) for row, one in enumerate(goldens)]
    fresh = [_with(Golden(question=""), values) for values in state.get("added_rows", ())]
    fresh = [one for one in fresh if one != Golden(question="")]
    final = [(row, one) for row, one in enumerate([*kept, *fresh], 1) if row - 1 not in gone]
    touched = {row + 1 for row, one in enumerate(kept) if one != goldens[row]} | set(
        range(len(kept) + 1, len(kept) + len(fresh) + 1)
    )
    problems = [
        (row, found)
        for row, one in final
        if row in touched and (found := problem(one, [other for at, other in final if at != row])) is not None
    ]
    changed = [one for row, one in enumerate(kept) if one != goldens[row] and row not in gone]
    deleted = [one.id for row, one in enumerate(goldens) if row in gone]
    return Edits(tuple(fresh), tuple(changed), tuple(deleted), tuple(problems))


def _with(golden: Golden, values: Mapping[str, Any]) -> Golden:
    """The question with the cells that were typed over."""
    made: dict[str, Any] = {}
    for name, value in values.items():
        if name in ("question", "note"):
            made[name] = (value or "").strip()
        elif name == "expected":
            made[name] = Action(value) if value else None
        elif name == "file":
            made[name] = (value or "").strip() or None
        elif name == "page":
            made[name] = None if value is None else int(value)
        elif name == "answers":
            made[name] = star.answers_of(value or "")
    return golden.model_copy(update=made)


def _key() -> str:
    return f"golden-table-{st.session_state.setdefault(VERSION, 0)}"


def edits_of(table: Table) -> Edits:
    """Those of the table that is shown; the questions below it stay as they were when the first edit was made."""
    state = st.session_state.get(_key(), {})
    base: Table = st.session_state.get(BASE, table)
    if any(state.get(name) for name in ("edited_rows", "added_rows", "deleted_rows")):
        found = edited(base.goldens, state)
        if found:
            return found
    st.session_state[BASE] = table
    return Edits((), (), (), ())


def editor(t: Texts) -> None:
    base: Table = st.session_state[BASE]
    text = st.column_config.TextColumn
    columns: Any = _columns(base, t)
    st.data_editor(
        columns,
        key=_key(),
        num_rows="dynamic",
        hide_index=True,
        width="stretch",
        height=min(HEAD + ROW * (len(base.goldens) + 1), TALLEST),
        disabled=["last"],
        column_config={
            "question": text(t("golden_question"), width=265, required=True, max_chars=4000),
            "expected": st.column_config.SelectboxColumn(
                t("golden_expected"),
                options=[str(action) for action in Action],
                format_func=lambda action: t(str(action)),
                width=100,
                help=t("golden_expected_help"),
            ),
            "file": text(t("golden_file"), width=125, help=t("golden_file_help")),
            "page": st.column_config.NumberColumn(t("golden_page"), min_value=1, step=1, format="%d", width=65),
            "answers": text(t("golden_answers"), width=110, help=t("golden_answers_help", apart=star.APART)),
            "last": text(t("golden_last"), width=120),
            "note": text(t("golden_note"), width="medium"),
        },
        placeholder="–",
        alt=t("golden_alt"),
    )


def _columns(table: Table, t: Texts) -> dict[str, Any]:
    """As arrays of a fixed kind: an empty table keeps its kinds."""
    goldens = table.goldens
    return {
        "question": _objects([safe.clean(one.question) for one in goldens]),
        "expected": _objects([str(one.expected) if one.expected else None for one in goldens]),
        "file": _objects([one.file for one in goldens]),
        "page": np.array([np.nan if one.page is None else one.page for one in goldens], dtype=np.float64),
        "answers": _objects([f" {star.APART} ".join(one.answers) for one in goldens]),
        "last": _objects([_last(one, table, t) for one in goldens]),
        "note": _objects([one.note for one in goldens]),
    }


def _objects(values: Sequence[Any]) -> Any:
    made = np.empty(len(values), dtype=object)
    made[:] = list(values)
    return made


def _last(golden: Golden, table: Table, t: Texts) -> str:
    """Whether its last answer holds; what came of it stands in the table of results."""
    answer = table.answered.get(golden.id)
    if answer is None:
        return t("golden_never")
    if answer.failed:
        return t("golden_failed")
    return t("golden_to_ask" if golden.id in table.pending else "golden_holds")


def unsaved(process: Process, edits: Edits, t: Texts) -> None:
    """What is not saved yet, what is wrong with it, and the two ways out."""
    for row, wrong in edits.problems[:MOST_PROBLEMS]:
        st.error(t("golden_row", n=row, problem=t(f"golden_problem_{wrong}")), icon=":material/error:")
    if len(edits.problems) > MOST_PROBLEMS:
        st.caption(t("and_more", n=len(edits.problems) - MOST_PROBLEMS))
    counts = {"added": len(edits.added), "edited": len(edits.changed), "deleted": len(edits.deleted)}
    said = [t(f"golden_n_{name}", n=n) for name, n in counts.items() if n]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="golden-unsaved"):
        st.markdown(f":material/edit: {t('golden_unsaved', what=t('golden_comma').join(said))}", width="stretch")
        discard = st.button(t("golden_discard"), key="golden-discard", icon=":material/undo:")
        save = st.button(
            t("golden_save"),
            key="golden-save",
            icon=":material/save:",
            type="primary",
            disabled=bool(edits.problems),
        )
    if save:
        try:
            jobs.store_of(process).save(edits.added, edits.changed, edits.deleted)
        except CragError as error:
            st.error(safe.in_markdown(str(error)), icon=":material/error:")
            return
    if save or discard:
        st.session_state[VERSION] += 1
        st.rerun()
