"""The command line on real PDFs with the real engine: build, ask, grade, doctor, in a pipe."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pymupdf
import pytest

from crag.cli.console import errors
from tests.search.tavily_server import KEY, a_result, serving

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    "The Falcon 9 pump was tested in Graz in March 2021. Its flow rate is 42 litres per minute at 3 bar. "
    "The error code ERR-4012 means that the inlet valve is blocked and must be cleaned.",
    "Maintenance is due every 600 hours of operation. The oil filter is replaced together with the seal ring. "
    "Spare parts are ordered from the service centre in Linz.",
]


class Shell:
    """Runs `python -m crag` with folders of its own."""

    def __init__(self, folder: Path) -> None:
        self.files, self.index = folder / "Files", folder / "chroma_db"
        self.files.mkdir()

    def run(self, *arguments: str, given: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "CRAG_FILES_DIR": str(self.files), "CRAG_CHROMA_DIR": str(self.index), **variables}
        return subprocess.run(
            [sys.executable, "-m", "crag", *arguments],
            cwd=ROOT,
            env=environment,
            input=given,
            capture_output=True,
            text=True,
            timeout=240,
            encoding="utf-8",
        )

    def on_a_terminal(self, *arguments: str, after: str = "", typed: str = "", **variables: str) -> str:
        """What a person sees who types `typed` once `after` stands there; the exit code must be 0."""
        import pty

        mine, theirs = pty.openpty()
        own = {"CRAG_FILES_DIR": str(self.files), "CRAG_CHROMA_DIR": str(self.index)}
        environment = os.environ | own | variables
        command = [sys.executable, "-m", "crag", *arguments]
        with subprocess.Popen(
            command, cwd=ROOT, env={**environment, "TERM": "xterm"}, stdin=theirs, stdout=theirs, stderr=theirs
        ) as process:
            os.close(theirs)
            seen = b""
            with contextlib.suppress(OSError):  # the terminal closes with the program
                while block := os.read(mine, 4096):
                    seen += block
                    if typed and after.encode() in seen:
                        os.write(mine, typed.encode())
                        typed = ""
            assert process.wait(timeout=240) == 0, seen.decode()
        os.close(mine)
        return seen.decode()


def a_pdf(path: Path, pages: list[str]) -> None:
    with pymupdf.open() as pdf:
        for text in pages:
            pdf.new_page().insert_textbox(pymupdf.Rect(72, 72, 520, 760), text, fontsize=11)
        pdf.save(path)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    made = Shell(tmp_path_factory.mktemp("cli"))
    a_pdf(made.files / "pump.pdf", PAGES)
    (made.files / "broken.pdf").write_bytes(b"not a pdf at all")
    built = made.run("build")
    assert built.returncode == 0, built.stderr
    assert "2 added" in built.stderr
    assert "broken.pdf: not indexed." in built.stderr
    return made


def test_a_question_before_the_first_build_says_what_to_do(tmp_path: Path) -> None:
    asked = Shell(tmp_path).run("ask", "What is the flow rate?")
    assert asked.returncode == 3
    assert asked.stdout == ""
    assert "build" in asked.stderr


def test_an_answer_is_printed_with_its_decision_and_sources(shell: Shell) -> None:
    asked = shell.run("ask", "What is the flow rate of the Falcon 9 pump?", "--show", "scores,strips,context")
    assert asked.returncode == 0, asked.stderr
    assert "42 litres per minute" in asked.stdout
    assert "[1] pump.pdf, page 1" in asked.stdout
    assert "\nCORRECT: " in asked.stdout
    for part in ("Documents", "Strips", "Context given to the generator"):
        assert f"\n{part}\n" in asked.stdout


def test_an_answer_is_exported_with_the_image_of_its_page(shell: Shell, tmp_path: Path) -> None:
    report, trace = tmp_path / "report.html", tmp_path / "trace.JSON"
    asked = shell.run("ask", "What does ERR-4012 mean?", "--export", str(report))
    assert asked.returncode == 0, asked.stderr
    assert f"Written: {report}" in asked.stderr
    page = report.read_text(encoding="utf-8")
    assert "Page 1 of pump.pdf" in page
    assert page.count("data:image/png;base64,") == 1
    again = shell.run("ask", "What does ERR-4012 mean?", "--json", "--export", str(trace))
    assert json.loads(trace.read_text(encoding="utf-8")) == json.loads(again.stdout)


def test_an_export_that_cannot_be_written_is_refused_before_anything_is_asked(shell: Shell, tmp_path: Path) -> None:
    for name, why in {
        "report.docx": "--export does not know docx",
        "report": "--export does not know a name without ending",
        "missing/report.html": "in a folder that exists",
    }.items():
        asked = shell.run("ask", "What does ERR-4012 mean?", "--export", str(tmp_path / name))
        assert asked.returncode == 2
        assert why in asked.stderr
        assert asked.stdout == ""


def test_the_json_trace_alone_is_on_standard_output(shell: Shell) -> None:
    asked = shell.run("ask", "What does ERR-4012 mean?", "--json")
    trace = json.loads(asked.stdout)
    assert trace["schema"] == 1
    assert trace["action"] == "CORRECT"
    assert trace["documents"][0].keys() >= {
        "id",
        "file",
        "page",
        "pages",
        "spans",
        "score",
        "cause",
        "verdict",
        "reason",
    }
    assert trace["strips"][0].keys() >= {"id", "text", "file", "page", "spans", "score", "kept"}
    cited = {"n": 1, "file": "pump.pdf", "page": 1, "pages": [1], "url": None}
    assert trace["citations"][0] | cited == trace["citations"][0]
    assert {"upper", "lower"} <= trace["thresholds"].keys()
    assert trace["decision"] == trace["decisions"][-1]["sentence"]
    assert "inlet valve" in trace["knowledge"]


def test_what_is_not_covered_is_said_and_names_the_nearest_file(shell: Shell) -> None:
    trace = json.loads(shell.run("ask", "Who painted the Mona Lisa?", "--json").stdout)
    assert trace["action"] == "INCORRECT"
    assert len(trace["decisions"]) == 2
    assert trace["knowledge"] == ""
    assert "pump.pdf" in trace["answer"]


def test_a_second_build_touches_nothing(shell: Shell) -> None:
    again = shell.run("build")
    assert again.returncode == 0
    assert "0 added, 0 changed, 0 removed, 2 unchanged" in again.stderr


def test_grade_reads_lines_and_writes_a_line_each_in_both_languages(shell: Shell) -> None:
    rows = [
        {"question": "What is the flow rate of the pump?", "texts": [PAGES[0], "Bananas are yellow."]},
        {"question": "水泵的流量是多少？", "texts": ["该水泵的流量为每分钟42升。", ""]},
        {"question": "anything", "texts": []},
    ]
    graded = shell.run("grade", given="\n".join(json.dumps(row) for row in rows))
    assert graded.returncode == 0, graded.stderr
    lines = [json.loads(line) for line in graded.stdout.splitlines()]
    assert [len(line["scores"]) for line in lines] == [2, 2, 0]
    assert lines[0]["scores"][0] > 0.7 > 0.3 > lines[0]["scores"][1]
    assert lines[0]["verdicts"] == ["relevant", "irrelevant"]
    assert lines[1]["scores"][0] > 0.5
    assert all(reason for line in lines for reason in line["reasons"])


def test_a_bad_line_is_named(shell: Shell) -> None:
    graded = shell.run("grade", given='{"question": "q"}\n')
    assert graded.returncode == 2
    assert "Line 1" in graded.stderr


@pytest.mark.parametrize(
    ("arguments", "variables", "said"),
    [
        (["ask", "x", "--show", "everything"], {}, "--show does not know everything"),
        (["ask", "x"], {"CRAG_UPPER": "2"}, "CRAG_UPPER"),
        (["ask", "   "], {}, "empty"),
    ],
)
def test_wrong_use_is_told_in_one_sentence(
    shell: Shell, arguments: list[str], variables: dict[str, str], said: str
) -> None:
    ended = shell.run(*arguments, **variables)
    assert ended.returncode in (1, 2)
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_doctor_finds_everything_in_place_and_names_the_refused_file(shell: Shell) -> None:
    ended = shell.run("doctor")
    assert ended.returncode == 0, ended.stdout
    assert "FAIL" not in ended.stdout
    assert "broken.pdf is not indexed" in ended.stdout


@pytest.mark.parametrize(
    "row", ['{"question": "q", "texts": "abc"}', '{"question": "q", "texts": {"a": 1}}', "[" * 100_000]
)
def test_what_is_no_list_of_texts_is_refused(shell: Shell, row: str) -> None:
    graded = shell.run("grade", given=row + "\n")
    assert graded.returncode == 2
    assert "Line 1" in graded.stderr
    assert "Traceback" not in graded.stderr


def test_broken_unicode_is_graded_and_asked_like_any_text(shell: Shell) -> None:
    graded = shell.run("grade", given='\ufeff{"question": "pump \\ud800", "texts": ["the pump \\udfff"]}\n')
    assert graded.returncode == 0, graded.stderr
    asked = shell.run("ask", "--json", "what is \udcff ERR-4012")
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)["action"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
def test_a_build_and_a_question_work_on_a_terminal_too(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    a_pdf(shell.files / "pump.pdf", PAGES)
    built = shell.on_a_terminal("build")
    assert "pump.pdf: 2 pages" in built
    assert "━" in built, "a bar is drawn"
    assert "42 litres per minute" in shell.on_a_terminal("ask", "What is the flow rate of the Falcon 9 pump?")


NOT_COVERED = "Who painted the Mona Lisa?"
FOUND = a_result("The Mona Lisa was painted by Leonardo da Vinci between 1503 and 1519.", "https://art.example/")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize(
    ("typed", "sent"), [("\n", None), ("mona lisa painter\n", "mona lisa painter"), ("n\n", ""), ("\x04", "")]
)
def test_on_a_terminal_the_query_is_seen_sent_edited_or_declined(shell: Shell, typed: str, sent: str | None) -> None:
    with serving() as tavily:
        tavily.finds(FOUND)
        web = {"CRAG_WEB_PROVIDER": "tavily", "TAVILY_API_KEY": KEY, "CRAG_TAVILY_URL": tavily.url}
        seen = shell.on_a_terminal(
            "ask", NOT_COVERED, "--web", "ask", after="n declines: ", typed=typed, CRAG_WEB_CACHE_HOURS="0", **web
        )
        queries = [request["query"] for request in tavily.requests]
    assert "May this query be sent to tavily" in seen
    if sent == "":
        assert queries == []
        assert "The query was not sent" in seen
    else:
        assert len(queries) == 1
        assert queries[0] in seen
        assert sent in (None, queries[0])
        assert "Leonardo" in seen
        assert ("edited, it was" in seen) == (sent is not None)


def test_where_nobody_can_be_asked_nothing_is_sent_and_it_is_told(shell: Shell) -> None:
    with serving() as tavily:
        web = {"CRAG_WEB_PROVIDER": "tavily", "TAVILY_API_KEY": KEY, "CRAG_TAVILY_URL": tavily.url, "CRAG_WEB": "ask"}
        asked = shell.run("ask", NOT_COVERED, **web)
        assert tavily.requests == []
    assert "nobody could be asked here" in asked.stdout


@pytest.mark.parametrize(
    ("variables", "said"), [({"CRAG_WEB": "off"}, "CRAG_WEB=off forbids the web"), ({}, "set CRAG_WEB_PROVIDER")]
)
def test_the_switch_cannot_open_a_web_that_is_forbidden_or_not_set_up(
    shell: Shell, variables: dict[str, str], said: str
) -> None:
    ended = shell.run("ask", "x", "--web", "ask", **variables)
    assert ended.returncode == 2
    assert said in ended.stderr


def test_doctor_tells_of_a_damaged_catalog_beside_all_else(tmp_path: Path) -> None:
    ill = Shell(tmp_path)
    ill.index.mkdir()
    (ill.index / "catalog.db").write_bytes(b"no database" * 1000)
    ended = ill.run("doctor")
    assert ended.returncode == 1
    assert "FAIL" in ended.stdout
    assert "Python" in ended.stdout
    assert "Traceback" not in ended.stderr + ended.stdout


def test_names_of_files_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    errors.print(":smile: [bold]plan.pdf")
    assert capsys.readouterr().err == ":smile: [bold]plan.pdf\n"


def test_single_files_are_listed_read_again_asked_and_deleted(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    for name, text in (("pump.pdf", PAGES[0]), ("care.pdf", PAGES[1])):
        document = pymupdf.open()
        document.new_page().insert_textbox((72, 72, 500, 700), text)
        document.save(shell.files / name)
    assert shell.run("build").returncode == 0
    again = shell.run("build", "--read-again", "care.pdf", "--ocr", "off")
    assert again.returncode == 0, again.stderr
    assert "care.pdf: 1 page" in again.stderr
    listed = shell.run("files")
    assert "care.pdf: 1 page, 1 passage, OCR off" in listed.stdout
    assert "2 files indexed, 0 not, 2 passages; the index takes" in listed.stdout
    asked = shell.run("ask", "What is the flow rate of the pump?", "--file", "CARE", "--json")
    trace = json.loads(asked.stdout)
    assert trace["files"] == ["care.pdf"]
    assert {document["file"] for document in trace["documents"]} == {"care.pdf"}
    unknown = shell.run("ask", "What is it?", "--file", "pumpe.pdf")
    assert unknown.returncode == 2
    assert unknown.stderr.strip() == "No indexed file is called “pumpe.pdf”: try pump.pdf."
    assert shell.run("build", "--ocr", "off").returncode == 2
    assert shell.run("delete", "pump.pdf").returncode == 0
    assert [path.name for path in shell.files.iterdir()] == ["care.pdf"]
    assert "1 file indexed" in shell.run("files").stdout
    assert "There is no file pump.pdf" in shell.run("delete", "pump.pdf").stderr
