"""The box to ask in: `@file` narrows one question, PDFs that come along are read before it is put."""

from __future__ import annotations

from pathlib import Path

from streamlit.testing.v1 import AppTest
from ui_stage import INDEXED, Stage, answered, ended, messages

from crag.events import BuildFinished, BuildStarted, FileRow
from crag.ui import state
from crag.ui.conversations import Conversation

PDF = b"%PDF-1.7\n%%EOF"
REPORTS = [FileRow(path=f"report {year}.pdf", content=str(year), pages=1, passages=1) for year in (2023, 2024)]


def said(at: AppTest) -> str:
    """What is told beside the box, and in captions."""
    texts = [element.value for element in (*at.info, *at.caption)]
    return "\n".join(texts).replace("\\", "").replace("\u2060", "")


def conversation(at: AppTest) -> Conversation:
    assert at.query_params["c"]
    (found,) = state.process().talks.all()
    return found


def send(at: AppTest, text: str = "", **files: bytes) -> AppTest:
    box = at.chat_input[0]
    for name, data in files.items():
        box.upload(f"{name}.pdf", data, "application/pdf")
    if text:
        box.set_value(text)
    at.run()
    assert not at.exception
    return at


def press(at: AppTest, key: str) -> AppTest:
    at.button(key=key).click().run()
    assert not at.exception
    return at


# --- @file ------------------------------------------------------------------------------------------------------


def test_a_named_file_narrows_this_question_alone(stage: Stage) -> None:
    stage.base.row_list = [INDEXED, *REPORTS]
    at = ended(send(stage.page(), "@guide What is it?"))
    (turn,) = conversation(at).turns
    assert (turn.question, turn.files) == ("What is it?", ("guide.pdf",))
    assert "Asked of: guide.pdf" in said(at)
    at = ended(send(at, "And this?"))
    assert conversation(at).turns[1].files == ()
    assert conversation(at).files == ()


def test_a_name_of_several_files_asks_which_and_asks_nothing_yet(stage: Stage) -> None:
    stage.base.row_list = [INDEXED, *REPORTS]
    at = send(stage.page(), "@report profit?")
    assert "c" not in at.query_params
    assert "@report could mean several files. Which one?" in said(at)
    assert at.chat_input[0].proto.value == "@report profit?", "what was typed stands in the box again"
    assert "report 2024.pdf" in at.button(key="asking-candidate-1").label.replace("\\", "")
    at = ended(press(at, "asking-candidate-1"))
    (turn,) = conversation(at).turns
    assert (turn.question, turn.files) == ("profit?", ("report 2024.pdf",))
    assert "could mean" not in said(at)


def test_a_name_of_no_file_names_those_there_are_and_can_be_asked_as_typed(stage: Stage) -> None:
    at = send(stage.page(), "What does @property do?")
    assert "No file is called @property." in said(at)
    assert at.button(key="asking-candidate-0").label.replace("\\", "") == "guide.pdf"
    at = ended(press(at, "asking-as-typed"))
    (turn,) = conversation(at).turns
    assert (turn.question, turn.files) == ("What does @property do?", ())


def test_a_second_unclear_name_is_asked_about_after_the_first(stage: Stage) -> None:
    stage.base.row_list = [INDEXED, *REPORTS]
    at = press(send(stage.page(), "@report against @nothing?"), "asking-candidate-0")
    assert "No file is called @nothing." in said(at)
    at = ended(press(at, "asking-candidate-0"))
    (turn,) = conversation(at).turns
    assert turn.files[0] == "report 2023.pdf"
    assert len(turn.files) == 2


def test_of_two_files_with_the_same_name_each_can_be_chosen(stage: Stage) -> None:
    stage.base.row_list = [FileRow(path=path, content=path, pages=1, passages=1) for path in ("x.pdf", "old/x.pdf")]
    for number, path in enumerate(("x.pdf", "old/x.pdf")):
        at = ended(press(send(stage.page(), "@x how many?"), f"asking-candidate-{number}"))
        turn = state.process().talks.all()[-1].turns[0]
        assert (turn.question, turn.files) == ("how many?", (path,))
        assert "could mean" not in said(at)


def test_a_name_without_a_question_is_no_question(stage: Stage) -> None:
    at = send(stage.page(), "@guide")
    assert "Type what you want to know behind the name" in said(at)
    assert at.chat_input[0].proto.value == "@guide"
    assert "c" not in at.query_params


# --- PDFs that come along ---------------------------------------------------------------------------------------


def built(version: int = 2) -> list[object]:
    return [BuildStarted(changes=()), BuildFinished(version=version, published=True, files=1)]


def test_a_question_with_a_pdf_waits_until_it_is_read(stage: Stage, tmp_path: Path) -> None:
    stage.base.script = built()  # type: ignore[assignment]
    at = send(stage.page(), "What is new?", new=PDF)
    assert (tmp_path / "Files" / "new.pdf").read_bytes() == PDF
    (turn,) = conversation(at).turns
    assert turn.reads
    assert "reading the new files first" in said(at)
    assert "new.pdf: being read; your question is put when that is done." in said(at)
    assert stage.histories == [], "nothing is asked yet"
    stage.base.goes_on.set()
    at = ended(at)
    assert stage.histories == [()]
    assert conversation(at).turns[0].trace is not None
    assert not conversation(at).turns[0].reads
    assert "being read" not in said(at), "it is"


def test_what_comes_while_a_build_runs_is_read_by_the_next_one(stage: Stage) -> None:
    stage.base.script = built()  # type: ignore[assignment]
    at = stage.page()
    first = state.process().build()
    send(at, "What is new?", new=PDF)
    stage.base.goes_on.set()
    ended(at)
    last = state.process().runtime.latest("build")
    assert last is not None
    assert last.id != first.id


def test_a_pdf_alone_is_read_and_its_name_can_be_used_at_once(stage: Stage) -> None:
    stage.base.script = built()  # type: ignore[assignment]
    at = send(stage.page(), "", new=PDF)
    assert "new.pdf: being read." in said(at)
    stage.base.goes_on.set()
    assert "c" not in at.query_params
    at = send(at, "@fresh what is it?", fresh=PDF)
    assert conversation(ended(at)).turns[0].files == ("fresh.pdf",)


def test_what_is_no_pdf_is_told_at_the_box_and_the_question_is_put_at_once(stage: Stage, tmp_path: Path) -> None:
    at = ended(send(stage.page(), "What is it?", fake=b"MZ no pdf"))
    assert "fake.pdf" in messages(at).replace("\\", "").replace("\u2060", "")
    assert len(stage.histories) == 1
    assert not (tmp_path / "Files" / "fake.pdf").exists()


def test_what_is_indexed_already_is_told_and_nothing_is_read(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "Files").mkdir()
    (tmp_path / "Files" / "guide.pdf").write_bytes(PDF)
    at = ended(send(stage.page(), "What is it?", guide=PDF))
    assert "guide.pdf is already there" in said(at)
    assert state.process().runtime.latest("build") is None
    assert len(stage.histories) == 1


def test_a_name_that_is_taken_is_decided_in_the_sidebar_and_told_at_the_box(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / "Files").mkdir()
    (tmp_path / "Files" / "guide.pdf").write_bytes(b"%PDF-1.7 other")
    at = ended(send(stage.page(), "What is it?", guide=PDF))
    assert "Another file is called guide.pdf: decide in the sidebar" in said(at)
    assert at.button(key="conflict-0-keep both")
    assert len(stage.histories) == 1


def test_what_was_told_goes_with_the_next_question(stage: Stage) -> None:
    at = send(stage.page(), "@zzz what?")
    assert "No file is called" in said(at)
    at = ended(send(at, "What is it?"))
    assert "No file is called" not in said(at)
    assert answered(stage)
