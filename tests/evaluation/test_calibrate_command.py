"""`python -m crag calibrate` on a real small knowledge base: suggest, apply, list and undo."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest

from config import Settings, load_settings
from crag import assembly, calibrations
from crag.__main__ import main
from crag.assembly import House, answer_now, open_house
from crag.calibrations import Calibration, Counts, Gain, LogitMap, Numbers
from crag.events import Finished
from crag.history.labels import Labels, label_of
from crag.history.store import Store
from crag.schema import EvaluatorName, Trace

TOPICS = {
    "falcon": "The Falcon pump was tested in Graz. Its flow rate is 42 litres per minute at a pressure of 3 bar.",
    "heron": "The Heron boiler is made in Linz. Its water must be changed every 600 hours of operation.",
    "kestrel": "The Kestrel valve is a safety valve of brass. It opens at a temperature of 95 degrees.",
    "osprey": "The Osprey filter belongs to the oil circuit. It weighs 7 kilograms and is replaced in spring.",
}
COVERED = {
    "What is the flow rate of the Falcon pump?": "42 litres",
    "Where was the Falcon pump tested?": "Graz",
    "Where is the Heron boiler made?": "Linz",
    "How often must the water of the Heron boiler be changed?": "600 hours",
    "At which temperature does the Kestrel valve open?": "95 degrees",
    "What is the Kestrel valve made of?": "brass",
    "How heavy is the Osprey filter?": "7 kilograms",
    "When is the Osprey filter replaced?": "in spring",
    "At what pressure was the flow rate of the Falcon pump measured?": "3 bar",
    "To which circuit does the Osprey filter belong?": "oil circuit",
}
UNCOVERED = [
    "Who painted the Mona Lisa?",
    "What is the capital of Mongolia?",
    "How are orchids repotted?",
    "Who invented the telephone?",
    "When did the Thirty Years' War end?",
    "How is sourdough bread baked?",
    "Which planet has the most moons?",
    "Who wrote the novel Middlemarch?",
    "What do pandas eat?",
    "How tall is Mount Everest?",
]
DOWN = LogitMap(offset=-1.0)


@pytest.fixture(scope="module", autouse=True)
def _one_engine() -> Iterator[None]:
    """Every start of this module gets the same loaded engine: loading it is no part of what is tested here."""
    loaded = assembly.load_embedder(load_settings().cache_dir)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assembly, "load_embedder", lambda *_: loaded)
        yield


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, Path]]:
    folder = tmp_path_factory.mktemp("calibrate")
    (folder / "Files").mkdir()
    for name, text in TOPICS.items():
        with pymupdf.open() as pdf:
            pdf.new_page().insert_textbox(pymupdf.Rect(72, 72, 520, 760), text, fontsize=11)
            pdf.save(folder / "Files" / f"{name}.pdf")
    opened = open_house(load_settings(files_dir=folder / "Files", chroma_dir=folder / "chroma_db"))
    for _ in opened.knowledge_base.build():
        continue
    yield opened, folder
    opened.close()


@pytest.fixture
def data(house: tuple[House, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own; the command finds it and the small knowledge base."""
    monkeypatch.setenv("CRAG_FILES_DIR", str(house[1] / "Files"))
    monkeypatch.setenv("CRAG_CHROMA_DIR", str(house[1] / "chroma_db"))
    monkeypatch.setenv("CRAG_DATA_DIR", str(tmp_path / "own"))
    return tmp_path / "own"


@pytest.fixture
def questions(tmp_path: Path) -> str:
    rows = [{"question": question, "answers": [answer]} for question, answer in COVERED.items()]
    rows += [{"question": question, "expected": "INCORRECT"} for question in UNCOVERED]
    path = tmp_path / "pumps.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return str(path)


def traced(house: House, settings: Settings, question: str) -> Trace:
    async def last() -> Trace:
        async for event in answer_now(house, settings, question, "t"):
            if isinstance(event, Finished):
                return event.trace
        raise AssertionError("a turn ends with its trace")

    return asyncio.run(last())


def in_force(question: str = next(iter(COVERED))) -> Trace:
    """The trace of a question as a process that starts now would answer it."""
    settings = load_settings()
    opened = open_house(settings)
    try:
        return traced(opened, settings, question)
    finally:
        opened.close()


EAGER = "uncovered_correct=-1,answerable_ambiguous=-2"
"""So few questions move something only where much is at stake."""


def test_a_suggestion_is_shown_and_changes_nothing(
    data: Path, questions: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAG_UPPER", "1")
    assert main(["calibrate", questions, "--utility", EAGER]) == 0
    said = capsys.readouterr()
    assert "20 labelled questions: 10 answerable, 10 uncovered" in said.out
    assert "upper threshold" in said.out
    assert "AMBIGUOUS -> CORRECT (expected CORRECT): What is the flow rate" in said.out
    assert "Nothing was changed." in said.out
    assert "Only 20 labelled questions: fewer than 30" in said.err
    assert not data.exists()


def test_apply_changes_the_next_start_and_undo_brings_the_defaults_back(
    data: Path, questions: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAG_UPPER", "1")
    assert main(["calibrate", questions, "--apply", "--utility", EAGER]) == 0
    said = capsys.readouterr()
    assert "CRAG_UPPER is set and goes before the calibration" in said.err
    assert said.err.count("Only 20 labelled questions") == 2, "the warning is repeated after applying"
    assert in_force().thresholds.upper == 1.0, "what is set explicitly holds"
    monkeypatch.delenv("CRAG_UPPER")

    kept = calibrations.active(data / "calibrations")
    assert kept is not None
    assert kept.before.upper == 1.0
    assert kept.after.upper < 1.0
    assert (kept.question_set, kept.files, kept.counts.questions) == ("pumps.jsonl", 4, 20)
    assert kept.weights["answerable_ambiguous"] == -2.0
    assert kept.utility.low > 0
    trace = in_force()
    assert trace.thresholds.upper == kept.after.upper
    assert trace.evaluator.version == kept.evaluator.version, "no map, so the evaluator is the same"
    assert trace.notices == ()

    assert main(["calibrate", "--list"]) == 0
    assert f"* {kept.id}: upper {kept.after.upper:.3f}" in capsys.readouterr().out
    assert main(["calibrate", "--undo"]) == 0
    assert "the defaults will be used" in capsys.readouterr().out
    assert in_force().thresholds.upper == 0.7
    main(["calibrate", "--list"])
    assert f"  {kept.id}:" in capsys.readouterr().out, "it is remembered, but not active"


def applied(house: House, data: Path, version: str | None = None) -> Calibration:
    """A calibration by hand with other thresholds and a map, for this evaluator or one of another version."""
    before = Numbers(upper=0.7, lower=0.3, strip=0.5)
    return calibrations.apply(
        data / "calibrations",
        Calibration(
            evaluator=EvaluatorName(name=house.evaluator.name, version=version or house.evaluator.version),
            embedding=house.embedder.fingerprint,
            catalog_version=1,
            files=4,
            question_set="by hand",
            question_sha256="0" * 64,
            counts=Counts(),
            before=before,
            after=Numbers(upper=0.6, lower=0.2, strip=0.4, document_map=DOWN),
            utility=Gain(before=0, after=0, low=0, high=0),
            weights={},
        ),
    )


def test_a_calibration_of_another_evaluator_is_told_and_not_applied(data: Path, house: tuple[House, Path]) -> None:
    kept = applied(house[0], data, version="older")
    trace = in_force()
    assert trace.thresholds.upper == 0.7
    assert trace.evaluator.version == house[0].evaluator.version
    assert "made for another evaluator or embedding and is not applied" in trace.notices[0]
    (data / "calibrations" / f"{kept.id}.json").write_text("{")
    trace = in_force()
    assert trace.thresholds.upper == 0.7
    assert "calibrate --undo" in trace.notices[0]


def test_refitted_scores_reach_the_answers_and_calibrating_again_starts_from_the_evaluators_own(
    data: Path, questions: str, house: tuple[House, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    raw = traced(house[0], load_settings(), next(iter(COVERED)))
    applied(house[0], data)
    trace = in_force()
    assert len(trace.documents) == len(raw.documents)
    for before, after in zip(raw.documents, trace.documents, strict=True):
        assert before.score is not None
        assert after.score == pytest.approx(DOWN(before.score))
    assert trace.thresholds.upper == 0.6
    assert trace.evaluator.version != raw.evaluator.version
    assert main(["calibrate", questions]) == 0
    said = capsys.readouterr().out
    assert "logit × 1.00 -1.00" in said, "the map in force is shown"
    assert "0.600" in said


def test_corrected_grades_are_learnt_from(
    data: Path, house: tuple[House, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    settings = load_settings()
    store = Store(data / "crag.db")
    labels = Labels(store)
    for question, answer in [*COVERED.items(), *((question, None) for question in UNCOVERED)]:
        for document in traced(house[0], settings, question).documents:
            answers = answer is not None and answer in document.text
            labels.add(label_of(question, document, answers, document.score, "1"))
    gone = traced(house[0], settings, UNCOVERED[0]).documents[0].model_copy(update={"text": "no longer indexed"})
    labels.add(label_of(UNCOVERED[0], gone, False, 0.1, "1"))
    store.close()
    assert main(["calibrate", "--from-corrections"]) == 0
    said = capsys.readouterr()
    assert "20 labelled questions: 10 answerable, 10 uncovered" in said.out
    assert "Documents: 10 that answer," in said.out
    assert "1 of " in said.err
    assert "no longer found" in said.err
    assert "no strip is labelled" in said.out


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        ([], "Name a question set, or use --from-corrections", 2),
        (["--from-corrections"], "No grade has been corrected yet", 2),
        (["missing.jsonl"], "does not exist", 2),
        (["missing.jsonl", "--utility", "nothing=1"], "--utility does not understand", 2),
        (["missing.jsonl", "--undo"], "--undo takes no question file", 2),
        (["missing.jsonl", "--list"], "--list takes no question file", 2),
        (["--utility", "x", "--list"], "--list takes no --utility", 2),
        (["--undo", "--apply", "--from-corrections"], "--undo takes no --from-corrections and no --apply", 2),
        (["--undo", "--list"], "--undo takes no --list", 2),
    ],
)
def test_wrong_use_is_told_in_a_sentence(
    data: Path, arguments: list[str], said: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", *arguments]) == code
    assert said in capsys.readouterr().err


def test_questions_without_any_label_say_what_is_missing(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bare.csv"
    path.write_text("question\nWhat is the flow rate?\n")
    assert main(["calibrate", str(path)]) == 2
    assert "give an expected action, a file or answers" in capsys.readouterr().err


def test_four_uncovered_questions_apply_nothing(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAG_UPPER", "0")
    monkeypatch.setenv("CRAG_LOWER", "0")
    path = tmp_path / "four.jsonl"
    rows = [{"question": question, "expected": "INCORRECT"} for question in UNCOVERED[:4]]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    assert main(["calibrate", str(path), "--apply"]) == 0
    said = capsys.readouterr().out
    assert ["uncovered:", "CORRECT", "4", "4"] in [line.split() for line in said.splitlines()]
    assert "Nothing is to be changed: no change is beyond noise." in said
    assert "fewer than 10 labelled questions are answerable or uncovered" in said
    assert not (data / "calibrations").exists()


def test_where_every_question_failed_their_number_and_the_first_reason_are_told(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "long.jsonl"
    rows = [{"question": "x" * 200_000, "expected": "INCORRECT"}, {"question": "y" * 200_000, "answers": ["42"]}]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    assert main(["calibrate", str(path)]) == 2
    said = capsys.readouterr().err
    assert "All questions failed (2 of 2)" in said
    assert "The first one: The question" in said
    assert "says what is expected" not in said
    path.write_text("\n".join(json.dumps(row) for row in [rows[0], {"question": UNCOVERED[0]}]), encoding="utf-8")
    assert main(["calibrate", str(path)]) == 2
    said = capsys.readouterr().err
    assert "1 of 2 questions failed, and no other one says what is expected of it" in said


def test_damaged_files_are_listed_beside_the_readable_ones(
    data: Path, house: tuple[House, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    kept = applied(house[0], data)
    damaged = data / "calibrations" / f"{kept.day}-7.json"
    damaged.write_text("{bad")
    assert main(["calibrate", "--list"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"* {kept.id}: upper 0.600")
    assert said[1:] == [f"  {damaged} cannot be read: delete it"]
    (data / "calibrations" / calibrations.ACTIVE).write_text(damaged.stem)
    assert main(["calibrate", "--list"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"  {kept.id}")
    assert said[1].startswith(f"* {damaged} cannot be read: run `python -m crag calibrate --undo`")
    (data / "calibrations" / calibrations.ACTIVE).write_text("../../../etc/passwd")
    assert main(["calibrate", "--list"]) == 0
    told = capsys.readouterr()
    assert "names no calibration" in told.err
    assert f"  {kept.id}" in told.out
    assert main(["calibrate", "--undo"]) == 0
    assert "passwd" not in capsys.readouterr().out + told.out + told.err


def test_where_nothing_was_applied_list_and_undo_say_so(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "--list"]) == 0
    assert main(["calibrate", "--undo"]) == 0
    said = capsys.readouterr().out
    assert "No calibration has been applied." in said
    assert "nothing to undo" in said
