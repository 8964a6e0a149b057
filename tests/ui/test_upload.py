"""Uploads: under a safe name, checked by content, and never over another file unasked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from crag.ui.upload import LONGEST_NAME, OnConflict, Outcome, safe_name, save

MOST = 1000
PDF = b"%PDF-1.7 some bytes"


@pytest.mark.parametrize(
    ("given", "safe"),
    [
        ("paper.pdf", "paper.pdf"),
        ("年度报告 2024.PDF", "年度报告 2024.pdf"),
        ("../../etc/passwd", "passwd.pdf"),
        ("C:\\Users\\me\\x.pdf", "x.pdf"),
        ("..hidden.pdf", "hidden.pdf"),
        ("a\x00b\nc\u202efdp.pdf", "abcfdp.pdf"),
        ('what: "this"|*?.pdf', "what this.pdf"),
        ("CON.pdf", "_CON.pdf"),
        ("lpt1.tar.pdf", "_lpt1.tar.pdf"),
        ("console.pdf", "console.pdf"),
        ("  spaced   out . .pdf", "spaced out.pdf"),
        ("", "document.pdf"),
        ("...", "document.pdf"),
        ("/", "document.pdf"),
        (".pdf", "document.pdf"),
        ("report.docx", "report.docx.pdf"),
        ("e\u0301.pdf", "é.pdf"),
        ("bad\ud800.pdf", "bad.pdf"),
    ],
)
def test_names_become_safe_and_stay_readable(given: str, safe: str) -> None:
    assert safe_name(given) == safe


@pytest.mark.parametrize("name", ["a" * 500 + ".pdf", "长" * 300, "é" * 250 + ".pdf"])
def test_over_long_names_are_cut_between_characters(name: str) -> None:
    safe = safe_name(name)
    assert len(safe.encode()) <= LONGEST_NAME
    assert safe.endswith(".pdf")
    assert len(safe) > 60


def test_an_upload_is_written_whole_and_leaves_nothing_aside(tmp_path: Path) -> None:
    assert save(tmp_path / "Files", "a.pdf", PDF, MOST) == (Outcome.SAVED, "a.pdf")
    assert [path.name for path in (tmp_path / "Files").iterdir()] == ["a.pdf"]
    assert (tmp_path / "Files" / "a.pdf").read_bytes() == PDF


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        (b"", Outcome.EMPTY),
        (PDF + b"x" * MOST, Outcome.TOO_LARGE),
        (b"<html>%PDF</html>", Outcome.NO_PDF),
        (b" " * 1024 + b"%PDF-1.4", Outcome.NO_PDF),
    ],
)
def test_what_is_no_usable_pdf_is_not_written(tmp_path: Path, data: bytes, outcome: Outcome) -> None:
    assert save(tmp_path, "a.pdf", data, 1500 if outcome is Outcome.NO_PDF else MOST) == (outcome, "a.pdf")
    assert list(tmp_path.iterdir()) == []


def test_a_signature_after_some_garbage_is_still_a_pdf(tmp_path: Path) -> None:
    assert save(tmp_path, "a.pdf", b"\n" * 900 + PDF, MOST)[0] is Outcome.SAVED


def test_the_same_bytes_again_are_already_there(tmp_path: Path) -> None:
    save(tmp_path, "a.pdf", PDF, MOST)
    assert save(tmp_path, "a.pdf", PDF, MOST) == (Outcome.SAME, "a.pdf")


def test_a_taken_name_is_never_written_over_unasked(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"mine")
    assert save(tmp_path, "a.pdf", PDF, MOST) == (Outcome.CONFLICT, "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes() == b"mine"


def test_keep_both_takes_the_next_free_name(tmp_path: Path) -> None:
    for name in ("a.pdf", "a (2).pdf"):
        (tmp_path / name).write_bytes(b"mine")
    assert save(tmp_path, "a.pdf", PDF, MOST, OnConflict.KEEP_BOTH) == (Outcome.SAVED, "a (3).pdf")
    assert (tmp_path / "a.pdf").read_bytes() == (tmp_path / "a (2).pdf").read_bytes() == b"mine"


def test_replace_replaces(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"mine")
    assert save(tmp_path, "a.pdf", PDF, MOST, OnConflict.REPLACE) == (Outcome.SAVED, "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes() == PDF


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_bytes(b"mine")
    (tmp_path / "Files").mkdir()
    (tmp_path / "Files" / "a.pdf").symlink_to(outside)
    assert save(tmp_path / "Files", "a.pdf", PDF, MOST)[0] is Outcome.CONFLICT
    assert save(tmp_path / "Files", "a.pdf", PDF, MOST, OnConflict.REPLACE)[0] is Outcome.SAVED
    assert outside.read_bytes() == b"mine"


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "Files").write_bytes(b"a file where the folder should be")
    assert save(tmp_path / "Files", "a.pdf", PDF, MOST) == (Outcome.DISK, "a.pdf")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_saved_file_can_be_read_by_its_owner_and_others(tmp_path: Path) -> None:
    save(tmp_path, "a.pdf", PDF, MOST)
    assert (tmp_path / "a.pdf").stat().st_mode & 0o777 == 0o644
