"""What settings lead to, on the real engine and an empty index."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from config import load_settings
from crag import calibrations
from crag.assembly import House, in_force, open_house
from crag.calibrations import Calibration, Counts, Gain, Numbers
from crag.errors import EmptyIndexError
from crag.schema import EvaluatorName, Thresholds


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    (tmp_path / "Files").mkdir()
    made = open_house(
        load_settings(files_dir=tmp_path / "Files", chroma_dir=tmp_path / "chroma_db", data_dir=tmp_path / ".crag")
    )
    yield made
    made.close()


def test_an_empty_index_neither_stops_opening_nor_warming_up(house: House) -> None:
    house.warm_up(load_settings())
    with pytest.raises(EmptyIndexError), house.knowledge_base.snapshot():
        pass


def test_each_turn_gets_the_settings_it_was_asked_under(house: House) -> None:
    parts = house.parts(load_settings(k=3, upper=0.9, quotes=1, top_strips=2))
    assert parts.k == 3
    assert parts.thresholds.upper == 0.9
    assert parts.thresholds.top_strips == 2
    assert parts.generator.quotes == 1  # type: ignore[attr-defined]
    assert house.parts(load_settings()).k == 8


def test_a_calibration_that_is_applied_or_undone_while_the_app_runs_counts_from_the_next_turn(
    house: House, tmp_path: Path
) -> None:
    learnt = a_calibration(0.6, 0.2).model_copy(
        update={
            "evaluator": EvaluatorName(name=house.own.name, version=house.own.version),
            "embedding": house.embedder.fingerprint,
        }
    )
    calibrations.apply(tmp_path / ".crag" / "calibrations", learnt)
    assert house.parts(load_settings()).thresholds.upper == 0.6
    calibrations.apply(tmp_path / ".crag" / "calibrations", a_calibration(0.5, 0.1))
    assert house.parts(load_settings()).thresholds == Thresholds()
    assert "made for another evaluator" in house.parts(load_settings()).notices[-1]
    calibrations.undo(tmp_path / ".crag" / "calibrations")
    assert house.parts(load_settings()).thresholds.upper == 0.6
    assert house.uncalibrated().parts(load_settings()).thresholds == Thresholds()


def a_calibration(upper: float, lower: float) -> Calibration:
    numbers = Numbers(upper=upper, lower=lower, strip=0.4)
    return Calibration(
        evaluator=EvaluatorName(name="lightweight", version="1"),
        embedding="e",
        catalog_version=1,
        files=1,
        question_set="set.jsonl",
        question_sha256="0" * 64,
        counts=Counts(answerable=80),
        before=numbers,
        after=numbers,
        utility=Gain(before=1.0, after=1.1, low=0.05, high=0.15),
        weights={},
    )


def test_a_threshold_is_the_one_set_explicitly_else_the_calibrated_one_else_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = in_force(load_settings(), None)
    assert (found.thresholds, found.explicit, found.calibration) == (Thresholds(), (), None)
    learnt = a_calibration(0.6, 0.2)
    found = in_force(load_settings(top_strips=3), learnt)
    assert found.thresholds == Thresholds(upper=0.6, lower=0.2, strip=0.4, top_strips=3)
    assert found.calibration == learnt
    monkeypatch.setenv("CRAG_LOWER", "0.25")
    found = in_force(load_settings(), learnt)
    assert (found.thresholds.upper, found.thresholds.lower, found.explicit) == (0.6, 0.25, ("lower",))
    found = in_force(load_settings(upper=0.8, strip_threshold=0.5), learnt)
    assert (found.thresholds.upper, found.thresholds.lower, found.thresholds.strip) == (0.8, 0.25, 0.5)
    assert found.calibration is None, "nothing of it is left"


def test_a_calibrated_threshold_gives_way_to_one_that_was_set_beyond_it() -> None:
    found = in_force(load_settings(upper=0.4), a_calibration(0.9, 0.5))
    assert (found.thresholds.upper, found.thresholds.lower) == (0.4, 0.4)
    found = in_force(load_settings(lower=0.65), a_calibration(0.6, 0.2))
    assert (found.thresholds.upper, found.thresholds.lower) == (0.65, 0.65)


def test_who_grades_is_chosen_by_the_settings_of_the_turn_whatever_the_house_was_opened_with(
    house: House, tmp_path: Path
) -> None:
    judge = load_settings(evaluator="llm", llm_provider="ollama")
    assert house.parts(judge).evaluator.name == "llm"
    assert house.parts(load_settings()).evaluator.name == "lightweight"
    folders = {name: tmp_path / "other" / name for name in ("files_dir", "chroma_dir", "data_dir")}
    other = open_house(judge.model_copy(update=folders))
    try:
        assert other.parts(load_settings()).evaluator.name == "lightweight"
        assert other.parts(load_settings()).evaluator.version == house.own.version, "a calibration of it holds"
        assert other.evaluator.name == "llm"
    finally:
        other.close()
