"""The measures themselves, pure: shares with Wilson intervals, AUC, Brier score, calibration curve, McNemar's test."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from crag.schema import Frozen

Floats = npt.NDArray[np.float64]

Z = 1.96
"""Standard deviations of a 95 % interval."""
RESAMPLES = 400


class Share(Frozen):
    """`hits` of `n` with the 95 % Wilson interval `[low, high]`."""

    value: float
    low: float
    high: float
    hits: int
    n: int


class Estimate(Frozen):
    """A number that is no share, with a 95 % interval `[low, high]`, from `n` questions or documents."""

    value: float
    low: float
    high: float
    n: int


class Bin(Frozen):
    """One bin of a calibration curve over the scores `[start, end)`, the last one closed."""

    start: float
    end: float
    n: int
    score: float | None
    """Mean score in the bin; None where it is empty."""
    relevant: float | None
    """Share of its documents that are labelled as answering."""


def interval(hits: int, n: int, z: float = Z) -> tuple[float, float]:
    """95 % Wilson interval of a share; `(0, 1)` where nothing was counted."""
    if n == 0:
        return 0.0, 1.0
    p, d = hits / n, 1 + z * z / n
    mid, half = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, (mid - half) / d), min(1.0, (mid + half) / d)


def share(hits: int, n: int) -> str:
    """A share in words: "0.500 [0.237, 0.763] (5/10)"."""
    low, high = interval(hits, n)
    return f"{hits / n if n else 0:.3f} [{low:.3f}, {high:.3f}] ({hits}/{n})"


def share_of(marks: Sequence[bool | None]) -> Share | None:
    """The share of True among the marks that are known; None where none is."""
    known = [mark for mark in marks if mark is not None]
    if not known:
        return None
    hits, n = sum(known), len(known)
    low, high = interval(hits, n)
    return Share(value=hits / n, low=low, high=high, hits=hits, n=n)


def mean_of(values: Sequence[float]) -> Estimate | None:
    """The mean of values in [0, 1] with its normal interval, clipped to [0, 1]; None where there are none.

    For the interval one 0 and one 1 are added, as Agresti and Caffo (2000) do for shares: few equal values would
    otherwise feign certainty.
    """
    if not values:
        return None
    mean = float(np.mean(values))
    padded = np.array([*values, 0.0, 1.0])
    middle, half = float(padded.mean()), Z * float(padded.std(ddof=1)) / math.sqrt(len(padded))
    return Estimate(
        value=mean, low=max(0.0, min(mean, middle - half)), high=min(1.0, max(mean, middle + half)), n=len(values)
    )


def auc(scores: Floats, labels: Floats, weights: Floats | None = None) -> float | None:
    """Area under the ROC curve by ranks, ties counted half; arrays of one shape, labels 0 or 1.

    None where one of the classes is absent. `weights` count every document so many times.
    """
    given = np.ones(len(scores)) if weights is None else weights
    _, place = np.unique(scores, return_inverse=True)
    positive, negative = np.bincount(place, given * labels), np.bincount(place, given * (1.0 - labels))
    pairs = positive.sum() * negative.sum()
    if pairs == 0:
        return None
    return float((positive * (np.cumsum(negative) - negative / 2)).sum() / pairs)


def brier(scores: Floats, labels: Floats, weights: Floats | None = None) -> float | None:
    """Mean squared distance of score and label; None without any."""
    total = len(scores) if weights is None else weights.sum()
    return float(np.average((scores - labels) ** 2, weights=weights)) if total else None


def by_question(
    measure: Callable[[Floats, Floats, Floats | None], float | None],
    scores: Floats,
    labels: Floats,
    owners: Sequence[int],
) -> Estimate | None:
    """`measure` over documents with a 95 % interval that resamples whole questions, since documents of one question
    are not independent. `owners`: number of each document's question. None where the measure is undefined.

    Percentile bootstrap of `RESAMPLES` resamples with a fixed seed: the same documents give the same interval.
    """
    value = measure(scores, labels, None)
    if value is None:
        return None
    _, owner = np.unique(np.asarray(owners), return_inverse=True)
    questions, random = int(owner.max()) + 1, np.random.default_rng(0)
    found = []
    for _ in range(RESAMPLES):
        counts = np.bincount(random.integers(questions, size=questions), minlength=questions)
        resampled = measure(scores, labels, counts[owner].astype(np.float64))
        if resampled is not None:
            found.append(resampled)
    low, high = np.percentile(found, (2.5, 97.5)) if found else (0.0, 1.0)
    return Estimate(value=value, low=min(float(low), value), high=max(float(high), value), n=len(scores))


def calibration_curve(scores: Floats, labels: Floats, bins: int = 10) -> tuple[Bin, ...]:
    """Mean score against the share that is relevant, in `bins` bins of equal width over [0, 1]."""
    place = np.minimum((scores * bins).astype(int), bins - 1)
    found = []
    for number in range(bins):
        inside = place == number
        n = int(inside.sum())
        found.append(
            Bin(
                start=number / bins,
                end=(number + 1) / bins,
                n=n,
                score=float(scores[inside].mean()) if n else None,
                relevant=float(labels[inside].mean()) if n else None,
            )
        )
    return tuple(found)


def mcnemar(gained: int, lost: int) -> float:
    """Two-sided p of the exact McNemar test: how likely so uneven a split is if gains and losses were even."""
    n = gained + lost
    if n == 0:
        return 1.0
    tail = sum(math.comb(n, k) for k in range(min(gained, lost) + 1))
    return float(min(1.0, 2 * tail / 2**n))
