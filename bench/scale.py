"""What 100 000 passages cost: build, restart, add one file, ask; time, memory and disk, with 1 000 and 10 000 beside.

    python -m bench.scale [--passages 1000 10000 100000] [--questions 200]

Texts and vectors are synthetic (words of a skewed vocabulary; 384 dimensions around topics), everything else is real:
catalog, FTS5, Chroma, and builds over a folder of PDFs. Each size runs in processes of its own, so that memory and
restarts are those of a fresh process. Questions are retrieval alone, with a given vector, k = 8 and both rankings.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.fingerprint import index_fingerprint
from crag.knowledge_base.generation import Generation
from crag.knowledge_base.page_text import PageText
from crag.knowledge_base.records import Reading, Target
from crag.knowledge_base.vector_store import VectorStore
from crag.retrieval import retrieve
from crag.schema import Passage, Span, Strip

DIMENSION = 384
PER_FILE = 100
FILES_AT_ONCE = 20
"""A real build adds file by file, between which it reads and embeds; here nothing else is waited for."""
TOPICS = 200
WORDS = 30_000
WORDS_PER_PASSAGE = 90
STOP_WORDS = 100
"""So many of the most frequent words stand for those that a search leaves out."""

Vectors = npt.NDArray[np.float32]


class Topics:
    """An `Embedder` whose vectors lie around topics, as those of files do; of the text it takes nothing but a seed."""

    fingerprint, dimension = "topics-384", DIMENSION

    def __init__(self) -> None:
        self._centres = _unit(np.random.default_rng(0).normal(size=(TOPICS, DIMENSION)))

    def vectors(self, topic: int, n: int, seed: int) -> Vectors:
        noise = np.random.default_rng(seed).normal(size=(n, DIMENSION)) / np.sqrt(DIMENSION)
        return _unit(self._centres[topic % TOPICS] + 0.8 * noise)

    def embed_query(self, text: str) -> Vectors:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
        return np.asarray(self.vectors(seed, 1, seed)[0], np.float32)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self.embed_query(text) for text in texts])


def _unit(matrix: npt.NDArray[np.floating]) -> Vectors:
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), np.float32)


def words(random: np.random.Generator, n: int, without: int = 0) -> str:
    """Words by Zipf's law, as in texts, without the most frequent ones: a question shares words with many passages."""
    ranks = random.zipf(1.2, 100 * n)
    return " ".join(f"w{rank}" for rank in ranks[(ranks > without) & (ranks < WORDS)][:n])


def reading(number: int, data: bytes, fingerprint: str, topics: Topics) -> Reading:
    """A file of `PER_FILE` passages with strips, pages and vectors, as if `data` had been read."""
    random = np.random.default_rng(number)
    sha256 = hashlib.sha256(data).hexdigest()
    passages, pages = [], []
    for place in range(PER_FILE):
        text = words(random, WORDS_PER_PASSAGE)
        span = Span(page=place + 1, start=0, end=len(text))
        third = len(text) // 3
        strips = tuple(
            Strip(id=f"{sha256[:20]}-{place}-{part}", text=text[part * third : (part + 1) * third], spans=(span,))
            for part in range(3)
        )
        identity = hashlib.sha256(f"{sha256}|{fingerprint}|{place}".encode()).hexdigest()[:32]
        passages.append(Passage(id=identity, content=sha256, number=place, text=text, spans=(span,), strips=strips))
        ends = np.cumsum([len(word) + 1 for word in text.split()])
        offsets = np.stack([[0, *ends[:-1]], ends - 1], axis=1).astype(np.int32)
        boxes = random.uniform(0, 800, (WORDS_PER_PASSAGE, 4)).astype(np.float32)
        pages.append(PageText(place + 1, text, (), offsets, boxes, 595.0, 842.0, 0, "text"))
    vectors = topics.vectors(number, PER_FILE, number).astype(np.float16).astype(np.float32)
    return Reading(sha256, fingerprint, pages, passages, vectors, 1.0, names=_name(number))


def _add(store: VectorStore, made: Sequence[Reading]) -> None:
    ids = [passage.id for one in made for passage in one.passages]
    vectors = np.concatenate([one.vectors for one in made if one.vectors is not None])
    store.add(ids, vectors, [one.sha256 for one in made for _ in one.passages])


def _name(number: int) -> str:
    return f"{number // 100:03}/{number:05}.pdf"


def one_page_pdf(text: str) -> bytes:
    import pymupdf

    document = pymupdf.open()
    document.new_page().insert_textbox((72, 72, 520, 770), text, fontsize=9)
    data: bytes = document.tobytes()
    return data


# --- steps, each in a fresh process -------------------------------------------------------------------------------


def fill(folder: Path, passages: int) -> dict[str, float]:
    """Stages and publishes synthetic files with the builder's own parts; the folder holds a small PDF for each."""
    topics, base = Topics(), _base(folder)
    fingerprint = index_fingerprint(topics)
    with ExitStack() as sessions:
        index = Generation(
            folder / "db", base._catalog, fingerprint, base._writable, sessions, stop_if_cancelled=lambda: None
        )
        begun = time.perf_counter()
        store = index.prepare(base._catalog.state())
        targets, adding, staging, waiting = [], 0.0, 0.0, list[Reading]()
        last = passages // PER_FILE - 1
        for number in range(passages // PER_FILE):
            path = folder / "Files" / _name(number)
            path.parent.mkdir(parents=True, exist_ok=True)
            data = b"%PDF-1.4 placeholder " + str(number).encode()
            path.write_bytes(data)
            os.utime(path, (1_700_000_000, 1_700_000_000))
            made = reading(number, data, fingerprint, topics)
            waiting.append(made)
            if len(waiting) == FILES_AT_ONCE or number == last:
                adding += _timed(lambda: _add(store, waiting))
                waiting.clear()
            before = time.perf_counter()
            content = base._catalog.stage(made)
            staging += time.perf_counter() - before
            found = path.stat()
            targets.append(Target(_name(number), content, found.st_size, found.st_mtime_ns))
        before = time.perf_counter()
        base._catalog.publish(targets, index.number, fingerprint, topics.fingerprint)
        index.clear(store)
        index.seal(store)
        publishing = time.perf_counter() - before
    base.close()
    return {"build s": time.perf_counter() - begun, "vectors s": adding, "catalog s": staging, "publish s": publishing}


def add_one(folder: Path, _: int) -> dict[str, float]:
    """A build over the folder with one new PDF, and one over it unchanged."""
    base = _base(folder)
    (folder / "Files" / "new.pdf").write_bytes(one_page_pdf("One page that nobody has seen before. " * 30))
    added = _timed(lambda: list(base.build()))
    unchanged = _timed(lambda: list(base.build()))
    (folder / "Files" / "new.pdf").unlink()
    removed = _timed(lambda: list(base.build()))
    (folder / "Files" / "new.pdf").write_bytes(one_page_pdf("Another page. " * 30))
    list(base.build())
    deleted = _timed(lambda: base.delete("new.pdf"))
    looked = _timed(base.changed_since_build)
    base.close()
    return {
        "add one s": added,
        "nothing new s": unchanged,
        "remove one s": removed,
        "delete one s": deleted,
        "look for changes ms": 1000 * looked,
    }


def ask(folder: Path, questions: int) -> dict[str, float]:
    """A restart, its first question, then many; also limited to one file, to a tenth and to all files but one."""
    topics = Topics()
    begun = time.perf_counter()
    base = _base(folder)
    with base.snapshot() as snapshot:
        retrieve(snapshot, "w1 w2", topics.embed_query("first"), 8)
        first = time.perf_counter() - begun
        found: dict[str, float] = {"restart to first answer s": first}
        paths = [row.path for row in base.rows()]
        choices = {"": None, " of one file": paths[:1], " of a tenth": paths[::10], " of all but one": paths[1:]}
        random = np.random.default_rng(1)
        for name, chosen in choices.items():
            contents = None if chosen is None else set(snapshot.contents(chosen).values())
            times = []
            for number in range(questions):
                query, vector = words(random, 10, STOP_WORDS), topics.vectors(number, 1, 10_000_000 + number)[0]
                before, used = time.perf_counter(), time.process_time()
                retrieve(snapshot, query, vector, 8, contents=contents)
                times.append((time.perf_counter() - before, time.process_time() - used))
            found[f"question{name} p50 ms"], found[f"question{name} p95 ms"] = (
                1000 * float(value) for value in np.percentile([wall for wall, _ in times], [50, 95])
            )
            found[f"question{name} p50 ms of CPU"] = 1000 * float(np.median([used for _, used in times]))
        for name, search in {
            "vectors": lambda n: snapshot.dense(topics.vectors(n, 1, n)[0], 32),
            "words": lambda n: snapshot.lexical(words(random, 10, STOP_WORDS), 32),
        }.items():
            found[f"{name} alone p50 ms"] = 1000 * float(
                np.median([_timed(lambda n=n, s=search: s(n)) for n in range(50)])
            )
        found["recall of 32"] = _recall(snapshot, topics)
    found["memory MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found["disk MB"] = base.size_on_disk() / 1e6
    base.close()
    return found


def _recall(snapshot: object, topics: Topics) -> float:
    """Share of the exact 32 nearest that the index finds, over 20 questions."""
    shares = []
    for number in range(20):
        vector = topics.vectors(number, 1, 20_000_000 + number)[0]
        exact = set(snapshot._exact(vector, 32, None))  # type: ignore[attr-defined]
        shares.append(len(exact & set(snapshot.dense(vector, 32))) / 32)  # type: ignore[attr-defined]
    return float(np.mean(shares))


def _base(folder: Path) -> KnowledgeBase:
    (folder / "Files").mkdir(parents=True, exist_ok=True)
    return KnowledgeBase(folder / "Files", folder / "db", Topics())


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


STEPS = {"fill": fill, "ask": ask, "add_one": add_one}


def main() -> None:
    """Prints a line per measure and size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--step", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        name, folder, number = options.step
        print(json.dumps(STEPS[name](Path(folder), int(number))))
        return
    for passages in options.passages:
        with tempfile.TemporaryDirectory() as folder:
            for name, number in (("fill", passages), ("ask", options.questions), ("add_one", 0)):
                command = [sys.executable, "-m", "bench.scale", "--step", name, folder, str(number)]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                for measure, value in json.loads(done.stdout).items():
                    print(f"{passages:8} {measure:40} {value:10.2f}", flush=True)


if __name__ == "__main__":
    main()
