"""Protected files: opened with a password that is kept in memory only, and what is told without one."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pymupdf
import pytest
from small_pdfs import Write, built, pdf_bytes, texts

from crag.__main__ import main
from crag.errors import KnowledgeBaseError
from crag.events import FileState
from crag.knowledge_base.base import KnowledgeBase

SECRET = "Þjóðar-密码 99"


def protect(path: Path, password: str, method: int = pymupdf.PDF_ENCRYPT_AES_256) -> None:
    path.write_bytes(pdf_bytes(["The vault holds seven bars of gold."], encryption=method, user_pw=password))


def reason(base: KnowledgeBase, path: str = "locked.pdf") -> str | None:
    return {row.path: row.error for row in base.rows()}[path]


def test_a_protected_file_is_read_once_its_password_is_given_and_stays_read(
    base: KnowledgeBase, files: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, write: Write
) -> None:
    caplog.set_level(logging.DEBUG)
    protect(files / "locked.pdf", SECRET)
    write("open.pdf", "Anybody can read this.")
    built(base)
    assert "--password FILE" in str(reason(base))
    base.set_password("locked.pdf", "wrong one")
    built(base)
    assert "does not open it" in str(reason(base))
    base.set_password("locked.pdf", SECRET)
    assert base.password_of("locked.pdf") == SECRET
    assert {one.path: one.state for one in base.changes()}["locked.pdf"] == FileState.CHANGED
    built(base)
    assert reason(base) is None
    assert "The vault holds seven bars of gold." in texts(base)
    base.set_password("locked.pdf", None)
    assert {one.state for one in base.changes()} == {FileState.UNCHANGED}
    built(base)
    assert reason(base) is None
    assert SECRET not in caplog.text
    kept = b"".join(path.read_bytes() for path in (tmp_path / "chroma_db").rglob("*") if path.is_file())
    assert SECRET.encode() not in kept


def test_a_password_for_no_file_is_refused(base: KnowledgeBase, write: Write) -> None:
    write("a.pdf", "Some text.")
    with pytest.raises(KnowledgeBaseError, match=r"no file b\.pdf"):
        base.set_password("b.pdf", "x")


@pytest.mark.parametrize(
    ("password", "method"),
    [
        ("plain", pymupdf.PDF_ENCRYPT_RC4_40),
        ("pässwörd", pymupdf.PDF_ENCRYPT_RC4_128),
        ("pässwörd", pymupdf.PDF_ENCRYPT_AES_128),
        ("пароль", pymupdf.PDF_ENCRYPT_AES_256),
    ],
)
def test_every_kind_of_encryption_opens(base: KnowledgeBase, files: Path, password: str, method: int) -> None:
    protect(files / "locked.pdf", password, method)
    base.set_password("locked.pdf", password)
    built(base)
    assert reason(base) is None


def test_a_file_that_only_forbids_copying_is_read_and_says_so(base: KnowledgeBase, write: Write) -> None:
    options = {"encryption": pymupdf.PDF_ENCRYPT_AES_256, "owner_pw": "o", "permissions": pymupdf.PDF_PERM_PRINT}
    write("mine.pdf", "Read me, but do not copy me to others.", **options)
    built(base)
    (row,) = base.rows()
    assert row.error is None
    assert "forbids copying" in row.warnings[0]


def test_the_command_takes_a_password_from_standard_input(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    protect(files / "locked.pdf", SECRET)
    monkeypatch.setenv("CRAG_FILES_DIR", str(files))
    monkeypatch.setenv("CRAG_CHROMA_DIR", str(tmp_path / "chroma_db"))
    assert main(["build"]) == 0
    assert "not indexed. It is protected by a password" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO("a wrong one\n"))
    assert main(["build", "--password-stdin", "locked.pdf"]) == 1, "a script can tell"
    assert "does not open it" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{SECRET}\n"))
    assert main(["build", "--password-stdin", "locked.pdf"]) == 0
    told = capsys.readouterr().err
    assert "1 file, 1 passage" in told
    assert SECRET not in told


def test_the_command_asks_for_a_password_without_echo(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    protect(files / "locked.pdf", SECRET)
    monkeypatch.setenv("CRAG_FILES_DIR", str(files))
    monkeypatch.setenv("CRAG_CHROMA_DIR", str(tmp_path / "chroma_db"))
    monkeypatch.setattr("getpass.getpass", lambda prompt: SECRET)
    assert main(["build", "--password", "locked.pdf"]) == 0
    assert "1 file, 1 passage" in capsys.readouterr().err
