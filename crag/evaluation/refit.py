"""A recalibration of scores from labels: a regularised monotone map of the logit, taken only if it holds up unseen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from crag.calibrations import LogitMap

Numbers = npt.NDArray[np.float64]

FEWEST: Final = 200
"""Labels of each class from which on a head is refitted. A good evaluator is sure of most texts, so that few labels
tell where its scores turn: with 2 x 200 of them the offset is known to about 0.2 in the logit, which is 0.05 in the
score, the least that is worth a change; with 50 it would be twice that."""
STRENGTH: Final = 2.0
"""Of the pull towards the identity: as much as some eight labels at a score of a half."""
FOLDS: Final = 5
LEAST_SLOPE: Final = 0.05
_TINY: Final = 1e-6

Pair = tuple[float, bool]
"""A score in (0, 1) and whether its text answers."""


@dataclass(frozen=True)
class Refit:
    """What came of refitting one head."""

    map: LogitMap
    """The new map where it was accepted, otherwise the one in force."""
    accepted: bool
    told: str
    """A sentence that says why."""


def refit(head: str, questions: Sequence[Sequence[Pair]], in_force: LogitMap) -> Refit:
    """Refits one head ("document" or "strip") on its raw scores and labels, grouped by question.

    Accepted where the log loss on questions that the map was not fitted on falls by more than 1.96 standard errors
    (over questions, since the texts of one question are not independent) against the map in force.
    """
    groups = [[pair for pair in pairs if 0 < pair[0] < 1] for pairs in questions]  # the ends stay whatever the map
    groups = [pairs for pairs in groups if pairs]
    flat = [pair for pairs in groups for pair in pairs]
    positive = sum(answers for _, answers in flat)
    if min(positive, len(flat) - positive) < FEWEST or len(groups) < FOLDS:
        told = (
            f"{head} scores are not refitted: {positive} {head}s that answer and {len(flat) - positive} that do not, "
            f"at least {FEWEST} of each are needed"
        )
        return Refit(in_force, False, told)
    gains = _held_out_gains(groups, in_force)
    mean, error = gains.mean(), gains.std(ddof=1) / np.sqrt(len(gains))
    per_label = len(gains) / len(flat)
    measured = f"log loss held out falls by {mean * per_label:.4f} ± {1.96 * error * per_label:.4f} per {head}"
    found = fit(flat)
    if mean <= 1.96 * error or found is None:
        return Refit(in_force, False, f"{head} scores are not refitted: {measured}, which is within noise")
    told = f"{head} scores are refitted: logit × {found.slope:.2f} {found.offset:+.2f}; {measured}"
    return Refit(found, True, told)


def fit(pairs: Sequence[Pair]) -> LogitMap | None:
    """The map that minimises log loss plus the pull to the identity; None where scores and labels run opposite ways.

    Newton's method on a convex function of two numbers, with halved steps where it overshoots.
    """
    x = _logit(np.array([score for score, _ in pairs]))
    y = np.array([float(answers) for _, answers in pairs])
    at = np.array([0.0, 1.0])
    value = _objective(at, x, y)
    for _ in range(100):
        p = _logistic(at[0] + at[1] * x)
        gradient = np.array([np.sum(p - y), np.sum((p - y) * x)]) + STRENGTH * (at - [0.0, 1.0])
        w = p * (1 - p)
        curvature = np.array([[w.sum(), (w * x).sum()], [(w * x).sum(), (w * x * x).sum()]]) + STRENGTH * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        while _objective(at - step, x, y) > value and np.abs(step).max() > 1e-9:
            step /= 2
        at, value = at - step, _objective(at - step, x, y)
        if np.abs(step).max() < 1e-9:
            break
    return LogitMap(offset=float(at[0]), slope=float(at[1])) if at[1] >= LEAST_SLOPE else None


def log_loss(pairs: Sequence[Pair], by: LogitMap) -> float:
    """The sum over all pairs, in nats."""
    p = np.clip([by(score) for score, _ in pairs], _TINY, 1 - _TINY)
    y = np.array([answers for _, answers in pairs])
    return float(-np.log(np.where(y, p, 1 - p)).sum())


def _held_out_gains(groups: Sequence[Sequence[Pair]], in_force: LogitMap) -> Numbers:
    """Per question: how far the log loss falls by a map that was fitted on the questions of the other folds."""
    fold = np.random.default_rng(0).permutation(len(groups)) % FOLDS
    gains = np.zeros(len(groups))
    for number in range(FOLDS):
        rest = [pair for pairs, at in zip(groups, fold, strict=True) if at != number for pair in pairs]
        found = fit(rest) or in_force
        for i in np.flatnonzero(fold == number).tolist():
            gains[i] = log_loss(groups[i], in_force) - log_loss(groups[i], found)
    return gains


def _objective(at: Numbers, x: Numbers, y: Numbers) -> float:
    z = at[0] + at[1] * x
    pull = STRENGTH / 2 * float(np.sum((at - [0.0, 1.0]) ** 2))
    return float(np.sum(np.logaddexp(0, z) - y * z)) + pull


def _logit(score: Numbers) -> Numbers:
    return np.log(score) - np.log1p(-score)


def _logistic(z: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-np.clip(z, -500, 500)))
