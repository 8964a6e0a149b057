"""What an action and a refinement are worth, and the worth of every threshold for a labelled question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from crag.action_trigger import decide
from crag.errors import ConfigurationError
from crag.evaluation.labelled import Labelled
from crag.replay import replay
from crag.schema import Action, Decision, Frozen, GradedDocument, Thresholds, Trace

Worth = npt.NDArray[np.float64]

ACTIONS: Final = (Action.CORRECT, Action.AMBIGUOUS, Action.INCORRECT)
UNDECIDED: Final = len(ACTIONS)
"""Code of a question none of whose documents could be graded; worth 0 whatever was expected."""


class Weights(Frozen):
    """The utility of one question: what its action is worth, by what the documents hold, and what refinement adds.

    A wrong CORRECT, which claims evidence that is not there, loses five points against INCORRECT: seven to ten times
    what a needless AMBIGUOUS (a web search, where there is one) loses. An answerable question called INCORRECT loses
    two. Refinement adds `strip_kept` where a strip that answers is
    kept, and `text_kept` times the share of the found text that is kept.
    """

    answerable_correct: float = 1.0
    answerable_ambiguous: float = 0.5
    answerable_incorrect: float = -1.0
    uncovered_correct: float = -4.0
    uncovered_ambiguous: float = 0.3
    uncovered_incorrect: float = 1.0
    uncertain_correct: float = -1.0
    uncertain_ambiguous: float = 1.0
    uncertain_incorrect: float = -0.5
    strip_kept: float = 1.0
    text_kept: float = -0.3

    def of_actions(self, expected: Action) -> Worth:
        """Shape (4,): the worth of CORRECT, AMBIGUOUS, INCORRECT and of no decision, where `expected` is right."""
        kind = {Action.CORRECT: "answerable", Action.INCORRECT: "uncovered", Action.AMBIGUOUS: "uncertain"}[expected]
        return np.array([*(getattr(self, f"{kind}_{action.lower()}") for action in ACTIONS), 0.0])


def read_weights(text: str) -> Weights:
    """Weights from `name=number,name=number`; what is not named keeps its default. Raises ConfigurationError."""
    given: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, number = part.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = float("nan")
        if name.strip() not in Weights.model_fields or not np.isfinite(value):
            names = ", ".join(Weights.model_fields)
            raise ConfigurationError(
                f"--utility does not understand {part!r}: write NAME=NUMBER with a name of {names}."
            )
        given[name.strip()] = value
    return Weights(**given)


def actions(trace: Trace, uppers: Sequence[float], lowers: Sequence[float]) -> npt.NDArray[np.int8]:
    """Shape (len(uppers), len(lowers)): the code of the action that `replay` gives at every pair of thresholds.

    A look is CORRECT by the upper threshold alone and INCORRECT by the lower one alone, so that `decide` is asked
    once per threshold instead of once per pair. Where lower > upper, CORRECT goes first.
    """
    scored = {document.id: document for document in trace.documents}
    table = np.full((len(uppers), len(lowers)), ACTIONS.index(Action.INCORRECT), dtype=np.int8)
    still = np.ones(table.shape, dtype=bool)  # every look so far was INCORRECT
    for look in trace.decisions:
        table[still] = _look(look, scored, uppers, lowers)[still]
        still &= table == ACTIONS.index(Action.INCORRECT)
    return table


def _look(
    look: Decision, scored: dict[str, GradedDocument], uppers: Sequence[float], lowers: Sequence[float]
) -> npt.NDArray[np.int8]:
    documents = [scored[id_] for id_ in look.documents if id_ in scored]

    def action(upper: float, lower: float) -> Action | None:
        decision = decide(documents, Thresholds(upper=upper, lower=lower), look.query)
        return decision.action if decision else None

    table = np.full((len(uppers), len(lowers)), ACTIONS.index(Action.AMBIGUOUS), dtype=np.int8)
    if action(1.0, 0.0) is None:
        table[:] = UNDECIDED
        return table
    below = np.array([action(1.0, lower) is Action.INCORRECT for lower in lowers])
    reached = np.array([action(upper, 0.0) is Action.CORRECT for upper in uppers])
    table[:, below] = ACTIONS.index(Action.INCORRECT)
    table[reached, :] = ACTIONS.index(Action.CORRECT)
    return table


def refinement(row: Labelled, thresholds: Thresholds) -> tuple[bool | None, float]:
    """(whether a strip that answers is kept, share of the found text that is kept), by `replay`.

    The first is None where no strip that answers was found. Nothing found: a share of 0.
    """
    _, strips, _ = replay(row.trace, thresholds)
    total = sum(len(strip.text) for strip in strips)
    kept = [strip for strip in strips if strip.kept]
    answering = [strip for strip in strips if row.strips.get(strip.id)]
    share = sum(len(strip.text) for strip in kept) / total if total else 0.0
    return (any(strip.kept for strip in answering) if answering else None), share


def worth_of_refinement(row: Labelled, thresholds: Thresholds, weights: Weights) -> float:
    """What refinement adds to the utility of one question; 0 where nothing is known of its strips."""
    if not row.strips:
        return 0.0
    kept, share = refinement(row, thresholds)
    return (weights.strip_kept if kept else 0.0) + weights.text_kept * share


def worths_of_steps(row: Labelled, limits: Thresholds, steps: Sequence[float], weights: Weights) -> list[float]:
    """`worth_of_refinement` at each strip threshold of `steps`; asked once between two scores of strips."""
    scores = np.array([strip.score for strip in row.trace.strips if strip.score is not None])
    known: dict[int, float] = {}
    worths = []
    for step in steps:
        reached = int((scores >= step).sum())
        if reached not in known:
            known[reached] = worth_of_refinement(row, limits.model_copy(update={"strip": step}), weights)
        worths.append(known[reached])
    return worths
