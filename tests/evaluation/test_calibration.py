"""Thresholds from labelled questions: the known optimum of hand-made scores is found, and chance moves nothing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from labelled_runs import labelled

from crag.calibrations import Numbers
from crag.errors import ConfigurationError
from crag.evaluation.calibration import FEW, FEW_OF_A_KIND, Suggestion, calibrate
from crag.evaluation.labelled import Labelled
from crag.evaluation.utility import ACTIONS, UNDECIDED, Weights, actions, read_weights, refinement
from crag.replay import replay
from crag.schema import Action, Thresholds

TODAY = Numbers(upper=0.7, lower=0.3, strip=0.5)
COVERED, UNCOVERED = Action.CORRECT, Action.INCORRECT


def calibrated(rows: list[Labelled], today: Numbers = TODAY) -> Suggestion:
    return calibrate(rows, today, 8, Weights())


def spread(start: float, end: float, n: int, expected: Action) -> list[Labelled]:
    return [labelled([float(score)], expected=expected) for score in np.linspace(start, end, n)]


@pytest.mark.parametrize("seed", range(5))
def test_the_table_of_actions_is_what_replay_says_at_every_pair_of_thresholds(seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = [None if random.random() < 0.2 else float(score) for score in random.random(5)]
    row = labelled(scores[:2], scores[2:])
    steps = [0.0, 0.2, 0.35, 0.5, 0.75, 0.9, 1.0]
    table = actions(row.trace, steps, steps)
    for (i, upper), (j, lower) in itertools.product(enumerate(steps), enumerate(steps)):
        if lower <= upper:
            decision, _, _ = replay(row.trace, Thresholds(upper=upper, lower=lower))
            code = ACTIONS.index(decision.action) if decision else UNDECIDED
            assert table[i, j] == code, (upper, lower, scores)


def test_an_upper_threshold_that_is_too_high_goes_down_to_the_answerable_ones() -> None:
    found = calibrated(spread(0.5, 0.66, 60, COVERED) + spread(0.0, 0.2, 60, UNCOVERED))
    assert 0.2 < found.after.upper <= 0.54
    assert found.after.lower == 0.3, "nothing speaks against the lower threshold"
    assert found.effect_before.actions[COVERED] == {"AMBIGUOUS": 60}
    assert found.effect_after.actions[COVERED]["CORRECT"] >= 50
    assert found.effect_after.actions[UNCOVERED] == {"INCORRECT": 60}
    assert found.gain.low > 0
    assert found.gain.held_out is not None
    assert found.gain.held_out > 0.15
    assert {(moved.before, moved.after) for moved in found.moved} == {("AMBIGUOUS", "CORRECT")}


def test_false_claims_of_evidence_raise_the_upper_threshold_beyond_them() -> None:
    found = calibrated(spread(0.72, 0.8, 60, UNCOVERED) + spread(0.92, 0.99, 60, COVERED))
    assert 0.8 < found.after.upper <= 0.92
    assert found.effect_after.actions[UNCOVERED].get("CORRECT", 0) == 0
    assert found.effect_after.actions[COVERED] == {"CORRECT": 60}


def test_a_wrong_correct_costs_more_than_several_needless_searches() -> None:
    """One in ten of the questions between 0.5 and 0.6 is not covered: half a point gained nine times is worth less."""
    mixed = [
        labelled([float(score)], expected=UNCOVERED if i % 10 == 5 else COVERED)
        for i, score in enumerate(np.linspace(0.5, 0.6, 200))
    ]
    assert calibrated(mixed).after.upper >= 0.6


def test_thresholds_that_are_as_good_as_any_stay() -> None:
    found = calibrated(spread(0.8, 0.95, 40, COVERED) + spread(0.0, 0.2, 40, UNCOVERED))
    assert found.after == TODAY
    assert not found.changes
    assert found.moved == ()
    assert (found.gain.before, found.gain.low, found.gain.high) == (1.0, 0.0, 0.0)


def test_what_a_single_question_says_moves_nothing() -> None:
    rows = spread(0.8, 0.95, 39, COVERED) + spread(0.0, 0.2, 40, UNCOVERED)
    assert not calibrated([*rows, labelled([0.6], expected=COVERED)]).changes
    assert not calibrated([*rows, labelled([0.25], expected=COVERED)]).changes


def test_the_second_look_counts_where_the_first_one_is_incorrect() -> None:
    rows = [labelled([0.1], [float(score)], expected=COVERED) for score in np.linspace(0.5, 0.66, 60)]
    found = calibrated(rows + spread(0.0, 0.2, 60, UNCOVERED))
    assert found.after.upper <= 0.54
    assert found.effect_after.actions[COVERED]["CORRECT"] >= 50


def test_few_questions_are_warned_about() -> None:
    found = calibrated(spread(0.5, 0.66, 10, COVERED) + spread(0.0, 0.2, 10, UNCOVERED))
    assert f"Only 20 labelled questions: fewer than {FEW}" in found.warnings[0]
    enough = calibrated(spread(0.5, 0.66, 15, COVERED) + spread(0.0, 0.2, 15, UNCOVERED))
    assert enough.warnings == ()


def test_without_uncovered_questions_the_upper_threshold_is_kept_and_the_lower_one_only_lowered() -> None:
    found = calibrated(spread(0.1, 0.28, 60, COVERED) + spread(0.8, 0.9, 60, COVERED))
    assert found.after.upper == 0.7
    assert found.after.lower <= 0.14
    assert any("cannot be learnt and is kept, and the lower one can only be lowered" in note for note in found.notes)


def test_without_answerable_questions_the_lower_threshold_is_kept_and_the_upper_one_only_raised() -> None:
    found = calibrated(spread(0.72, 0.8, 60, UNCOVERED))
    assert found.after.lower == 0.3
    assert 0.8 < found.after.upper <= 0.9
    assert any("cannot be learnt and is kept, and the upper one can only be raised" in note for note in found.notes)


def test_where_no_question_is_answerable_or_uncovered_the_thresholds_are_kept() -> None:
    found = calibrated(spread(0.8, 0.9, 60, Action.AMBIGUOUS))
    assert found.after == TODAY
    assert any("answerable or uncovered" in note for note in found.notes)


@pytest.mark.parametrize("rest", [0, 60])
def test_few_uncovered_questions_do_not_move_the_upper_threshold(rest: int) -> None:
    others = spread(0.95, 0.99, rest, COVERED)
    found = calibrated([*others, *spread(0.72, 0.8, FEW_OF_A_KIND - 1, UNCOVERED)])
    assert found.after == TODAY
    assert any("fewer than 10 labelled questions are" in note for note in found.notes)
    assert calibrated([*others, *spread(0.72, 0.8, FEW_OF_A_KIND + 10, UNCOVERED)]).after.upper > 0.78


def test_few_answerable_questions_do_not_move_the_lower_threshold() -> None:
    others = spread(0.0, 0.05, 60, UNCOVERED)
    few = calibrated([*others, *spread(0.2, 0.28, FEW_OF_A_KIND - 1, COVERED)])
    assert (few.after.upper, few.after.lower) == (0.7, 0.3)
    assert calibrated([*others, *spread(0.2, 0.28, FEW_OF_A_KIND + 10, COVERED)]).after.lower < 0.28


def with_strips(n: int) -> list[Labelled]:
    """Questions whose answering strip is below the strip threshold in force."""
    return [labelled([0.9], expected=COVERED, strips=[0.4, 0.6, 0.61], answering={0: True, 1: False})] * n


def test_few_questions_with_an_answering_strip_do_not_move_the_strip_threshold() -> None:
    others = spread(0.9, 0.95, 20, COVERED) + spread(0.0, 0.1, 20, UNCOVERED)
    few = calibrated([*others, *with_strips(FEW_OF_A_KIND - 1)])
    assert few.after.strip == 0.5
    assert any("fewer than 10 questions have a strip that answers" in note for note in few.notes)
    assert calibrated([*others, *with_strips(FEW_OF_A_KIND + 20)]).after.strip <= 0.4


def test_a_gain_whose_interval_holds_zero_changes_nothing_and_is_told() -> None:
    """Three false claims among forty are beyond one standard error, but one sample in twenty holds none."""
    rows = spread(0.0, 0.1, 17, UNCOVERED) + spread(0.78, 0.79, 3, UNCOVERED)
    harsh = Weights(uncovered_correct=-40.0)
    found = calibrate(rows + spread(0.95, 0.99, 20, COVERED), TODAY, 8, harsh)
    assert found.after == TODAY
    assert (found.gain.low, found.gain.high, found.moved) == (0.0, 0.0, ())
    told = [note for note in found.notes if "no change is beyond noise" in note]
    assert len(told) == 1
    assert told[0].startswith("upper 0.7")
    assert "95 % interval +0.000 to" in told[0]


@pytest.mark.parametrize("seed", range(4))
def test_whatever_changes_gains_beyond_noise(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows = [
        labelled([float(score)], expected=COVERED if random.random() < score else UNCOVERED)
        for score in random.random(60)
    ]
    found = calibrated(rows, TODAY.model_copy(update={"upper": 0.5, "lower": 0.4}))
    assert not found.changes or found.gain.low > 0


def test_the_strip_threshold_keeps_what_answers_and_drops_what_does_not() -> None:
    """Strips that answer score 0.4, the others 0.2 and, three of them, 0.6 to 0.62: only 0.4 and below keeps both."""
    rows = [
        labelled(
            [0.9],
            expected=COVERED,
            strips=[0.4, 0.6, 0.61, 0.62, *[0.2] * 6],
            answering={0: True, **dict.fromkeys(range(1, 10), False)},
        )
        for _ in range(60)
    ]
    found = calibrated(rows + spread(0.0, 0.2, 60, UNCOVERED))
    assert 0.2 < found.after.strip <= 0.4
    assert found.effect_before.answer_kept == (0, 60)
    assert found.effect_after.answer_kept == (60, 60)
    assert found.effect_after.dropped == pytest.approx(0.6)


def test_without_labelled_strips_the_strip_threshold_is_kept() -> None:
    found = calibrated(spread(0.5, 0.66, 60, COVERED) + spread(0.0, 0.2, 60, UNCOVERED))
    assert found.after.strip == 0.5
    assert any("strip threshold is kept" in note for note in found.notes)
    assert found.effect_after.dropped is None


def test_what_refinement_keeps_is_counted_in_characters() -> None:
    row = labelled([0.9], strips=[0.9, 0.1, 0.2, 0.3], answering={0: True})
    assert refinement(row, Thresholds()) == (True, 0.25)
    assert refinement(labelled([0.9], strips=[0.9, 0.1], answering={1: True}), Thresholds()) == (False, 0.5)
    assert refinement(labelled([0.9], strips=[0.9, 0.1]), Thresholds()) == (None, 0.5)


def test_scores_on_a_wrong_scale_are_refitted_and_the_decisions_carried_over() -> None:
    """Scores are overconfident by two on the logit; 240 documents of each class say so."""
    random = np.random.default_rng(1)
    rows = []
    for i in range(240):
        logits = random.normal([2.0, -2.0], 1.5)
        labels = {j: bool(random.random() < 1 / (1 + np.exp(-logit))) for j, logit in enumerate(logits)}
        scores = [float(1 / (1 + np.exp(-2 - logit))) for logit in logits]
        rows.append(labelled(scores, expected=COVERED if i % 2 else UNCOVERED, documents=labels))
    found = calibrated(rows)
    assert found.after.document_map.offset == pytest.approx(-2.0, abs=0.4)
    assert found.after.document_map.slope == pytest.approx(1.0, abs=0.2)
    assert found.after.strip_map == TODAY.strip_map
    assert any("document scores are refitted" in note for note in found.notes)
    same = found.after.model_copy(
        update={name: found.after.document_map(getattr(TODAY, name)) for name in ("upper", "lower")}
    )
    again = calibrate(rows, same, 8, Weights())
    assert again.effect_before.actions == found.effect_before.actions, "a map with its thresholds changes no action"
    assert not again.after.maps_scores or again.after.document_map == found.after.document_map


def test_failed_and_unlabelled_questions_are_counted_and_left_out() -> None:
    rows = spread(0.5, 0.66, 60, COVERED) + spread(0.0, 0.2, 60, UNCOVERED)
    more = [*rows, labelled([None], expected=COVERED), labelled([0.9])]
    found = calibrated(more)
    assert (found.counts.failed, found.counts.unlabelled, found.counts.questions) == (1, 1, 120)
    assert found.after == calibrated(rows).after
    with pytest.raises(ValueError, match="expected action"):
        calibrated([labelled([0.9])])


def test_weights_are_read_by_name_and_a_wrong_one_is_named() -> None:
    weights = read_weights("uncovered_correct=-8, text_kept=-0.1")
    assert (weights.uncovered_correct, weights.text_kept, weights.answerable_correct) == (-8.0, -0.1, 1.0)
    assert read_weights("") == Weights()
    for wrong in ("wrong=1", "text_kept", "text_kept=much", "text_kept=nan"):
        with pytest.raises(ConfigurationError, match="--utility does not understand"):
            read_weights(wrong)


def test_other_weights_lead_to_other_thresholds() -> None:
    mixed = [
        labelled([float(score)], expected=UNCOVERED if i % 10 == 5 else COVERED)
        for i, score in enumerate(np.linspace(0.5, 0.6, 200))
    ]
    careless = calibrate(mixed, TODAY, 8, Weights(uncovered_correct=0.0))
    assert careless.after.upper <= 0.54
