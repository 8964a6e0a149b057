"""What a person can do with single files: delete, read again, choose; and what tells whether a build is due."""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest
from hashing import HashingEmbedder
from small_pdfs import Write, built, of_kind, texts

from crag.errors import BuildLockedError, KnowledgeBaseError, QuestionError
from crag.events import BuildFinished, FileState
from crag.knowledge_base import snapshot as snapshots
from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.choosing import choose

PATHS = ("annual report 2024.pdf", "Contracts/lease.pdf", "Contracts/Rental 2023.PDF", "手册.pdf")


def ids(base: KnowledgeBase) -> set[str]:
    with base.snapshot() as snapshot:
        return set(snapshot.dense(HashingEmbedder().embed_query("text"), 1000))


def vectors(base: KnowledgeBase) -> set[str]:
    store = next(iter(base._stores.values())).store
    return store.ids()


def test_a_deleted_file_is_gone_from_the_folder_from_answers_and_from_the_vectors(
    base: KnowledgeBase, write: Write, files: Path, embedder: HashingEmbedder
) -> None:
    for name in "abc":
        write(f"sub/{name}.pdf", f"Text of the file {name}.")
    version = built(base).version
    embedder.embedded.clear()
    base.delete("sub/b.pdf")
    assert sorted(path.name for path in (files / "sub").iterdir()) == ["a.pdf", "c.pdf"]
    assert [row.path for row in base.rows()] == ["sub/a.pdf", "sub/c.pdf"]
    assert texts(base) == {"Text of the file a.", "Text of the file c."}
    assert vectors(base) == ids(base)
    with base.snapshot() as snapshot:
        assert snapshot.version == version + 1
        assert snapshot.lexical("b", 5) == []
    assert {change.state for change in base.changes()} == {FileState.UNCHANGED}
    assert built(base).version == version + 1
    assert embedder.embedded == []


def test_deleting_one_of_two_equal_files_keeps_what_they_share(base: KnowledgeBase, write: Write, files: Path) -> None:
    shutil.copy(write("a.pdf", "One text in two places."), files / "b.pdf")
    built(base)
    base.delete("a.pdf")
    assert [row.path for row in base.rows()] == ["b.pdf"]
    with base.snapshot() as snapshot:
        (document,) = snapshot.documents(snapshot.lexical("places", 5))
    assert document.files == ("b.pdf",)


@pytest.mark.parametrize("path", ["../secret.pdf", "/etc/passwd", "sub/../../secret.pdf", "b.pdf", ""])
def test_only_what_lies_in_the_folder_can_be_deleted(
    base: KnowledgeBase, write: Write, tmp_path: Path, path: str
) -> None:
    secret = tmp_path / "secret.pdf"
    write("a.pdf", "Some text.")
    shutil.copy(tmp_path / "Files" / "a.pdf", secret)
    built(base)
    with pytest.raises(KnowledgeBaseError, match="There is no file"):
        base.delete(path)
    assert secret.exists()
    assert texts(base) == {"Some text."}


def test_of_a_link_the_link_is_deleted_and_never_what_it_leads_to(
    base: KnowledgeBase, write: Write, files: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.pdf"
    shutil.copy(write("a.pdf", "Some text."), outside)
    (files / "link.pdf").symlink_to(outside)
    (files / "folder.pdf").mkdir()
    built(base)
    base.delete("link.pdf")
    assert outside.exists()
    assert not (files / "link.pdf").is_symlink()
    with pytest.raises(KnowledgeBaseError, match="is a folder"):
        base.delete("folder.pdf")
    assert (files / "folder.pdf").is_dir()


def test_a_file_that_cannot_be_deleted_stays_indexed(
    base: KnowledgeBase, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.pdf", "Some text.")
    built(base)

    unlink = Path.unlink

    def refused(self: Path, missing_ok: bool = False) -> None:
        if self.suffix == ".pdf":
            raise PermissionError(13, "Permission denied")
        unlink(self, missing_ok)

    monkeypatch.setattr(Path, "unlink", refused)
    with pytest.raises(KnowledgeBaseError, match="cannot be deleted"):
        base.delete("a.pdf")
    monkeypatch.undo()
    assert texts(base) == {"Some text."}


def test_a_file_can_be_deleted_from_a_damaged_index_which_the_next_build_mends(
    base: KnowledgeBase, write: Write, tmp_path: Path, embedder: HashingEmbedder
) -> None:
    write("a.pdf", "The first file.")
    write("b.pdf", "The second file.")
    built(base)
    base.close()
    shutil.rmtree(tmp_path / "chroma_db" / "index-1")
    base.delete("a.pdf")
    assert [row.path for row in base.rows()] == ["b.pdf"]
    built(base)
    assert texts(base) == {"The second file."}
    assert vectors(base) == ids(base)
    assert len(embedder.embedded) == 2


def test_a_delete_leaves_what_a_cancelled_build_has_finished(base: KnowledgeBase, write: Write) -> None:
    write("a.pdf", "The first file.")
    built(base)
    write("b.pdf", "The second file.")
    write("c.pdf", "The third file.")
    cancel = threading.Event()
    for event in base.build(cancel):
        if event.kind == "file_finished":
            cancel.set()
    assert base.staged() == 1
    base.delete("a.pdf")
    assert base.rows() == []
    assert base.staged() == 1
    assert built(base).files == 2
    assert texts(base) == {"The second file.", "The third file."}
    assert vectors(base) == ids(base)


def test_a_file_that_is_read_again_replaces_its_older_reading_and_no_other(
    base: KnowledgeBase, write: Write, files: Path, embedder: HashingEmbedder
) -> None:
    write("a.pdf", "Text of the file a.")
    shutil.copy(write("b.pdf", "Text of the file b."), files / "twin.pdf")
    built(base)
    before = ids(base)
    embedder.embedded.clear()
    events = list(base.read_again("b.pdf"))
    assert [change.path for change in events[0].changes] == ["b.pdf"]
    assert [event.row.path for event in of_kind(events, "file_finished")] == ["b.pdf"]
    assert embedder.embedded == ["Text of the file b."]
    assert texts(base) == {"Text of the file a.", "Text of the file b."}
    assert len(ids(base) & before) == 1, "the new reading has ids of its own"
    assert vectors(base) == ids(base)
    with base.snapshot() as snapshot:
        (document,) = snapshot.documents(snapshot.lexical("twin", 5))
    assert document.files == ("b.pdf", "twin.pdf")
    version = events[-1].version
    assert built(base).version == version
    assert embedder.embedded == ["Text of the file b."], "an unchanged option reads nothing again"


def test_how_a_file_is_read_is_remembered_and_shared_by_equal_files(
    base: KnowledgeBase, write: Write, files: Path, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crag.knowledge_base.workers import Workers

    asked: list[tuple[str, str]] = []
    original = Workers.read

    def noted(
        self: Workers, path: Path, content: str, key: str, cancel: object, ocr: str = "auto", *rest: object
    ) -> object:
        asked.append((path.name, ocr))
        return original(self, path, content, key, cancel, ocr, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(Workers, "read", noted)
    shutil.copy(write("a.pdf", "Text of the file."), files / "twin.pdf")
    built(base)
    list(base.read_again("twin.pdf", "off"))
    assert base.options() == {"a.pdf": "off", "twin.pdf": "off"}
    assert asked == [("a.pdf", "auto"), ("twin.pdf", "off")]
    built(base)
    assert len(asked) == 2, "a rebuild keeps the reading"
    shutil.rmtree(files.parent / "chroma_db" / "index-1")
    built(base)
    assert len(asked) == 2
    path = write("a.pdf", "Another text of the file.")
    built(base)
    assert asked[2:] == [("a.pdf", "off")], "the option belongs to the path"
    path.unlink()
    list(base.read_again("twin.pdf", "auto"))
    assert asked[3:] == [("twin.pdf", "auto")]
    assert base.options()["twin.pdf"] == "auto"


def test_another_usual_way_of_reading_is_a_change_for_files_without_an_option(
    base: KnowledgeBase, write: Write, files: Path, tmp_path: Path
) -> None:
    write("a.pdf", "Text of the file a.")
    write("b.pdf", "Text of the file b.")
    built(base)
    list(base.read_again("b.pdf", "auto"))
    base.close()
    other = KnowledgeBase(files, tmp_path / "chroma_db", HashingEmbedder(), ocr="off")
    assert {change.path: change.state for change in other.changes()} == {
        "a.pdf": FileState.CHANGED,
        "b.pdf": FileState.UNCHANGED,
    }
    built(other)
    assert {change.state for change in other.changes()} == {FileState.UNCHANGED}
    other.close()


def test_a_stored_option_that_was_not_carried_out_is_a_change(base: KnowledgeBase, write: Write) -> None:
    write("a.pdf", "Text of the file.")
    built(base)
    cancel = threading.Event()
    cancel.set()
    last = list(base.read_again("a.pdf", "force", cancel))[-1]
    assert isinstance(last, BuildFinished)
    assert not last.published
    assert texts(base) == {"Text of the file."}
    assert [change.state for change in base.changes()] == [FileState.CHANGED]
    built(base)
    assert [change.state for change in base.changes()] == [FileState.UNCHANGED]
    assert texts(base) == {"Text of the file."}
    assert base.rows()[0].ocr_pages == 1


def test_an_unknown_file_cannot_be_read_again_and_the_nearest_is_named(base: KnowledgeBase, write: Write) -> None:
    write("manual.pdf", "Some text.")
    built(base)
    with pytest.raises(KnowledgeBaseError, match=r"There is no file manuel\.pdf: try manual\.pdf"):
        list(base.read_again("manuel.pdf"))
    running = base.build()
    next(running)
    with pytest.raises(BuildLockedError):
        base.delete("manual.pdf")
    running.close()


def test_a_change_in_the_folder_is_seen_without_reading_a_file(
    base: KnowledgeBase, write: Write, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("a.pdf", "Some text.")
    (files / "broken.pdf").symlink_to(files / "nowhere")
    assert base.changed_since_build()
    built(base)
    monkeypatch.setattr("crag.knowledge_base.scan.Hasher.sha256", lambda *_: pytest.fail("a file was read"))
    assert not base.changed_since_build(), "also just after a file was written"
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert base.changed_since_build()
    monkeypatch.undo()
    built(base)
    assert not base.changed_since_build()
    path.rename(files / "b.pdf")
    assert base.changed_since_build()
    (files / "b.pdf").rename(path)
    assert not base.changed_since_build()
    path.unlink()
    assert base.changed_since_build()


def test_the_index_knows_its_size(base: KnowledgeBase, write: Write) -> None:
    empty = base.size_on_disk()
    write("a.pdf", "Some text.")
    built(base)
    assert base.size_on_disk() > empty + 10_000


@pytest.mark.parametrize("exact", [20_000, 0], ids=["all compared", "searched in Chroma"])
def test_a_choice_of_many_files_finds_the_best_of_these_however_many_others_are_nearer(
    base: KnowledgeBase, write: Write, monkeypatch: pytest.MonkeyPatch, exact: int
) -> None:
    monkeypatch.setattr(snapshots, "_EXACT", exact)
    monkeypatch.setattr(snapshots, "_EXACT_SHARE", 0)
    for number in range(30):
        write(f"near {number}.pdf", f"harvest harvest harvest number {number}")
    write("far.pdf", "A harvest that is told of among many other things in a long sentence about fields.")
    built(base)
    with base.snapshot() as snapshot:
        chosen = snapshot.contents(["far.pdf", "unknown.pdf", *(f"x{n}.pdf" for n in range(40_000))])
        assert list(chosen) == ["far.pdf"]
        many = [*chosen.values(), *(f"{n:064x}" for n in range(40_000))]
        vector = HashingEmbedder().embed_query("harvest")
        for found in (snapshot.dense(vector, 3, many), snapshot.lexical("harvest", 3, many)):
            assert [document.file for document in snapshot.documents(found)] == ["far.pdf"]
        assert snapshot.dense(vector, 3, []) == snapshot.lexical("harvest", 3, []) == []


@pytest.mark.parametrize(
    ("names", "meant"),
    [
        (["Contracts/lease.pdf"], ["Contracts/lease.pdf"]),
        (["LEASE"], ["Contracts/lease.pdf"]),
        (["*202?.pdf"], ["annual report 2024.pdf", "Contracts/Rental 2023.PDF"]),
        (["contracts/*"], ["Contracts/lease.pdf", "Contracts/Rental 2023.PDF"]),
        (["手册", "report"], ["annual report 2024.pdf", "手册.pdf"]),
        ([], []),
    ],
)
def test_files_are_chosen_by_path_part_or_pattern(names: list[str], meant: list[str]) -> None:
    assert list(choose(names, PATHS)) == meant


def test_a_name_with_signs_of_patterns_or_written_by_another_system_is_found_as_it_stands() -> None:
    paths = ["Invoice [final].pdf", "what?.pdf", "Bu\u0308cher.pdf"]
    assert list(choose(["Invoice [final]"], paths)) == paths[:1]
    assert list(choose(["what?"], paths)) == paths[1:2]
    assert list(choose(["B\u00fccher"], paths)) == paths[2:]
    assert list(choose(["*.pdf"], paths)) == paths


def test_a_name_that_means_no_file_is_answered_with_the_nearest() -> None:
    with pytest.raises(QuestionError, match=r"“leese\.pdf”: try Contracts/lease\.pdf\."):
        choose(["report", "leese.pdf"], PATHS)
    with pytest.raises(QuestionError, match="python -m crag files"):
        choose(["zzz"], PATHS)
    with pytest.raises(QuestionError):
        choose([" "], PATHS)
