"""Files that cannot be read, or only in part: each is a row with a reason, and none stops the others."""

from __future__ import annotations

import csv
import os
import threading
import time
from pathlib import Path

import psutil
import pymupdf
import pytest
from hashing import HashingEmbedder
from pebble import ProcessFuture
from small_pdfs import Write, built, pdf_bytes

from crag.events import FileState
from crag.knowledge_base import usability, workers
from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.pdf_loader import read_head


def image_page(document: pymupdf.Document) -> None:
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 40, 40))
    pixmap.clear_with(128)
    page = document.new_page()
    page.insert_image(page.rect, pixmap=pixmap)


def hostile(files: Path) -> dict[str, str]:
    """Writes one file for each way to be bad; returns what its reason must say."""
    good = pdf_bytes(["A perfectly good page of text."])
    (files / "empty.pdf").write_bytes(b"")
    (files / "text.pdf").write_bytes(b"just some words, no PDF at all")
    (files / "html.pdf").write_bytes(b"<!DOCTYPE html><html><body><h1>Not found</h1></body></html>")
    (files / "cut.pdf").write_bytes(good[:80])
    (files / "locked.pdf").write_bytes(
        pdf_bytes(["Secret."], encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="u", owner_pw="o")
    )
    scanned = pymupdf.open()
    image_page(scanned)
    image_page(scanned)
    scanned.save(files / "scan.pdf")
    (files / "blank.pdf").write_bytes(pdf_bytes([""]))
    (files / "folder.pdf").mkdir()
    (files / "nowhere.pdf").symlink_to(files / "missing.pdf")
    outside = files.parent / "outside.pdf"
    outside.write_bytes(good)
    (files / "leaving.pdf").symlink_to(outside)
    os.mkfifo(files / "pipe.pdf")
    return {
        "empty.pdf": "empty",
        "text.pdf": "not a PDF but plain text",
        "html.pdf": "not a PDF but a web page",
        "cut.pdf": "damaged",
        "locked.pdf": "password",
        "scan.pdf": "OCR found no text on pages 1-2",
        "blank.pdf": "holds no text",
        "folder.pdf": "folder, not a file",
        "nowhere.pdf": "leads nowhere",
        "leaving.pdf": "out of the folder",
        "pipe.pdf": "not a regular file",
    }


def test_each_bad_file_gets_its_reason_and_the_good_ones_are_indexed(
    base: KnowledgeBase, write: Write, files: Path
) -> None:
    reasons = hostile(files)
    write("good.pdf", "A perfectly good page of text.")
    for name in ("..hidden.PDF", ".dots.pdf", "weird ' \" ; -- .pdf", "名字 文件.pdf", "%s%n{}.pdf", "-rf.pdf"):
        write(name, f"Text of the file called {name.encode().hex()}.")
    Path(os.fsdecode(os.fsencode(files) + b"/\xff\xfe.pdf")).write_bytes(pdf_bytes(["Name without Unicode."]))
    for name in (".~lock.good.pdf", "~$good.pdf", "._good.pdf"):
        (files / name).write_bytes(b"left by an editor")
    done = built(base)
    rows = {row.path: row for row in base.rows()}
    for name, reason in reasons.items():
        assert reason in (rows[name].error or ""), (name, rows[name].error)
    good = {path for path, row in rows.items() if row.error is None}
    assert good == {
        *("good.pdf", "..hidden.PDF", ".dots.pdf", "weird ' \" ; -- .pdf", "名字 文件.pdf", "%s%n{}.pdf", "-rf.pdf"),
        "\\xff\\xfe.pdf",
    }
    assert (done.files, done.failed) == (8, len(reasons))
    assert {change.state for change in base.changes()} == {FileState.UNCHANGED}


def test_pages_without_text_are_named_in_a_warning(base: KnowledgeBase, files: Path) -> None:
    document = pymupdf.open("pdf", pdf_bytes(["A first page with a good deal of text."]))
    image_page(document)
    document.new_page()
    image_page(document)
    document.save(files / "mixed.pdf")
    built(base)
    (row,) = base.rows()
    assert row.error is None
    assert row.warnings == (
        "Pages 2, 4 have no text and OCR found none.",
        "No text on page 3.",
    )


def test_a_failed_file_is_read_again_only_when_it_changes(
    base: KnowledgeBase, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = files / "a.pdf"
    path.write_bytes(b"not yet a PDF")
    built(base)
    calls: list[Path] = []
    original = workers.Workers.read

    def counted(self: workers.Workers, real: Path, *rest: object) -> object:
        calls.append(real)
        return original(self, real, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(workers.Workers, "read", counted)
    built(base)
    assert calls == []
    path.write_bytes(pdf_bytes(["Now it is a PDF with some text."]))
    built(base)
    assert calls == [path]
    assert base.rows()[0].error is None


@pytest.fixture
def slow_and_crashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files called slow.pdf hang and crash.pdf kill the worker, as hostile PDFs do inside MuPDF."""
    monkeypatch.setattr(workers, "read_head", misbehaving_head)


def misbehaving_head(path: Path, *rest: object, **options: object) -> object:
    if path.name == "slow.pdf":
        time.sleep(60)
    if path.name == "crash.pdf":
        os.abort()
    if path.name == "bomb.pdf":
        return bytearray(5 << 30)
    return read_head(path, *rest, **options)  # type: ignore[arg-type]


@pytest.mark.usefixtures("slow_and_crashing")
def test_a_hang_a_crash_and_a_memory_bomb_end_that_file_only(files: Path, tmp_path: Path, write: Write) -> None:
    for name in ("bomb", "crash", "good", "slow"):
        write(f"{name}.pdf", f"Text of the {name} file.")
    base = KnowledgeBase(files, tmp_path / "chroma_db", HashingEmbedder(), parse_timeout=3)
    built(base)
    reasons = {row.path: row.error for row in base.rows()}
    assert "crashed" in str(reasons["crash.pdf"])
    assert "takes too long: opening it was given up after 3 s" in str(reasons["slow.pdf"])
    assert "too much memory" in str(reasons["bomb.pdf"])
    assert reasons["good.pdf"] is None
    again = {change.path: change.state for change in base.changes()}
    assert again == {
        "bomb.pdf": FileState.UNCHANGED,
        "crash.pdf": FileState.CHANGED,
        "good.pdf": FileState.UNCHANGED,
        "slow.pdf": FileState.CHANGED,
    }
    base.close()


def test_a_file_that_changes_while_it_is_read_is_not_indexed_under_its_old_hash(
    base: KnowledgeBase, write: Write
) -> None:
    write("a.pdf", "The first text.")
    for event in base.build():
        if event.kind == "file_progress" and event.stage == "reading" and event.done == 1:
            write("a.pdf", "The second text, which is longer.")
    assert "changed while it was read" in str(base.rows()[0].error)
    built(base)
    assert base.rows()[0].error is None


def test_a_dynamic_form_says_that_it_cannot_be_read(base: KnowledgeBase, files: Path) -> None:
    text = "Please wait...\n\nIf this message is not eventually replaced by the proper contents of the document"
    (files / "form.pdf").write_bytes(pdf_bytes([text]))
    built(base)
    assert "XFA" in str(base.rows()[0].error)


def test_page_numbers_are_listed_briefly() -> None:
    assert usability._numbers([3]) == "page 3"
    assert usability._numbers([1, 2, 3, 7]) == "pages 1-3, 7"
    assert usability._numbers(list(range(1, 40, 2))).endswith("15 and 12 more")


@pytest.mark.full
@pytest.mark.skipif("CRAG_PDFS" not in os.environ, reason="CRAG_PDFS names no folder of hard PDFs with a manifest.csv")
def test_every_hard_pdf_is_indexed_or_refused_for_the_right_reason(tmp_path: Path) -> None:
    folder = Path(os.environ["CRAG_PDFS"])
    base = KnowledgeBase(folder, tmp_path / "chroma_db", HashingEmbedder(), parse_timeout=40)
    built(base)
    rows = {row.path: row for row in base.rows()}
    with (folder / "manifest.csv").open(encoding="utf-8") as file:
        manifest = list(csv.DictReader(file))
    assert len(rows) == len(manifest)
    wrong = {entry["file"]: rows[entry["file"]] for entry in manifest if not _as_expected(entry, rows[entry["file"]])}
    assert wrong == {}
    base.close()


def _as_expected(entry: dict[str, str], row: object) -> bool:
    error = getattr(row, "error", None) or ""
    warnings = " ".join(getattr(row, "warnings", ()))
    if entry["opens"] == "no":
        return any(word in error for word in ("not a PDF", "cannot be read", "damaged", "empty"))
    if entry["needs_password"] == "yes":
        return "password" in error
    if entry["pages"] == "0":
        return "no page could be recovered" in error or "damaged" in error + warnings
    if entry["category"] == "scan" or (entry["category"] == "garbage" and entry["lang"] != "th"):
        return error == "" and "read by OCR" in warnings
    if "xfa" in entry["file"]:
        return "XFA" in error
    if entry["category"] == "empty":
        return "no text" in error
    return error == "" or "slow" in entry["file"]


def test_a_reader_that_dies_between_two_files_is_started_again(write: Write, tmp_path: Path) -> None:
    others = {process.pid for process in psutil.Process().children(recursive=True)}
    with workers.Workers(30, tmp_path / "ocr") as reader:
        for name in ("a", "b", "c"):
            steps = reader.read(write(f"{name}.pdf", f"Text of the {name} file."), name, "f", threading.Event())
            assert list(steps)[-1][:2] == (1, 1)
            for process in psutil.Process().children(recursive=True):
                if process.pid in others:
                    continue  # of other tests
                if process.status() != psutil.STATUS_ZOMBIE and "spawn_main" in " ".join(process.cmdline()):
                    process.kill()


def test_a_task_that_a_pool_took_as_it_ended_is_given_to_a_fresh_one(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ended:
        """A pool that takes a task and has ended before anybody looks at its queue."""

        active = False

        def __init__(self, **_: object) -> None:
            monkeypatch.undo()

        def schedule(self, *_: object, **__: object) -> ProcessFuture:
            return ProcessFuture()

        def stop(self) -> None: ...

        def join(self) -> None: ...

    monkeypatch.setattr("pebble.ProcessPool", Ended)
    with workers.Workers(30, tmp_path / "ocr") as reader:
        steps = reader.read(write("a.pdf", "Text of a file."), "a", "f", threading.Event())
        assert list(steps)[-1][:2] == (1, 1)
