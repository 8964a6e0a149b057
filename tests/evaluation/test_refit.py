"""A head is refitted where labels show that its scores are off, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from crag.calibrations import LogitMap
from crag.evaluation.refit import FEWEST, STRENGTH, Pair, fit, log_loss, refit


def drawn(n: int, offset: float = 0.0, slope: float = 1.0, seed: int = 0) -> list[list[Pair]]:
    """n questions of four texts each, whose true logit is offset + slope times that of their score."""
    random = np.random.default_rng(seed)
    logits = random.normal(0, 2, (n, 4))
    answers = random.random((n, 4)) < 1 / (1 + np.exp(-(offset + slope * logits)))
    scores = 1 / (1 + np.exp(-logits))
    return [list(zip(s.tolist(), a.tolist(), strict=True)) for s, a in zip(scores, answers, strict=True)]


def test_a_wrong_scale_is_found() -> None:
    found = refit("document", drawn(400, offset=-1.5, slope=0.6), LogitMap())
    assert found.accepted
    assert found.map.offset == pytest.approx(-1.5, abs=0.2)
    assert found.map.slope == pytest.approx(0.6, abs=0.1)


def test_scores_that_hold_are_left_alone() -> None:
    found = refit("document", drawn(400), LogitMap())
    assert not found.accepted
    assert found.map == LogitMap()
    assert "within noise" in found.told


def test_a_map_in_force_that_fits_is_kept() -> None:
    true = LogitMap(offset=-1.5, slope=0.6)
    assert refit("strip", drawn(400, -1.5, 0.6), true).map == true


def test_too_few_labels_of_one_class_are_told_with_the_number_that_is_needed() -> None:
    few = [[(0.9, True)], [(0.1, False)] * 900, *[[(0.5, False)]] * 10]
    found = refit("strip", few, LogitMap())
    assert not found.accepted
    assert f"1 strips that answer and 910 that do not, at least {FEWEST} of each" in found.told


def test_labels_that_contradict_the_scores_give_no_map() -> None:
    assert fit([pair for pairs in drawn(400, slope=-1.0) for pair in pairs]) is None
    assert not refit("document", drawn(400, slope=-1.0), LogitMap()).accepted


def test_few_labels_pull_little_from_the_identity() -> None:
    little = fit([(0.5, True)])
    much = fit([(0.5, True)] * 4000)
    assert little is not None
    assert much is not None
    assert 0 < little.offset < 0.25 < 2 < much.offset


def test_the_fit_is_the_minimum() -> None:
    pairs = [pair for pairs in drawn(100, 1.0, 1.3) for pair in pairs]
    found = fit(pairs)
    assert found is not None

    def cost(a: float, b: float) -> float:
        return log_loss(pairs, LogitMap(offset=a, slope=b)) + STRENGTH / 2 * (a**2 + (b - 1) ** 2)

    best = cost(found.offset, found.slope)
    assert all(
        best <= cost(found.offset + da, found.slope + db) + 1e-6 for da in (-0.05, 0, 0.05) for db in (-0.05, 0, 0.05)
    )
