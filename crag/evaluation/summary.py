"""The figures of a group of rows: what a report says of a whole run, of a language, and of a set."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from crag.evaluation.metrics import (
    Bin,
    Estimate,
    Share,
    auc,
    brier,
    by_question,
    calibration_curve,
    mean_of,
    share_of,
)
from crag.evaluation.rows import MARKS, Row
from crag.schema import Frozen

UNDECIDED = "UNDECIDED"
EMBED = "embed"
TO_CONTEXT = "question to context"
TOTAL = "whole question"
AFTER_CONTEXT = ("generate", "check")
"""Stages that follow the refined context."""


class Latency(Frozen):
    """What a stage took, over the questions that had it."""

    median_ms: float
    p95_ms: float
    embeddings: float | None
    """The median in multiples of the median embedding of one query."""
    n: int


class Metrics(Frozen):
    """The figures of a group; what no question gives a label for is absent."""

    questions: int
    failed: int
    shares: dict[str, Share]
    """By the names of `crag.evaluation.rows.MARKS`, and `document_accuracy` (at a score of 0.5)."""
    estimates: dict[str, Estimate]
    """`mrr`, `text_dropped`, `document_auc`, `document_brier`."""
    calibration: tuple[Bin, ...]
    """Empty where no document is labelled."""
    confusion: dict[str, dict[str, int]]
    """Expected action -> triggered action (or UNDECIDED) -> questions; only where one is expected."""
    documents_labelled: int
    documents_ungraded: int
    latency: dict[str, Latency]


class Group(Frozen):
    """The figures of one set and language; None: of all."""

    set: str | None
    language: str | None
    metrics: Metrics


def groups_of(rows: Sequence[Row]) -> tuple[Group, ...]:
    """All rows, each language, each set, and each set and language; what equals a group before it is left out."""
    sets: list[str | None] = [None, *dict.fromkeys(row.set for row in rows)]
    languages: list[str | None] = [None, *sorted({row.language for row in rows})]
    found: list[Group] = []
    seen: set[tuple[str, ...]] = set()
    for name, lang in itertools.product(sets, languages):
        inside = [row for row in rows if name in (None, row.set) and lang in (None, row.language)]
        key = tuple(row.id for row in inside)
        if inside and key not in seen:
            seen.add(key)
            found.append(Group(set=name, language=lang, metrics=metrics_of(inside)))
    return tuple(found)


def metrics_of(rows: Sequence[Row]) -> Metrics:
    """The figures of `rows`."""
    marked = {name: share_of([mark(row) for row in rows]) for name, mark in MARKS.items()}
    graded = [
        (document.score, document.label, number)
        for number, row in enumerate(rows)
        for document in row.documents
        if document.label is not None and document.score is not None
    ]
    scores = np.array([score for score, _, _ in graded], dtype=np.float64)
    labels = np.array([label for _, label, _ in graded], dtype=np.float64)
    owners = [owner for _, _, owner in graded]
    marked["document_accuracy"] = share_of([bool(hit) for hit in (scores >= 0.5) == (labels == 1.0)])
    ranks = [1.0 / row.hit_rank if row.hit_rank else 0.0 for row in rows if row.labelled and not row.error]
    estimates = {
        "mrr": mean_of(ranks),
        "text_dropped": mean_of([row.dropped for row in rows if row.dropped is not None]),
        "document_auc": by_question(auc, scores, labels, owners),
        "document_brier": by_question(brier, scores, labels, owners),
    }
    return Metrics(
        questions=len(rows),
        failed=sum(row.error is not None for row in rows),
        shares={name: value for name, value in marked.items() if value is not None},
        estimates={name: value for name, value in estimates.items() if value is not None},
        calibration=calibration_curve(scores, labels) if graded else (),
        confusion=confusion_of(rows),
        documents_labelled=sum(document.label is not None for row in rows for document in row.documents),
        documents_ungraded=sum(document.score is None for row in rows for document in row.documents),
        latency=latency_of(rows),
    )


def confusion_of(rows: Sequence[Row]) -> dict[str, dict[str, int]]:
    """Expected -> triggered -> questions, where an action is expected."""
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        if row.expected is not None:
            line = found.setdefault(str(row.expected), {})
            triggered = str(row.action or UNDECIDED)
            line[triggered] = line.get(triggered, 0) + 1
    return found


def latency_of(rows: Sequence[Row]) -> dict[str, Latency]:
    """Stage -> latency, in the order of the longest way; then the sums up to the context, and of the whole question."""
    timed = [row.milliseconds for row in rows if row.milliseconds and row.error is None]
    longest_first = sorted(timed, key=len, reverse=True)
    stages = list(dict.fromkeys(stage for spent in longest_first for stage in spent))
    taken = {stage: [spent[stage] for spent in timed if stage in spent] for stage in stages}
    if timed:
        before = [stage for stage in stages if stage not in AFTER_CONTEXT]
        taken[TO_CONTEXT] = [sum(spent.get(stage, 0.0) for stage in before) for spent in timed]
        taken[TOTAL] = [sum(spent.values()) for spent in timed]
    unit = float(np.median(taken[EMBED])) if EMBED in taken else 0.0
    return {
        stage: Latency(
            median_ms=round(float(np.median(spent)), 3),
            p95_ms=round(float(np.percentile(spent, 95)), 3),
            embeddings=round(float(np.median(spent)) / unit, 2) if unit else None,
            n=len(spent),
        )
        for stage, spent in taken.items()
    }
