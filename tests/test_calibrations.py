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
    assert [kept.id for kept in calibrations.applied(tmp_path)[0]] == [one.id, two.id]
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


@pytest.mark.parametrize("nonsense", ["../../../etc/passwd", "2026-01-01", "2026-01-01-1/../x", "a\0b", "x" * 999])
def test_a_pointer_to_no_id_is_damaged_and_never_shown_as_a_calibration(tmp_path: Path, nonsense: str) -> None:
    (tmp_path / calibrations.ACTIVE).write_text(nonsense)
    for asked in (calibrations.active, calibrations.active_id):
        with pytest.raises(HistoryError, match=r"names no calibration.*calibrate --undo") as told:
            asked(tmp_path)
        assert nonsense not in str(told.value)
    kept = calibrations.apply(tmp_path, a_calibration())
    assert (calibrations.active(tmp_path), kept.previous) == (kept, None), "a new one takes its place"
    (tmp_path / calibrations.ACTIVE).write_text(nonsense)
    assert calibrations.undo(tmp_path) == (calibrations.ACTIVE, None)
    assert calibrations.active(tmp_path) is None


def test_a_predecessor_that_is_no_id_leads_to_the_defaults(tmp_path: Path) -> None:
    outside = calibrations.apply(tmp_path, a_calibration())
    folder = tmp_path / "calibrations"
    kept = calibrations.apply(folder, a_calibration())
    wrong = kept.model_copy(update={"previous": f"../{outside.id}"})
    (folder / f"{kept.id}.json").write_text(wrong.model_dump_json())
    assert calibrations.undo(folder) == (kept.id, None)


def test_a_folder_in_the_place_of_the_pointer_is_a_sentence_that_says_so(tmp_path: Path) -> None:
    (tmp_path / calibrations.ACTIVE).mkdir()
    for asked in (calibrations.active, calibrations.undo, lambda folder: calibrations.apply(folder, a_calibration())):
        with pytest.raises(HistoryError, match=r"is a folder, .*: delete it"):
            asked(tmp_path)
    assert calibrations.applied(tmp_path) == ([], []), "nothing was half applied"


def test_a_damaged_file_beside_the_active_one_is_named_and_blocks_nothing(tmp_path: Path) -> None:
    one = calibrations.apply(tmp_path, a_calibration())
    damaged = tmp_path / f"{one.day}-2.json"
    damaged.write_text("{bad")
    assert calibrations.applied(tmp_path) == ([one], [damaged])
    three = calibrations.apply(tmp_path, a_calibration(0.5))
    assert three.id == f"{one.day}-3", "the damaged one's id is taken"
    assert damaged.read_text() == "{bad"
    assert calibrations.applied(tmp_path) == ([one, three], [damaged])


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HistoryError, match="cannot be kept"):
        calibrations.apply(tmp_path / "file" / "calibrations", a_calibration())
