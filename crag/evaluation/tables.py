"""The figures in words: the titles of all measures, and the tables that the terminal and the report show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crag.evaluation.metrics import Estimate, Share
from crag.evaluation.summary import Group, Metrics
from crag.schema import Frozen

SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Retrieval": {
        "recall_at_1": "recall@1",
        "recall_at_3": "recall@3",
        "recall_at_5": "recall@5",
        "recall_at_k": "recall@k",
        "mrr": "MRR",
    },
    "Document grading": {
        "document_accuracy": "accuracy at 0.5",
        "document_auc": "AUC",
        "document_brier": "Brier score (0 is best)",
    },
    "Decision": {
        "action_as_expected": "action as expected",
        "answerable_correct": "answerable: Correct",
        "answerable_ambiguous": "answerable: Ambiguous",
        "answerable_incorrect": "answerable: Incorrect",
        "uncovered_correct": "not covered: Correct",
        "uncovered_ambiguous": "not covered: Ambiguous",
        "uncovered_incorrect": "not covered: Incorrect",
    },
    "Refinement": {
        "context_holds_answer": "context holds the answer",
        "retrieved_answer_kept": "kept, where it was retrieved",
        "text_dropped": "share of the text dropped",
    },
    "Answer": {
        "answer_match": "answer holds the answer",
        "refused_uncovered": "not covered: says so",
        "false_answers": "not covered: answered anyway",
    },
}
"""Section -> measure -> title."""

TITLES: Mapping[str, str] = {name: title for titles in SECTIONS.values() for name, title in titles.items()}


class Line(Frozen):
    """One measure with its value per group; empty where a group has none."""

    title: str
    cells: tuple[str, ...]


class Section(Frozen):
    title: str
    lines: tuple[Line, ...]


def value_of(metrics: Metrics, name: str) -> Share | Estimate | None:
    """A measure of a group by its name; None where it is absent."""
    return metrics.shares.get(name) or metrics.estimates.get(name)


def worded(value: Share | Estimate | None) -> str:
    """ "0.875 [0.529, 0.978] n 8"; empty for None."""
    return "" if value is None else f"{value.value:.3f} [{value.low:.3f}, {value.high:.3f}] n {value.n}"


def sections_of(groups: Sequence[Group]) -> list[Section]:
    """The measures that at least one of `groups` has, by section."""
    found = []
    for section, titles in SECTIONS.items():
        lines = [
            Line(title=title, cells=tuple(worded(value_of(group.metrics, name)) for group in groups))
            for name, title in titles.items()
        ]
        lines = [line for line in lines if any(line.cells)]
        if lines:
            found.append(Section(title=section, lines=tuple(lines)))
    return found


def name_of(group: Group) -> str:
    """What a group is called: "all", "en", "set a" or "set a, zh"."""
    parts = [f"set {group.set}" if group.set else None, group.language]
    return ", ".join(part for part in parts if part) or "all"
