"""The measures, against values computed by hand and by scikit-learn."""

import math

import numpy as np
import pytest

from crag.evaluation.metrics import (
    auc,
    brier,
    by_question,
    calibration_curve,
    interval,
    mcnemar,
    mean_of,
    share,
    share_of,
)


def test_the_wilson_interval_is_that_of_the_formula() -> None:
    assert interval(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert interval(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert interval(0, 0) == (0.0, 1.0)
    assert share(8, 10) == "0.800 [0.490, 0.943] (8/10)"


def test_a_share_leaves_out_what_is_unknown_and_is_absent_without_any() -> None:
    found = share_of([True, None, False, True, None])
    assert found is not None
    assert (found.hits, found.n, found.value) == (2, 3, pytest.approx(2 / 3))
    assert share_of([None, None]) is None
    assert share_of([]) is None


def test_the_auc_counts_ties_half() -> None:
    scores, labels = np.array([0.9, 0.5, 0.5, 0.1]), np.array([1.0, 1.0, 0.0, 0.0])
    assert auc(scores, labels) == pytest.approx(3.5 / 4)
    assert auc(scores, 1 - labels) == pytest.approx(0.5 / 4)
    assert auc(scores, np.ones(4)) is None


def test_auc_and_brier_are_those_of_scikit_learn_also_with_weights() -> None:
    from sklearn.metrics import brier_score_loss, roc_auc_score

    random = np.random.default_rng(1)
    labels = (random.random(500) < 0.3).astype(float)
    scores = np.round(np.clip(random.normal(0.4 + 0.2 * labels, 0.2), 0, 1), 2)
    weights = random.integers(0, 4, 500).astype(float)
    assert auc(scores, labels) == pytest.approx(roc_auc_score(labels, scores))
    assert auc(scores, labels, weights) == pytest.approx(roc_auc_score(labels, scores, sample_weight=weights))
    assert brier(scores, labels) == pytest.approx(brier_score_loss(labels, scores))


def test_the_interval_over_documents_widens_when_questions_repeat_themselves() -> None:
    random = np.random.default_rng(2)
    labels = (random.random(200) < 0.5).astype(float)
    scores = np.clip(random.normal(0.4 + 0.2 * labels, 0.2), 0, 1)
    apart = by_question(auc, scores, labels, range(200))
    copies = by_question(auc, np.repeat(scores, 8), np.repeat(labels, 8), np.repeat(range(200), 8).tolist())
    assert apart is not None
    assert copies is not None
    assert apart.low < apart.value < apart.high
    assert copies.high - copies.low == pytest.approx(apart.high - apart.low, rel=0.3)
    assert by_question(auc, scores, np.ones(200), range(200)) is None
    assert by_question(brier, np.array([]), np.array([]), []) is None


def test_a_calibration_curve_has_ten_bins_and_the_last_holds_one() -> None:
    curve = calibration_curve(np.array([0.05, 0.07, 0.95, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0, 0.0]))
    assert [bin_.n for bin_ in curve] == [2, 0, 0, 0, 0, 0, 0, 0, 0, 3]
    assert (curve[0].score, curve[0].relevant) == (pytest.approx(0.06), 0.5)
    assert (curve[1].score, curve[1].relevant) == (None, None)
    assert curve[9].relevant == pytest.approx(2 / 3)


def test_a_mean_of_few_equal_values_feigns_no_certainty() -> None:
    found = mean_of([1.0, 1.0, 1.0])
    assert found is not None
    assert found.value == 1.0
    assert found.low < 0.8
    assert found.high == 1.0
    many = mean_of([0.2, 0.4] * 500)
    assert many is not None
    assert many.value == pytest.approx(0.3)
    assert many.high - many.low < 0.02
    assert mean_of([]) is None


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (1, 0), (5, 5), (9, 1), (0, 6), (3, 12)])
def test_mcnemar_is_the_exact_binomial_test(gained: int, lost: int) -> None:
    n, few = gained + lost, min(gained, lost)
    by_hand = min(1.0, 2 * sum(math.comb(n, k) for k in range(few + 1)) * 0.5**n) if n else 1.0
    assert mcnemar(gained, lost) == pytest.approx(by_hand)
    assert mcnemar(9, 1) == pytest.approx(22 / 1024)
