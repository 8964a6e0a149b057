"""What a build does with a folder, and what questions see meanwhile."""

from __future__ import annotations

import os
import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hashing import HashingEmbedder
from small_pdfs import Write, built, of_kind, texts

from crag.errors import BuildLockedError, EmptyIndexError, IndexMismatchError, KnowledgeBaseError
from crag.events import BuildFinished, FileState
from crag.knowledge_base import builder, generation
from crag.knowledge_base.base import KnowledgeBase

LONG = "Paragraph {} of this long file tells of the harvest of the northern fields in a dry and windy summer. "


def long_pages(count: int) -> list[str]:
    return [LONG.format(page) * 8 for page in range(count)]


def states(base: KnowledgeBase) -> dict[str, FileState]:
    return {change.path: change.state for change in base.changes()}


def find(base: KnowledgeBase, question: str) -> list[str]:
    with base.snapshot() as snapshot:
        ids = snapshot.dense(HashingEmbedder().embed_query(question), 3)
        return [document.text for document in snapshot.documents(ids)]


def test_files_are_added_changed_removed_and_renamed(
    base: KnowledgeBase, write: Write, files: Path, embedder: HashingEmbedder
) -> None:
    write("a.pdf", "Apples grow on trees in the garden.")
    write("sub/b.PDF", "Bananas come from the south by ship.")
    (files / "notes.txt").write_text("not a PDF")
    assert states(base) == {"a.pdf": FileState.ADDED, "sub/b.PDF": FileState.ADDED}
    assert base.look().ignored == ("notes.txt",)

    done = built(base)
    assert (done.version, done.published, done.files, done.passages, done.failed) == (1, True, 2, 2, 0)
    assert set(states(base).values()) == {FileState.UNCHANGED}
    assert texts(base) == {"Apples grow on trees in the garden.", "Bananas come from the south by ship."}

    embedder.embedded.clear()
    assert built(base).version == 1
    assert embedder.embedded == []

    write("a.pdf", "Apricots grow on trees as well.")
    (files / "sub/b.PDF").rename(files / "c.pdf")
    assert states(base) == {
        "a.pdf": FileState.CHANGED,
        "c.pdf": FileState.ADDED,
        "sub/b.PDF": FileState.REMOVED,
    }
    assert built(base).version == 2
    assert embedder.embedded == ["Apricots grow on trees as well."]
    assert texts(base) == {"Apricots grow on trees as well.", "Bananas come from the south by ship."}
    assert [row.path for row in base.rows()] == ["a.pdf", "c.pdf"]

    (files / "a.pdf").unlink()
    assert built(base).passages == 1
    assert find(base, "Apricots") == ["Bananas come from the south by ship."]


def test_a_touched_file_is_unchanged_and_a_change_of_same_size_is_seen(
    base: KnowledgeBase, write: Write, files: Path
) -> None:
    path = write("a.pdf", "The value is 1.")
    built(base)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    assert states(base) == {"a.pdf": FileState.UNCHANGED}
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    os.utime(path, (1_000_000_000, 2_000_000_000))
    assert path.stat().st_size == len(data)
    assert states(base) == {"a.pdf": FileState.CHANGED}


def test_two_equal_files_share_one_content(
    base: KnowledgeBase, write: Write, files: Path, embedder: HashingEmbedder
) -> None:
    path = write("b.pdf", "One text in two places.")
    shutil.copy(path, files / "a.pdf")
    assert built(base).passages == 1
    assert embedder.embedded == ["One text in two places."]
    with base.snapshot() as snapshot:
        (document,) = snapshot.documents(snapshot.dense(embedder.embed_query("text"), 5))
    assert document.files == ("a.pdf", "b.pdf")
    path.unlink()
    built(base)
    with base.snapshot() as snapshot:
        (document,) = snapshot.documents([document.id])
    assert document.files == ("a.pdf",)


def test_an_empty_index_and_another_embedding_are_refused(
    base: KnowledgeBase, write: Write, files: Path, tmp_path: Path
) -> None:
    with pytest.raises(EmptyIndexError), base.snapshot():
        pass
    write("a.pdf", "Some text to index.")
    built(base)
    other = KnowledgeBase(files, tmp_path / "chroma_db", HashingEmbedder("another-64"))
    with pytest.raises(IndexMismatchError, match="another embedding"), other.snapshot():
        pass
    assert states(other) == {"a.pdf": FileState.CHANGED}
    other.close()


def test_a_filter_limits_both_searches_to_its_contents(
    base: KnowledgeBase, write: Write, embedder: HashingEmbedder
) -> None:
    for name in ("a", "b", "c"):
        write(f"{name}.pdf", f"The quarterly report of company {name} about profits.")
    built(base)
    content = next(row.content for row in base.rows() if row.path == "b.pdf")
    with base.snapshot() as snapshot:
        vector = embedder.embed_query("profits")
        for ids in (snapshot.dense(vector, 5, [content]), snapshot.lexical("profits", 5, [content])):
            assert [document.file for document in snapshot.documents(ids)] == ["b.pdf"]
        assert len(snapshot.dense(vector, 5)) == len(snapshot.lexical("profits", 5)) == 3


def test_progress_counts_pages_then_passages(base: KnowledgeBase, write: Write) -> None:
    write("long.pdf", *long_pages(20))
    events = list(base.build())
    progress = of_kind(events, "file_progress")
    reading = [(event.done, event.total) for event in progress if event.stage == "reading"]
    assert reading == [(0, 20), (8, 20), (16, 20), (20, 20)]
    assert [event.stage for event in progress][-1] == "staged"
    assert {event.total for event in progress if event.stage == "embedding"} == {events[-1].passages}
    assert any(event.pages_per_second > 0 for event in progress)


def test_cancel_inside_a_long_file_keeps_the_finished_ones_which_can_be_published(
    base: KnowledgeBase, write: Write, embedder: HashingEmbedder
) -> None:
    write("a.pdf", "Apples are finished first.")
    write("long.pdf", *long_pages(40))
    cancel = threading.Event()
    last = None
    for event in base.build(cancel):
        if event.kind == "file_progress" and event.path == "long.pdf" and event.stage == "embedding":
            cancel.set()
            stopped = time.monotonic()
        last = event
    assert time.monotonic() - stopped < 3
    assert isinstance(last, BuildFinished)
    assert (last.published, last.staged, last.version) == (False, 1, 0)
    with pytest.raises(EmptyIndexError), base.snapshot():
        pass
    assert base.staged() == 1
    done = base.publish_staged()
    assert (done.published, done.files, done.version) == (True, 1, 1)
    assert texts(base) == {"Apples are finished first."}
    assert base.staged() == 0
    embedder.embedded.clear()
    assert built(base).files == 2
    assert "Apples are finished first." not in embedder.embedded
    with pytest.raises(KnowledgeBaseError, match="No finished files"):
        base.publish_staged()


def test_another_embedding_builds_a_new_generation_and_the_old_folder_goes(
    base: KnowledgeBase, write: Write, files: Path, tmp_path: Path
) -> None:
    chroma = tmp_path / "chroma_db"
    for name in "abc":
        write(f"{name}.pdf", f"Text of file {name} about nothing.")
    built(base)
    old = {path.name for path in chroma.glob("index-*") if path.is_dir()}
    other = KnowledgeBase(files, chroma, HashingEmbedder("another-64"))
    cancel = threading.Event()
    for event in other.build(cancel):
        if event.kind == "file_finished" and event.index == 2:
            cancel.set()
    assert event.kind == "build_finished"
    assert not event.published
    assert len(texts(base)) == 3, "the old generation answers until the new one is complete"
    assert other.staged() == 0
    with pytest.raises(KnowledgeBaseError, match="every file is done"):
        other.publish_staged()
    other._embedder.embedded.clear()
    events = list(other.build())
    assert events[0].fresh
    assert len(other._embedder.embedded) == 1, "files finished before the cancel are not embedded again"
    assert len(texts(other)) == 3
    with pytest.raises(IndexMismatchError), base.snapshot():
        pass
    base.close()
    write("d.pdf", "One more file.")
    built(other)
    new = {path.name for path in chroma.glob("index-*") if path.is_dir()}
    assert len(new) == 1
    assert not old & new
    other.close()


def test_a_question_during_a_build_sees_the_old_or_the_new_version(
    base: KnowledgeBase, write: Write, files: Path, embedder: HashingEmbedder
) -> None:
    for number in range(6):
        write(f"{number}.pdf", f"old text {number} about fields")
    built(base)
    for number in range(6):
        write(f"{number}.pdf", f"new text {number} about fields")
    embedder.delay = 0.05
    seen: set[frozenset[str]] = set()
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            with base.snapshot() as snapshot:
                ids = snapshot.dense(HashingEmbedder().embed_query("text about fields"), 20)
                words = frozenset(document.text.split()[0] for document in snapshot.documents(ids))
                assert len(ids) == 6
                assert {d.text.split()[0] for d in snapshot.documents(snapshot.lexical("text", 20))} == words
                seen.add(words)

    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            ask()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(2)]
    for thread in threads:
        thread.start()
    built(base)
    time.sleep(0.3)
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert seen == {frozenset({"old"}), frozenset({"new"})}


def test_a_snapshot_keeps_its_version_over_a_publish(
    base: KnowledgeBase, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "_READERS_WAIT", 0.1)
    write("a.pdf", "The old text.")
    built(base)
    vector = HashingEmbedder().embed_query("text")
    with base.snapshot() as before:
        write("a.pdf", "The new text.")
        built(base)
        assert [d.text for d in before.documents(before.dense(vector, 3))] == ["The old text."]
        assert [d.text for d in before.documents(before.lexical("old new", 3))] == ["The old text."]
    assert find(base, "text") == ["The new text."]
    built(base)
    assert texts(base) == {"The new text."}


def test_a_second_writer_is_refused_and_told_who_builds(base: KnowledgeBase, write: Write) -> None:
    write("a.pdf", "Some text.")
    running = base.build()
    next(running)
    with pytest.raises(BuildLockedError, match=rf"process {os.getpid()} on .+ since \d{{4}}-"):
        next(base.build())
    running.close()
    assert built(base).published


def test_lost_or_foreign_vectors_are_mended_without_embedding(
    base: KnowledgeBase, write: Write, tmp_path: Path, embedder: HashingEmbedder
) -> None:
    for name in "abc":
        write(f"{name}.pdf", f"Text of file {name} about nothing.")
    built(base)
    store = base._stores[1].store
    ids = sorted(store.ids())
    before = {i: v for some, vectors in base._catalog.vectors(ids) for i, v in zip(some, vectors, strict=True)}
    with store.writing():
        store.remove(ids[:1])
        store.add(["foreign"], np.ones((1, 64), np.float32), ["x"])
    embedder.embedded.clear()
    built(base)
    assert store.ids() == set(ids)
    found = store._collection.get(ids=ids[:1], include=["embeddings"])["embeddings"][0]
    assert np.allclose(found, before[ids[0]], atol=1e-6)

    with base.snapshot() as snapshot:  # what Chroma does not give comes from the catalog
        with store.writing():
            store.remove(ids)
        assert set(snapshot.dense(vector := embedder.embed_query("file b"), 3)) == set(ids)
        assert "file b" in snapshot.documents(snapshot.dense(vector, 1))[0].text
        assert len(snapshot.dense(vector, 3, [snapshot.documents(ids)[0].content])) == 1
    built(base)

    base.close()
    for folder in (tmp_path / "chroma_db" / "index-1").glob("*-*-*"):
        shutil.rmtree(folder)  # Chroma answers with fewer rows and no error
    built(base)
    assert len(texts(base)) == 3

    base.close()
    shutil.rmtree(tmp_path / "chroma_db" / f"index-{base._catalog.state().generation}")
    with pytest.raises(KnowledgeBaseError, match="build the knowledge base again"), base.snapshot():
        pass
    built(base)
    assert len(texts(base)) == 3
    assert embedder.embedded == []


def test_deleting_the_index_folder_starts_over(base: KnowledgeBase, write: Write, tmp_path: Path) -> None:
    write("a.pdf", "Some text.")
    built(base)
    shutil.rmtree(tmp_path / "chroma_db")
    assert base.rows() == []
    with pytest.raises(EmptyIndexError), base.snapshot():
        pass
    assert built(base).files == 1
    assert texts(base) == {"Some text."}


def test_vectors_of_strips_are_kept_while_their_content_lives(
    base: KnowledgeBase, write: Write, files: Path, embedder: HashingEmbedder
) -> None:
    write("a.pdf", "# Fruit\n\n" + LONG.format(1) * 3)
    built(base)
    with base.snapshot() as snapshot:
        documents = snapshot.documents(snapshot.dense(embedder.embed_query("harvest"), 5))
    strips = {strip.id: embedder.embed_query(strip.text) for document in documents for strip in document.strips}
    known = base.load(documents)
    assert known.keys() == {document.id for document in documents}
    expected = embedder.embed_query(f"{documents[0].heading}\n{documents[0].text}")
    assert np.allclose(known[documents[0].id], expected, atol=2e-3)
    base.save(documents[0].content, strips)
    known = base.load(documents)
    assert all(np.allclose(known[key], vector, atol=2e-3) for key, vector in strips.items())
    (files / "a.pdf").unlink()
    built(base)
    base.save(documents[0].content, strips)
    assert base.load(documents) == {}


def test_headings_are_spread_over_the_files(base: KnowledgeBase, write: Write) -> None:
    body = LONG.format(1) * 3
    write("a.pdf", f"# Harvest\n\n{body}\n\n# Storage\n\n{body}\n\n# References\n\n{body}")
    write("b.pdf", f"# Transport\n\n{body}")
    built(base)
    with base.snapshot() as snapshot:
        assert snapshot.headings(3) == [("a.pdf", "Harvest"), ("b.pdf", "Transport"), ("a.pdf", "Storage")]


def test_a_folder_that_is_gone_is_an_error_and_the_index_stays(base: KnowledgeBase, write: Write, files: Path) -> None:
    write("a.pdf", "The text of the only file.")
    built(base)
    files.rename(files.with_name("away"))
    with pytest.raises(KnowledgeBaseError, match="cannot be read"):
        base.changes()
    with pytest.raises(KnowledgeBaseError, match="The index stays as it is"):
        list(base.build())
    assert len(texts(base)) == 1
    files.with_name("away").rename(files)
    assert [change.state for change in base.changes()] == [FileState.UNCHANGED]


def test_a_reader_survives_that_somebody_starts_over(base: KnowledgeBase, write: Write, tmp_path: Path) -> None:
    chroma = tmp_path / "chroma_db"
    write("a.pdf", "The text of the first file.")
    built(base)
    shutil.rmtree(chroma / "index-1")
    built(base)  # mended in a new generation, which this process now holds open
    with base.snapshot() as index:
        assert index.dense(base._embedder.embed_query("first file"), 1)
    shutil.rmtree(chroma)
    other = KnowledgeBase(tmp_path / "Files", chroma, HashingEmbedder())
    built(other)
    for reader in (base, other, base):
        with reader.snapshot() as index:
            assert index.dense(reader._embedder.embed_query("first file"), 1)
    assert (chroma / "index-1").is_dir()
    other.close()


def test_names_that_are_shown_alike_are_two_files(base: KnowledgeBase, write: Write, files: Path) -> None:
    data = write("a.pdf", "The text of one file.").read_bytes()
    (files / "\\xff.pdf").write_bytes(data)
    try:
        Path(os.fsdecode(os.fsencode(files) + b"/\xff.pdf")).write_bytes(data)
    except OSError:
        pytest.skip("this file system takes names in Unicode only")
    built(base)
    assert len(base.rows()) == 3
    assert len({row.path for row in base.rows()}) == 3


@pytest.mark.parametrize("name", ["a?b", "a%41b", "a#b", "a b", "ä中"])
def test_the_index_may_lie_in_a_folder_of_any_name(name: str, write: Write, files: Path, tmp_path: Path) -> None:
    write("a.pdf", "The text of one file.")
    made = KnowledgeBase(files, tmp_path / name, HashingEmbedder())
    built(made)
    assert (tmp_path / name / "catalog.db").is_file()
    assert len(texts(made)) == 1
    made.close()


def test_a_damaged_catalog_is_told_in_a_sentence(write: Write, files: Path, tmp_path: Path) -> None:
    write("a.pdf", *[f"Page {n} of a file that fills the catalog with text." for n in range(30)])
    made = KnowledgeBase(files, tmp_path / "chroma_db", HashingEmbedder())
    built(made)
    made.close()
    path = tmp_path / "chroma_db" / "catalog.db"
    data = bytearray(path.read_bytes())
    data[4096:] = b"\x55" * (len(data) - 4096)
    path.write_bytes(data)
    for extra in ("-wal", "-shm"):
        path.with_name(path.name + extra).unlink(missing_ok=True)
    again = KnowledgeBase(files, tmp_path / "chroma_db", HashingEmbedder())
    with pytest.raises(KnowledgeBaseError, match="build again"), again.snapshot():
        pass
    again.close()


def test_a_first_build_makes_the_small_files_askable_while_it_reads_the_large_ones(
    base: KnowledgeBase, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "ROUND", 0.0)
    write("a.pdf", *[f"The lighthouse of harbour {n} was painted white and red." for n in range(6)])
    write("b.pdf", "Barley was weighed in the northern granary.")
    build = base.build()
    assert next(event.row.path for event in build if event.kind == "file_finished") == "b.pdf"
    next(build)  # the build goes on, and has published what was finished
    assert texts(base) == {"Barley was weighed in the northern granary."}
    (first,) = base.rows()
    last = list(build)[-1]
    assert last.kind == "build_finished"
    assert last.files == 2
    assert [row.path for row in base.rows()] == ["a.pdf", "b.pdf"]
    assert next(row for row in base.rows() if row.path == "b.pdf") == first


def test_a_first_build_that_is_cancelled_keeps_what_it_has_published(
    base: KnowledgeBase, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "ROUND", 0.0)
    write("a.pdf", *[f"The lighthouse of harbour {n} was painted white and red." for n in range(6)])
    write("b.pdf", "Barley was weighed in the northern granary.")
    cancel = threading.Event()
    build = base.build(cancel)
    next(event for event in build if event.kind == "file_finished")
    next(build)
    cancel.set()
    last = list(build)[-1]
    assert last.kind == "build_finished"
    assert (last.published, last.version) == (False, base.version())
    assert texts(base) == {"Barley was weighed in the northern granary."}
    assert built(base).files == 2
    assert len(texts(base)) == 2


def test_a_later_build_publishes_in_one_step(
    base: KnowledgeBase, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(builder, "ROUND", 0.0)
    write("b.pdf", "Barley was weighed in the northern granary.")
    version = built(base).version
    for name in ("c.pdf", "d.pdf"):
        write(name, f"The ship of {name} sailed at dawn.")
    for event in base.build():
        if event.kind == "file_finished":
            assert base.version() == version
    assert base.version() == version + 1
