"""Two reports side by side: what became better or worse, how surely, and which questions changed."""

from __future__ import annotations

from collections.abc import Mapping

from crag.evaluation.metrics import Estimate, Share, mcnemar
from crag.evaluation.report import Report
from crag.evaluation.rows import MARKS, Mark, Row
from crag.evaluation.summary import Group, Metrics
from crag.evaluation.tables import TITLES, value_of
from crag.schema import Action, Frozen
from crag.text import counted


class Change(Frozen):
    """One measure in both reports. The paired numbers are over the questions that both know."""

    language: str | None
    name: str
    title: str
    old: Share | Estimate | None
    new: Share | Estimate | None
    difference: float | None
    """New minus old, over all questions of each report; None where one of them has no value."""
    pairs: int = 0
    """Questions in both reports for which the mark is known in both; 0 for what is no share of questions."""
    gained: int = 0
    """Pairs where it holds only in the new report."""
    lost: int = 0
    """Pairs where it holds only in the old report."""
    p: float | None = None
    """Two-sided p of the exact McNemar test over the pairs."""


class ChangedQuestion(Frozen):
    """A question whose action or answer match changed."""

    id: str
    question: str
    old_action: Action | None
    new_action: Action | None
    old_match: Mark
    new_match: Mark


class Comparison(Frozen):
    old: str
    """Name and time of the old report."""
    new: str
    warnings: tuple[str, ...]
    changes: tuple[Change, ...]
    questions: tuple[ChangedQuestion, ...]


def compare(old: Report, new: Report) -> Comparison:
    """`new` against `old`: every measure that one of them has, of the whole run and of each language in both."""
    before, after = ({row.id: row for row in report.rows} for report in (old, new))
    common = {id_: (before[id_], after[id_]) for id_ in before if id_ in after}
    languages = [None, *sorted({row.language for row in old.rows} & {row.language for row in new.rows})]
    if len(languages) == 2:
        languages = [None]
    changes = [
        change
        for language in languages
        for name in TITLES
        if (change := _change(name, language, _metrics(old, language), _metrics(new, language), common)) is not None
    ]
    return Comparison(
        old=f"{old.questions}, {old.created}",
        new=f"{new.questions}, {new.created}",
        warnings=_warnings(old, new, common),
        changes=tuple(changes),
        questions=tuple(_changed(a, b) for a, b in common.values() if _outcome(a) != _outcome(b)),
    )


def _metrics(report: Report, language: str | None) -> Metrics:
    """Of a language, or of everything; a report in one language has no group apart for it."""
    groups: list[Group] = [group for group in report.groups if group.set is None and group.language == language]
    return (groups or [report.groups[0]])[0].metrics


def _change(
    name: str, language: str | None, old: Metrics, new: Metrics, common: Mapping[str, tuple[Row, Row]]
) -> Change | None:
    first, second = value_of(old, name), value_of(new, name)
    if first is None and second is None:
        return None
    difference = second.value - first.value if first is not None and second is not None else None
    change = Change(language=language, name=name, title=TITLES[name], old=first, new=second, difference=difference)
    if name not in MARKS:
        return change
    marks = [(MARKS[name](a), MARKS[name](b)) for a, b in common.values() if language is None or a.language == language]
    known = [(a, b) for a, b in marks if a is not None and b is not None]
    gained = sum(b and not a for a, b in known)
    lost = sum(a and not b for a, b in known)
    p = mcnemar(gained, lost) if known else None
    return change.model_copy(update={"pairs": len(known), "gained": gained, "lost": lost, "p": p})


def _outcome(row: Row) -> tuple[Action | None, Mark]:
    return row.action, row.answer_holds


def _changed(old: Row, new: Row) -> ChangedQuestion:
    return ChangedQuestion(
        id=new.id,
        question=new.question,
        old_action=old.action,
        new_action=new.action,
        old_match=old.answer_holds,
        new_match=new.answer_holds,
    )


def _warnings(old: Report, new: Report, common: Mapping[str, tuple[Row, Row]]) -> tuple[str, ...]:
    found = []
    if len(common) < max(len(old.rows), len(new.rows)):
        found.append(
            f"The sets differ: {counted(len(old.rows), 'question')} in the old report, {len(new.rows)} in the new one, "
            f"{len(common)} in both. The differences are between unlike sets; trust the paired counts."
        )
    reworded = sum(a.question != b.question for a, b in common.values())
    if reworded:
        found.append(f"Same id but another wording: {counted(reworded, 'question')}.")
    relabelled = sum((a.expected, a.answerable) != (b.expected, b.answerable) for a, b in common.values())
    if relabelled:
        found.append(f"Expected otherwise than before: {counted(relabelled, 'question')}.")
    files = [(report.counts.files, report.counts.passages, report.embedding) for report in (old, new)]
    if files[0] != files[1]:
        found.append("The knowledge bases differ in files, passages or embedding.")
    return tuple(found)
