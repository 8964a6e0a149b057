"""Several processes on one index: a build that is killed, a reader next to a builder."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import psutil
import pytest
from hashing import HashingEmbedder
from small_pdfs import Write, built, texts

from crag.knowledge_base.base import KnowledgeBase

ROOT = Path(__file__).parents[2]

BUILD = """
    import sys
    sys.path[:0] = {paths}
    from pathlib import Path
    from hashing import HashingEmbedder
    from crag.knowledge_base.base import KnowledgeBase
    base = KnowledgeBase(Path({files!r}), Path({chroma!r}), HashingEmbedder(delay={delay}))
    for event in base.build():
        print(event.kind, getattr(event, "stage", ""), getattr(event, "index", ""), flush=True)
"""


def start_build(files: Path, chroma: Path, delay: float = 0.0) -> subprocess.Popen[str]:
    paths = [str(Path(__file__).parent), str(ROOT)]
    code = textwrap.dedent(BUILD).format(paths=paths, files=str(files), chroma=str(chroma), delay=delay)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def contents_of(base: KnowledgeBase) -> dict[str, object]:
    """Everything that a question can see, for comparing two indexes."""
    with base.snapshot() as snapshot:
        ids = snapshot.dense(np.ones(HashingEmbedder.dimension, np.float32), 10_000)
        documents = sorted(snapshot.documents(ids), key=lambda document: document.id)
        vectors = base.load(documents)
        return {
            "documents": [document.model_dump() for document in documents],
            "vectors": {key: vector.tolist() for key, vector in sorted(vectors.items())},
            "lexical": snapshot.lexical("harvest of file 3", 100),
            "rows": [row.model_copy(update={"seconds": 0.0}) for row in base.rows()],
        }


@pytest.mark.parametrize(
    "moment",
    [
        "file_progress embedding 3",
        pytest.param("file_progress reading 2", marks=pytest.mark.full),
        pytest.param("file_progress staged 4", marks=pytest.mark.full),
        pytest.param("file_finished  1", marks=pytest.mark.full),
        pytest.param("file_finished  5", marks=pytest.mark.full),
    ],
)
def test_a_build_that_was_killed_and_repeated_equals_a_clean_one(
    files: Path, tmp_path: Path, write: Write, moment: str
) -> None:
    for number in range(6):
        write(f"{number}.pdf", *(f"Page {page} of file {number} tells of the harvest. " * 9 for page in range(9)))
    process = start_build(files, tmp_path / "killed")
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == moment:
            break
    children = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    _, alive = psutil.wait_procs(children, timeout=10)
    assert alive == [], "the worker processes end with the builder"
    killed, clean = (KnowledgeBase(files, tmp_path / name, HashingEmbedder()) for name in ("killed", "clean"))
    assert built(killed).files == built(clean).files == 6
    assert contents_of(killed) == contents_of(clean)
    killed.close()
    clean.close()


def changed_folder(write: Write, files: Path, full: int) -> None:
    """What a rebuild has to do all at once: new, changed, renamed, equal and removed files, and one that is broken."""
    for number in range(full):
        write(f"new{number}.pdf", *(f"New page {page} of file {number}, about the vintage. " * 9 for page in range(4)))
    write("1.pdf", *(f"Changed page {page} tells of the harvest. " * 9 for page in range(5)))
    (files / "2.pdf").rename(files / "renamed.pdf")
    shutil.copy(files / "3.pdf", files / "equal.pdf")
    (files / "4.pdf").unlink()
    (files / "broken.pdf").write_bytes(b"no PDF at all")


def run_for(process: subprocess.Popen[str], seconds: float | None = None) -> float:
    """Kills a build so long after it has begun; None: lets it end well. Returns how long it took from its begin."""
    assert process.stdout is not None
    assert process.stdout.readline().startswith("build_started")
    begun = time.monotonic()
    with process.stdout:
        if seconds is None:
            process.stdout.read()
            assert process.wait(120) == 0
        else:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
            process.kill()
            process.wait()
    return time.monotonic() - begun


def versions_of(chroma: Path) -> object:
    """What a question can see, without the wish to build: contents by path, and every text that the vectors find."""
    with closing(KnowledgeBase(chroma.parent / "Files", chroma, HashingEmbedder())) as base:
        return {row.path: row.content for row in base.rows()}, texts(base)


def orphans(chroma: Path) -> list[str]:
    """Vectors without a passage, passages without a vector, folders without a use, rows that belong to nothing."""
    with closing(KnowledgeBase(chroma.parent / "Files", chroma, HashingEmbedder())) as base:
        catalog, state = base._catalog, base._catalog.state()
        found = [
            path.name for path in chroma.glob("index-*") if path.is_dir() and path.name != f"index-{state.generation}"
        ]
        with base.snapshot() as snapshot:
            vectors, passages = snapshot._store.ids(), set(catalog.passage_ids(state.fingerprint))
            found += [f"vector {one}" for one in vectors - passages] + [f"passage {one}" for one in passages - vectors]
            assert snapshot.size == len(passages), "nothing is staged any more"
        with catalog.engine.connect() as connection:
            for query in (
                "SELECT 'content ' || id FROM content WHERE id NOT IN (SELECT content_id FROM file)",
                "SELECT 'words ' || rowid FROM lexical WHERE rowid NOT IN (SELECT row FROM passage)",
                "SELECT 'no words ' || row FROM passage WHERE row NOT IN (SELECT rowid FROM lexical)",
                "SELECT 'staged ' || path FROM staged_file UNION SELECT 'gone ' || id FROM gone_vector",
            ):
                found += connection.exec_driver_sql(query).scalars()
    return found


@pytest.mark.full
@pytest.mark.parametrize("kills", [20])
def test_a_rebuild_that_is_killed_at_any_moment_leaves_the_old_or_the_new_and_nothing_else(
    files: Path, tmp_path: Path, write: Write, kills: int
) -> None:
    for number in range(6):
        write(f"{number}.pdf", *(f"Page {page} of file {number} tells of the harvest. " * 9 for page in range(4)))
    old, rebuilt, clean = (tmp_path / name for name in ("old", "rebuilt", "clean"))
    assert run_for(start_build(files, old)) > 0
    before = versions_of(old)
    changed_folder(write, files, 2 if kills < 10 else 8)
    shutil.copytree(old, clean)
    length = run_for(start_build(files, clean, delay=0.02))
    after = versions_of(clean)
    assert orphans(clean) == []
    moments = random.Random(kills)
    seen = []
    for _ in range(kills):
        shutil.rmtree(rebuilt, ignore_errors=True)
        shutil.copytree(old, rebuilt)
        for _ in range(1 if kills < 10 else 2):  # killed, and in the long test once more while that is mended
            run_for(start_build(files, rebuilt, delay=0.02), moments.uniform(0, length))
            seen.append(versions_of(rebuilt))
            assert seen[-1] in (before, after), "a mixture, or a published file is lost"
        run_for(start_build(files, rebuilt))
        assert versions_of(rebuilt) == after
        assert orphans(rebuilt) == []
    assert before in seen


def test_a_reader_process_sees_what_another_process_publishes(files: Path, tmp_path: Path, write: Write) -> None:
    write("a.pdf", "The first text.")
    reader = KnowledgeBase(files, tmp_path / "chroma_db", HashingEmbedder())
    assert start_build(files, tmp_path / "chroma_db").wait(60) == 0
    assert texts(reader) == {"The first text."}
    write("b.pdf", "The second text.")
    (files / "a.pdf").unlink()
    process = start_build(files, tmp_path / "chroma_db", delay=0.5)
    while process.poll() is None:
        assert texts(reader) in ({"The first text."}, {"The second text."})
        time.sleep(0.02)
    assert texts(reader) == {"The second text."}
    reader.close()


def test_the_lock_of_a_dead_process_does_not_block(base: KnowledgeBase, tmp_path: Path, write: Write) -> None:
    write("a.pdf", "Some text.")
    chroma = tmp_path / "chroma_db"
    chroma.mkdir()
    (chroma / "build.lock").write_text("")
    (chroma / "build.holder").write_text(json.dumps({"pid": 1, "host": "gone", "since": "2001-01-01"}))
    assert built(base).published


def test_workers_do_not_run_the_main_script_and_leave_the_parent_light(
    files: Path, tmp_path: Path, write: Write
) -> None:
    write("a.pdf", "Some text.")
    script = tmp_path / "page.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import sys
            print("ran", flush=True)
            sys.path[:0] = {[str(Path(__file__).parent), str(ROOT)]}
            from pathlib import Path
            from hashing import HashingEmbedder
            from crag.knowledge_base.base import KnowledgeBase
            base = KnowledgeBase(Path({str(files)!r}), Path({str(tmp_path / "db")!r}), HashingEmbedder())
            print(list(base.build())[-1].files, "pymupdf" in sys.modules)
            """
        )
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ran", "1", "False"]
    assert "MuPDF" not in done.stderr


@pytest.mark.full
def test_readers_that_come_and_go_beside_a_builder_lose_no_vector(files: Path, tmp_path: Path, write: Write) -> None:
    """Several processes on one Chroma folder are its weak spot: every vector must be found in a fresh process."""
    for number in range(16):
        words = [f"w{number}x{page}" for page in range(60)]
        write(f"{number}.pdf", *(f"Page {word} tells of {word} and the harvest. " * 26 for word in words))
    chroma = tmp_path / "chroma_db"
    assert start_build(files, chroma).wait(300) == 0
    for number in range(16):
        path = files / f"{number}.pdf"
        path.write_bytes(path.read_bytes() + b"\n%changed")
    process = start_build(files, chroma)
    rounds = 0
    while process.poll() is None:
        reader = KnowledgeBase(files, chroma, HashingEmbedder())
        for _ in range(3):
            with reader.snapshot() as snapshot:
                assert len(snapshot.dense(HashingEmbedder().embed_query("harvest"), 50)) == 50
        reader.close()
        rounds += 1
    assert process.returncode == 0
    assert rounds > 5
    fresh = KnowledgeBase(files, chroma, HashingEmbedder())
    with fresh.snapshot() as snapshot:
        assert snapshot.size > 1300
        store = snapshot._store
        found = [key for portion in store.nearest(HashingEmbedder().embed_query("harvest")) for key in portion]
        assert len(found) == len(set(found)) == snapshot.size, "Chroma itself has lost none"
        assert all(store.is_sound(vectors) for _, vectors in fresh._catalog.vectors(found))
    fresh.close()
