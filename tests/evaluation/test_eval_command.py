"""`python -m crag eval` on a real small knowledge base: figures on the terminal, JSON, HTML, comparison."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from config import Settings, load_settings
from crag.__main__ import main
from crag.assembly import House, open_house
from crag.cli import evaluate as command
from crag.evaluation.question_sets import read_questions
from crag.evaluation.running import Outcome, run
from crag.schema import Action

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    "The Falcon 9 pump was tested in Graz in March 2021. Its flow rate is 42 litres per minute at 3 bar. "
    "The error code ERR-4012 means that the inlet valve is blocked and must be cleaned.",
    "Maintenance is due every 600 hours of operation. The oil filter is replaced together with the seal ring. "
    "Spare parts are ordered from the service centre in Linz.",
]
ROWS = [
    {"id": "flow", "question": "What is the flow rate of the Falcon 9 pump?", "file": "pump.pdf", "page": 1}
    | {"answers": ["42 litres"], "expected": "CORRECT"},
    {"id": "error", "question": "What does ERR-4012 mean?", "file": "pump.pdf", "answers": ["inlet valve"]},
    {"id": "due", "question": "When is maintenance due?", "answers": ["600 hours"], "expected": "CORRECT"},
    {"id": "lisa", "question": "Who painted the Mona Lisa?", "expected": "INCORRECT"},
    {"id": "long", "question": "why " * 1500},
]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    folder = tmp_path_factory.mktemp("eval")
    (folder / "Files").mkdir()
    with pymupdf.open() as pdf:
        for text in PAGES:
            pdf.new_page().insert_textbox(pymupdf.Rect(72, 72, 520, 760), text, fontsize=11)
        pdf.save(folder / "Files" / "pump.pdf")
    return load_settings(files_dir=folder / "Files", chroma_dir=folder / "chroma_db")


@pytest.fixture(scope="module")
def house(settings: Settings) -> Iterator[House]:
    opened = open_house(settings)
    for _ in opened.knowledge_base.build():
        continue
    yield opened
    opened.close()


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in ROWS), encoding="utf-8")
    return path


@pytest.fixture
def here(house: House, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command finds the small knowledge base."""
    monkeypatch.setenv("CRAG_FILES_DIR", str(settings.files_dir))
    monkeypatch.setenv("CRAG_CHROMA_DIR", str(settings.chroma_dir))


def test_every_question_has_its_outcome_and_one_that_fails_stops_no_other(
    house: House, settings: Settings, questions: Path
) -> None:
    told: list[tuple[int, int]] = []
    outcomes = asyncio.run(run(house, settings, read_questions(questions), lambda done, of: told.append((done, of))))
    assert [outcome.question.id for outcome in outcomes] == ["flow", "error", "due", "lisa", "long"]
    assert [outcome.trace.action for outcome in outcomes] == [
        Action.CORRECT,
        Action.CORRECT,
        Action.CORRECT,
        Action.INCORRECT,
        None,
    ]
    assert "shorten it" in (outcomes[-1].trace.error or "")
    assert told == [(done, 5) for done in range(1, 6)]


@pytest.mark.usefixtures("here")
def test_the_figures_are_printed_written_and_compared(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, page = tmp_path / "report.json", tmp_path / "report.html"
    assert main(["eval", str(questions), "--json", str(table), "--report", str(page)]) == 0
    said = capsys.readouterr()
    assert "mine.jsonl: 5 questions (3 answerable, 1 not covered, 1 without expectation, 1 failed)" in said.out
    assert "; 1 file, " in said.out
    assert "1 question failed, the first: " in said.out
    assert "shorten it" in said.out
    assert "recall@k                          1.000 [0.438, 1.000] n 3" in said.out
    assert "INCORRECT  -> 1 INCORRECT" in said.out
    assert "1 the question failed" in said.out
    assert "Fewer than 30 questions" in said.err
    stored = json.loads(table.read_text(encoding="utf-8"))
    shares = stored["groups"][0]["metrics"]["shares"]
    assert (shares["answer_match"]["hits"], shares["answer_match"]["n"]) == (3, 3)
    assert (shares["refused_uncovered"]["hits"], shares["false_answers"]["hits"]) == (1, 0)
    assert str(tmp_path) not in table.read_text(encoding="utf-8")
    assert page.read_text(encoding="utf-8").count("<svg") == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.jsonl", "report.html", "report.json"]

    assert main(["eval", str(questions), "--compare", str(table), "--limit", "2"]) == 0
    said = capsys.readouterr()
    assert "mine.jsonl: 2 questions" in said.out
    assert "5 questions in the old report, 2 in the new one, 2 in both" in said.out
    assert "0/0 of 2" in said.out


@pytest.mark.usefixtures("here")
def test_a_csv_set_gives_the_same_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["question,answers,expected,file,page", "What does ERR-4012 mean?,blocked|inlet valve,correct,pump.pdf,1"]
    path = tmp_path / "mine.csv"
    path.write_text("\ufeff" + "\n".join([*lines, "Who painted the Mona Lisa?,,INCORRECT,,"]), encoding="utf-8")
    assert main(["eval", str(path)]) == 0
    said = capsys.readouterr().out
    assert "mine.csv: 2 questions (1 answerable, 1 not covered, 0 without expectation)" in said
    assert "answer holds the answer           1.000 [0.207, 1.000] n 1" in said


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["no.jsonl"], "no.jsonl does not exist"),
        (["{questions}", "--report", "no/folder/report.html"], "cannot be written"),
        (["{questions}", "--compare", "{questions}"], "is no JSON"),
    ],
)
def test_wrong_use_is_told_before_anything_is_asked(
    questions: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["eval", *(argument.format(questions=questions) for argument in arguments)]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
    assert "Asked" not in told.err


@pytest.fixture
def kept(questions: Path, tmp_path: Path) -> dict[str, Path]:
    """What stands beside a question set and must not be overwritten, and ways to name it."""
    report = {"schema": 1}
    (tmp_path / "old.json").write_text(json.dumps(report), encoding="utf-8")
    (tmp_path / "paper.PDF").write_bytes(b"%PDF-1.7\n")
    (tmp_path / "paper.bin").write_bytes(b"\n%PDF-1.7\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.json").symlink_to(questions)
    (tmp_path / "circle.json").symlink_to(tmp_path / "circle.json")
    os.mkfifo(tmp_path / "pipe.json")
    names = ("paper.PDF", "paper.bin", "folder", "link.json", "circle.json", "pipe.json", "new.pdf")
    return {name: tmp_path / name for name in names} | {
        "mine.jsonl": tmp_path / "folder" / ".." / "mine.jsonl",
        "long": tmp_path / ("a" * 300 + ".json"),
        "null": Path("/dev/null"),
        "kernel": Path("/proc/report.json"),
    }


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("option", ["--json", "--report"])
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mine.jsonl", "would overwrite the question file"),
        ("link.json", "would overwrite the question file"),
        ("paper.PDF", "no PDF is ever overwritten"),
        ("paper.bin", "no PDF is ever overwritten"),
        ("new.pdf", "no PDF is ever overwritten"),
        ("folder", "give a file name in a folder that exists"),
        ("circle.json", "cannot be written"),
        ("pipe.json", "is no regular file"),
        ("null", "is no regular file"),
        ("long", "cannot be written"),
        pytest.param("kernel", "cannot be written", marks=pytest.mark.skipif(sys.platform != "linux", reason="/proc")),
    ],
)
def test_what_must_be_kept_or_cannot_be_written_is_refused_before_anything_is_asked(
    questions: Path, kept: dict[str, Path], capsys: pytest.CaptureFixture[str], option: str, name: str, said: str
) -> None:
    before = {path: path.read_bytes() for path in questions.parent.iterdir() if path.is_file()}
    assert main(["eval", str(questions), option, str(kept[name])]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
    assert "Asked" not in told.err
    assert {path: path.read_bytes() for path in questions.parent.iterdir() if path.is_file()} == before


@pytest.mark.usefixtures("here")
def test_the_older_report_and_one_file_for_both_are_refused_and_a_link_is_followed(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    link, real = tmp_path / "link.json", tmp_path / "real.json"
    link.symlink_to(real)
    arguments = ["eval", str(questions), "--limit", "1"]
    assert main([*arguments, "--json", str(link), "--report", str(real)]) == 2
    assert "both name" in capsys.readouterr().err
    assert not real.exists()
    assert main([*arguments, "--json", str(link)]) == 0
    assert link.is_symlink()
    first = real.read_bytes()
    assert json.loads(first)["counts"]["questions"] == 1
    capsys.readouterr()
    assert main([*arguments, "--json", str(link), "--compare", str(real)]) == 2
    told = capsys.readouterr()
    assert "would overwrite the report to compare with" in told.err
    assert told.out == ""
    real.write_bytes(first.replace(b'"groups": [', b'"groups": [], "other": [', 1))
    assert main([*arguments, "--compare", str(real)]) == 2
    told = capsys.readouterr()
    assert "is damaged at groups" in told.err
    assert told.out == ""


@pytest.mark.usefixtures("here")
def test_an_output_that_fails_at_the_end_does_not_cost_the_other(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table, page = tmp_path / "gone" / "report.json", tmp_path / "report.html"
    table.parent.mkdir()

    def asked(*given: Any) -> list[Outcome]:
        table.parent.rmdir()  # as if the stick had been pulled while the questions were asked
        return ask(*given)

    ask = command._asked
    monkeypatch.setattr(command, "_asked", asked)
    assert main(["eval", str(questions), "--limit", "1", "--json", str(table), "--report", str(page)]) == 1
    told = capsys.readouterr()
    assert f"Not written: {table}" in told.err
    assert f"Written: {page}" in told.err
    assert "<svg" in page.read_text(encoding="utf-8")


@pytest.mark.usefixtures("here")
def test_a_run_in_which_every_question_failed_says_why_and_has_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, table = tmp_path / "mine.jsonl", tmp_path / "report.json"
    rows = [{"question": word * 1500, "expected": "CORRECT"} for word in ("why ", "who ", "how ")]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert main(["eval", str(path), "--json", str(table)]) == 1
    said = capsys.readouterr().out
    assert "3 questions failed, the first: " in said
    assert "shorten it" in said
    assert "answerable: Correct" not in said
    assert json.loads(table.read_text(encoding="utf-8"))["counts"]["failed"] == 3


@pytest.mark.usefixtures("here")
def test_a_file_that_is_not_in_the_index_is_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("question,file,id\nWhat does ERR-4012 mean?,no-such.pdf,a\n", encoding="utf-8")
    assert main(["eval", str(path)]) == 0
    said = capsys.readouterr().out
    assert "mine.csv: 1 question (1 answerable" in said
    assert "Note: 1 question names a file that is not in the index: no-such.pdf (id a)" in said


@pytest.mark.parametrize("limit", ["0", "-1", "few"])
def test_a_limit_below_one_is_refused(questions: Path, limit: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["eval", str(questions), "--limit", limit])
    assert ended.value.code == 2


def test_commands_that_draw_nothing_do_not_wait_for_the_plots() -> None:
    code = "import sys, crag.__main__; print(*({'altair', 'vl_convert', 'jinja2'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


def test_an_empty_index_is_told_once(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "Files").mkdir()
    monkeypatch.setenv("CRAG_FILES_DIR", str(tmp_path / "Files"))
    monkeypatch.setenv("CRAG_CHROMA_DIR", str(tmp_path / "chroma_db"))
    assert main(["eval", str(questions)]) == 3
    told = capsys.readouterr()
    assert told.err.count("Nothing is indexed yet") == 1
    assert told.out == ""
