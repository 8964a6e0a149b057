"""Applied calibrations: kept whole with their provenance, the active one found again, undone one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from crag import calibrations
from crag.calibrations import Calibration, Counts, Gain, LogitMap, Numbers
from crag.errors import HistoryError
from crag.schema import EvaluatorName


def a_calibration(upper: float = 0.6) -> Calibration:
    return Calibration(
        evaluator=EvaluatorName(name="lightweight", version="1"),
        embedding="e",
        catalog_version=3,
        files=2,
        question_set="set.jsonl",
        question_sha256="0" * 64,
        counts=Counts(answerable=80, uncovered=40, uncertain=3, unlabelled=9),
        before=Numbers(upper=0.7, lower=0.3, strip=0.5),
        after=Numbers(upper=upper, lower=0.2, strip=0.4, document_map=LogitMap(offset=-0.5, slope=0.9)),
        utility=Gain(before=1.0, after=1.1, low=0.05, high=0.15, held_out=0.08),
        weights={"uncovered_correct": -4.0},
    )


def test_what_is_applied_is_active_and_comes_back_as_it_was(tmp_path: Path) -> None:
    assert calibrations.active(tmp_path) is None
    kept = calibrations.apply(tmp_path, a_calibration())
    assert calibrations.active(tmp_path) == kept
    assert kept.id == f"{kept.day}-1"
    assert kept.model_copy(update={"id": "", "created": ""}) == a_calibration()
    assert kept.counts.questions == 123
    assert not list(tmp_path.glob(".part-*"))


def test_undo_goes_back_step_by_step_to_the_defaults_and_forgets_nothing(tmp_path: Path) -> None:
    one, two = calibrations.apply(tmp_path, a_calibration()), calibrations.apply(tmp_path, a_calibration(0.5))
    assert two.previous == one.id
    assert calibrations.undo(tmp_path) == (two.id, one.id)
    assert calibrations.active(tmp_path) == one
    assert calibrations.undo(tmp_path) == (one.id, None)
    assert calibrations.active(tmp_path) is None
    assert calibrations.undo(tmp_path) == (None, None)
    assert [kept.id for kept in calibrations.applied(tmp_path)] == [one.id, two.id]
    assert calibrations.apply(tmp_path, a_calibration()).id == f"{one.day}-3"


@pytest.mark.parametrize("content", ["", "{", '{"id": "x"}', "\0\0"])
def test_a_damaged_calibration_is_named_and_can_be_undone(tmp_path: Path, content: str) -> None:
    kept = calibrations.apply(tmp_path, a_calibration())
    (tmp_path / f"{kept.id}.json").write_text(content)
    with pytest.raises(HistoryError, match="calibrate --undo"):
        calibrations.active(tmp_path)
    assert calibrations.undo(tmp_path) == (kept.id, None)
    assert calibrations.active(tmp_path) is None


def test_an_unreadable_pointer_is_told_and_undone(tmp_path: Path) -> None:
    (tmp_path / calibrations.ACTIVE).write_bytes(b"\xff\xfe")
    with pytest.raises(HistoryError, match="calibrate --undo"):
        calibrations.active(tmp_path)
    calibrations.undo(tmp_path)
    assert calibrations.active(tmp_path) is None


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HistoryError, match="cannot be kept"):
        calibrations.apply(tmp_path / "file" / "calibrations", a_calibration())
