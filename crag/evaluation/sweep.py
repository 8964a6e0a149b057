"""The choice among thresholds by their utility for each question: smoothed, and guarded against chance. Pure."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Cells = npt.NDArray[np.bool_]

STEP: Final = 0.02
SMOOTH: Final = 2
"""A threshold is valued together with its neighbours so many steps to each side: none is chosen on the edge of a
cliff, where a score that differs by a little falls."""
FOLDS: Final = 5


def held_out(worth: Array, smooth: Array, allowed: Cells, far: Array, one: float, now: tuple[int, int]) -> float | None:
    """Mean gain over the cell `now` where each fold's cell was chosen on the other folds; None for too few rows."""
    n = len(worth)
    if n < 2 * FOLDS:
        return None
    gains = np.zeros(n)
    fold = np.random.default_rng(0).permutation(n) % FOLDS
    for number in range(FOLDS):
        i, j = chosen(smooth[fold != number], allowed, far, one)
        here = fold == number
        gains[here] = worth[here, i, j] - worth[here, now[0], now[1]]
    return float(gains.mean())


def chosen(worth: Array, allowed: Cells, far: Array, one: float) -> tuple[int, int]:
    """Of the allowed cells (worth: questions x rows x columns) within noise of the best, the nearest to today's.

    Noise is one standard error of the paired difference to the best, over questions (the one-standard-error rule of
    Breiman et al., Classification and Regression Trees, 1984), and on top what a single further question could change
    in the mean: `one` is the most that one can lose. The error alone knows nothing of mistakes that happen not to be
    among few questions. `far` holds the distances from today's; among equally near cells the one worth more is taken.
    """
    mean = np.where(allowed, worth.mean(axis=0), -np.inf)
    best = np.unravel_index(int(np.argmax(mean - 1e-9 * far)), mean.shape)
    behind = worth[:, best[0], best[1]][:, None, None] - worth
    error = behind.std(axis=0, ddof=1) / np.sqrt(len(worth)) if len(worth) > 1 else np.zeros(mean.shape)
    within = allowed & (behind.mean(axis=0) <= error + one / len(worth))
    order = np.where(within, far - 1e-9 * mean, np.inf)
    at = np.unravel_index(int(np.argmin(order)), order.shape)
    return int(at[0]), int(at[1])


def smoothed(worth: Array) -> Array:
    """Each cell (questions x rows x columns) as the mean of its neighbourhood; at the margins of what there is."""
    for axis in (1, 2):
        n = worth.shape[axis]
        total = np.cumsum(np.insert(worth, 0, 0.0, axis=axis), axis=axis)
        start = np.maximum(np.arange(n) - SMOOTH, 0)
        end = np.minimum(np.arange(n) + SMOOTH + 1, n)
        shape = [1, 1, 1]
        shape[axis] = n
        worth = (total.take(end, axis=axis) - total.take(start, axis=axis)) / (end - start).reshape(shape)
    return worth


def grid(today: float) -> list[float]:
    """Every step from 0 to 1, and today's value."""
    steps = {round(STEP * i, 2) for i in range(round(1 / STEP) + 1)}
    return sorted({step for step in steps if abs(step - today) > 1e-6} | {today})
