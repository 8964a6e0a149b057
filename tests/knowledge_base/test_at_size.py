"""A build costs what has changed: nothing else is read, compared, embedded or written; and a bloated index shrinks."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import pytest
from hashing import HashingEmbedder
from small_pdfs import Write, built, of_kind, texts

from crag.knowledge_base import ahead, generation, upkeep
from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.catalog import Catalog
from crag.knowledge_base.pace import Pace
from crag.knowledge_base.records import Known
from crag.knowledge_base.scan import Entry, Hasher
from crag.knowledge_base.vector_store import VectorStore

LONG = "Paragraph {} of this long file tells of the harvest of the northern fields in a dry and windy summer. "


def pages_in_use(base: KnowledgeBase) -> int:
    """Pages that the catalog's file has, used or not."""
    with base._catalog.engine.connect() as connection:
        return int(connection.exec_driver_sql("PRAGMA page_count").scalar() or 0)


def forbid(monkeypatch: pytest.MonkeyPatch, *methods: tuple[type, str]) -> None:
    for owner, name in methods:
        monkeypatch.setattr(owner, name, lambda *_, name=name, **__: pytest.fail(f"{name} looks at everything"))


def test_adding_a_file_looks_at_that_file_alone_also_in_a_fresh_process(
    base: KnowledgeBase, write: Write, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        path = write(f"{name}.pdf", f"Text of the file {name}.")
        past = time.time() - 60
        os.utime(path, (past, past))
    built(base)
    base.close()
    write("d.pdf", "Text of the file d.")
    hashed: list[str] = []
    original = Path.open

    def noted(self: Path, *rest: object, **options: object) -> object:
        if self.suffix == ".pdf":
            hashed.append(self.name)
        return original(self, *rest, **options)  # type: ignore[call-overload]

    forbid(monkeypatch, (VectorStore, "ids"), (Catalog, "passage_ids"))
    monkeypatch.setattr(Path, "open", noted)
    fresh = KnowledgeBase(files, tmp_path / "chroma_db", HashingEmbedder())
    assert built(fresh).passages == 4
    assert set(hashed) == {"d.pdf"}
    assert fresh._embedder.embedded == ["Text of the file d."]
    (files / "a.pdf").unlink()
    assert built(fresh).passages == 3
    fresh.delete("b.pdf")
    assert built(fresh).passages == 2
    monkeypatch.undo()
    store = fresh._stores[1].store
    assert store.ids() == set(fresh._catalog.passage_ids(fresh._catalog.state().fingerprint))
    fresh.close()


def test_after_a_build_that_broke_off_everything_is_compared_once(
    base: KnowledgeBase, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.pdf", "Text of the file a.")
    built(base)
    with monkeypatch.context() as broken:
        broken.setattr(Catalog, "stage", lambda *_: (_ for _ in ()).throw(RuntimeError("the power is off")))
        write("b.pdf", "Text of the file b.")
        with pytest.raises(RuntimeError):
            built(base)
    (base._files_dir / "b.pdf").unlink()
    store = base._stores[1].store
    assert store.count() == 2, "its vectors came before its passages"
    built(base)
    assert store.count() == 1
    forbid(monkeypatch, (VectorStore, "ids"))
    built(base)


def test_vectors_that_a_question_still_reads_are_removed_by_the_next_build(
    base: KnowledgeBase, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "_READERS_WAIT", 0.1)
    write("a.pdf", "The old text.")
    built(base)
    with base.snapshot():
        write("a.pdf", "The new text.")
        built(base)
        assert base._stores[1].store.count() == 2
    forbid(monkeypatch, (VectorStore, "ids"))
    built(base)
    assert base._stores[1].store.count() == 1
    assert upkeep.gone_vectors(base._catalog.engine) == []


def test_a_bloated_index_is_made_anew_from_stored_vectors_while_questions_go_on(
    base: KnowledgeBase, write: Write, tmp_path: Path, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "_BLOAT_LEAST", 3)
    monkeypatch.setattr(upkeep, "_WASTE_BYTES", 0)
    for number in range(6):
        write(f"{number}.pdf", *(LONG.format(page) * 6 for page in range(6)))
    built(base)
    for number in range(1, 6):
        (base._files_dir / f"{number}.pdf").unlink()
    embedder.embedded.clear()
    before = pages_in_use(base)
    events = list(base.build())
    assert of_kind(events, "file_progress")[-1].stage == "compacting"
    assert [path.name for path in (tmp_path / "chroma_db").glob("index-*") if path.is_dir()] == ["index-2"]
    assert pages_in_use(base) < before
    assert len(texts(base)) == events[-1].passages
    assert embedder.embedded == []
    assert base._catalog.state().removed == 0
    version = events[-1].version
    assert built(base).version == version, "and that once"


def test_a_compaction_that_is_stopped_leaves_the_index_as_it_was(
    base: KnowledgeBase, write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "_BLOAT_LEAST", 1)
    for name in "abc":
        write(f"{name}.pdf", f"Text of the file {name}.")
    built(base)
    for name in "ab":
        (base._files_dir / f"{name}.pdf").unlink()
    cancel = threading.Event()
    for event in base.build(cancel):
        if event.kind == "file_progress" and event.stage == "compacting":
            cancel.set()
    assert event.published
    assert texts(base) == {"Text of the file c."}
    built(base)
    assert texts(base) == {"Text of the file c."}
    assert len([path for path in (tmp_path / "chroma_db").glob("index-*") if path.is_dir()]) == 1


def test_files_are_read_while_others_are_embedded_within_a_bound(
    files: Path, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "PAGES_AHEAD", 4)
    for number in range(6):
        write(f"{number}.pdf", *(LONG.format(f"{number}-{page}") * 8 for page in range(3)))
    shutil.copy(files / "0.pdf", files / "equal.pdf")
    base = KnowledgeBase(files, tmp_path / "chroma_db", HashingEmbedder(delay=0.2))
    most = 0
    names = []
    for event in base.build():
        if event.kind == "file_progress":
            most = max(most, event.pages - 3 * event.index)
            assert event.pages <= 3 * (event.index + 1 + ahead.readers_for(os.cpu_count() or 1)) + 4
        if event.kind == "file_finished":
            names.append(event.row.path)
    assert most >= 3, "nothing was read ahead"
    smallest_first = sorted(
        (files / f"{number}.pdf" for number in range(6)), key=lambda file: (file.stat().st_size, file)
    )
    assert names == [file.name for file in smallest_first], "told in order, equal files once"
    assert len(base.rows()) == 7
    base.close()


def test_a_cancel_is_quick_also_while_files_are_read_ahead(files: Path, tmp_path: Path, write: Write) -> None:
    for number in range(4):
        write(f"{number}.pdf", *(LONG.format(f"{number}-{page}") * 8 for page in range(30)))
    base = KnowledgeBase(files, tmp_path / "chroma_db", HashingEmbedder(delay=0.05))
    cancel = threading.Event()
    for event in base.build(cancel):
        if event.kind == "file_progress" and event.stage == "embedding" and not cancel.is_set():
            cancel.set()
            stopped = time.monotonic()
    assert time.monotonic() - stopped < 3
    assert not event.published
    assert [thread for thread in threading.enumerate() if thread.name == "crag-reader"] == []
    base.close()


def test_the_time_left_is_told_once_both_reading_and_embedding_are_known() -> None:
    pace = Pace(bytes_left=4000, began=time.monotonic() - 10)
    pace.opened(1000, 10)
    pace.read(10)
    pace._last_read = pace.began + 5  # 2 pages a second
    assert pace.seconds_left() is None
    pace.cut(20, 10)
    assert pace.seconds_left() is None
    pace.embedded(10, 10.0)  # 1 passage a second
    assert pace.seconds_left() == pytest.approx(10 + 30 * 2), "embedding is slower than the 30 pages that are left"
    for _ in range(3):
        pace.opened(1000, 10)
        pace.read(10)
        pace.cut(20, 10)
    pace.embedded(70, 70.0)
    assert pace.seconds_left() == pytest.approx(0)


def test_nothing_is_foretold_of_the_first_moments() -> None:
    pace = Pace(bytes_left=10)
    pace.opened(10, 1)
    pace.read(1)
    pace.cut(1, 1)
    pace.embedded(1, 0.1)
    assert pace.seconds_left() is None


def test_the_time_of_a_file_that_was_just_written_proves_nothing_yet(write: Write) -> None:
    path = write("a.pdf", "Some text.")
    hasher, size = Hasher(), path.stat().st_size
    now, past = time.time_ns(), time.time_ns() - 60 * 10**9
    sha256, stored = hasher.sha256(Entry("a.pdf", path, size, now))
    assert stored == -now
    hasher.remember({"a.pdf": Known(sha256, "", size, stored, None, False)})
    assert hasher.sha256(Entry("a.pdf", path, size, past)) == (sha256, past)
    path.unlink()
    assert hasher.sha256(Entry("a.pdf", path, size, past)) == (sha256, past), "known without reading"
    with pytest.raises(OSError, match=r"a\.pdf"):
        hasher.sha256(Entry("a.pdf", path, size, now))
