"""CRAG beside the common stack on the same PDFs, questions and embedding weights, in one run: speed and quality.

    python -m bench.peers --data DIR [--env DIR] [--rounds 3] [--texts 120] [--tutorial 10] [--articles N] [--limit N]

One command: the first run installs `peers-requirements.txt` into an environment of its own (`--env`). In it, as a
process, runs **plain RAG**: LangChain's PyMuPDFLoader, RecursiveCharacterTextSplitter 500/50, sentence-transformers in
float32 with the weights of our own engine (the cosine of both engines' vectors is printed), FAISS, k = 4, no grading;
three strips of its chunks are quoted, as in `crag/plain_rag.py`. **Tutorial CRAG** adds to this retrieval one model
call per document, one per strip and one for the answer, one after the other, against a loopback model of fixed latency:
calls and wall time alone mean something. Ours is the product as it is, without a model and without the web.

Half of the articles is indexed (`--seed`), the questions of the others are not covered. Ours and theirs take turns: in
each round both embed the same texts (XQuAD paragraphs) and build everything (read, cut, embed, write), and both answer
each question before the next. Medians; shares with 95 % Wilson intervals, differences with paired bootstrap ones. A
judge model is a later feature of ours: "design" calls are counted, not run (2, with the web 3), and their time is
calls x latency + everything that ours takes today; likewise plain RAG's one call after its retrieval. Run it on a quiet
machine: threads that wait for each other, as PyTorch's do, lose far more by other load than ours (the load is printed).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import httpx
import numpy as np

from bench._answers import chosen, holds_answer, paired_difference, question_arguments, quoted
from bench._cases import held_out
from bench._peer import Peer, running
from bench._tutorial import fixed_latency_chat, tutorial_crag
from bench._xquad import Question, half_of, paragraphs
from bench.web import trace_of
from bench.xquad_pdfs import render_all
from config import Settings, load_settings
from crag.assembly import House, open_house
from crag.evaluation.metrics import share
from crag.events import BuildFinished
from crag.plain_rag import PLAIN_K, plain_quotes
from crag.refinement import decompose

DESIGN_CALLS = 2
"""Model calls per question with a judge: one grades all documents and strips, one writes; the web adds a third."""

Row = tuple[str, str, str, str, str]
"""A line of the table: what it says, CRAG, plain RAG, tutorial CRAG, and how they compare."""


class Answered(NamedTuple):
    """A question with both answers (empty: refused) and the seconds that ours, and the peer's parts, took."""

    question: Question
    covered: bool
    ours: str
    ours_seconds: float
    peer: str
    retrieving: float
    quoting: float
    """Embeds the strips of the four chunks first: the common stack keeps no vectors of strips."""


@dataclass
class Measured:
    """Everything about one language."""

    rates: dict[str, list[float]] = field(default_factory=lambda: {"ours": [], "peer": []})
    """Passages embedded per second, per round."""
    builds: dict[str, list[float]] = field(default_factory=lambda: {"ours": [], "peer": []})
    """Seconds per round."""
    passages: dict[str, int] = field(default_factory=dict)
    cosines: list[float] = field(default_factory=list)
    answered: list[Answered] = field(default_factory=list)
    tutorial: list[tuple[int, float]] = field(default_factory=list)
    """Calls, and the seconds that they took, per question."""


def embed(house: House, peer: Peer, texts: list[str], rounds: int, folder: Path, found: Measured) -> None:
    """Both embed the same texts in turns; the first, short call warms both up and compares the vectors."""
    few, file = texts[:20], folder / "vectors.npy"
    peer.call("embed", texts=few, out=str(file))
    found.cosines = np.sum(house.embedder.embed_passages(few) * np.load(file), axis=1).tolist()
    for _ in range(rounds):
        start = time.perf_counter()
        house.embedder.embed_passages(texts)
        found.rates["ours"].append(len(texts) / (time.perf_counter() - start))
        found.rates["peer"].append(len(texts) / peer.call("embed", texts=texts)["seconds"])


def build(settings: Settings, peer: Peer, rounds: int, folder: Path, found: Measured) -> House:
    """Both build everything in turns, into new folders; the house of the last round is left open."""
    house = None
    for number in range(rounds):
        if house:
            house.close()
        house = open_house(settings.model_copy(update={"chroma_dir": folder / f"chroma{number}"}))
        start = time.perf_counter()
        for event in house.knowledge_base.build():
            if isinstance(event, BuildFinished):
                found.passages["ours"] = event.passages
        found.builds["ours"].append(time.perf_counter() - start)
        theirs = peer.call("build", pdfs=str(settings.files_dir), out=str(folder / f"faiss{number}"))
        found.builds["peer"].append(theirs["seconds"])
        found.passages["peer"] = theirs["chunks"]
    assert house, "there is at least one round"
    return house


def answer_both(house: House, settings: Settings, peer: Peer, question: Question, covered: bool) -> Answered:
    """One question to ours, then to plain RAG."""
    start = time.perf_counter()
    trace = asyncio.run(trace_of(house, settings, question))
    ours_seconds = time.perf_counter() - start
    theirs = peer.call("ask", question=question.text, k=PLAIN_K)
    strips = list(dict.fromkeys(strip.text for chunk in theirs["chunks"] for strip in decompose(chunk)))
    start = time.perf_counter()
    plain = "\n".join(plain_quotes(house.embedder, question.text, strips))
    quoting = time.perf_counter() - start
    return Answered(question, covered, quoted(trace), ours_seconds, plain, theirs["seconds"], quoting)


def tutorial(peer: Peer, asking: list[Question], latency: float) -> list[tuple[int, float]]:
    """(calls, seconds of the calls) of tutorial CRAG per question."""
    found = []
    with fixed_latency_chat(latency) as url, httpx.Client(base_url=url, timeout=60) as client:
        for question in asking:
            chunks = peer.call("ask", question=question.text, k=PLAIN_K)["chunks"]
            found.append(tutorial_crag(client, question.text, chunks))
    return found


def measure(language: str, args: argparse.Namespace, peer: Peer, folder: Path) -> Measured:
    """Renders, embeds, builds and asks, ours and theirs in turns."""
    every, found = paragraphs(args.data, language), Measured()
    articles = sorted({p.article for p in every}, key=lambda article: (not held_out(article), article))[: args.articles]
    indexed = half_of(articles, args.seed)
    render_all(args.data, folder / "Files", language, indexed)
    settings = load_settings(
        files_dir=folder / "Files", chroma_dir=folder / "chroma", data_dir=folder, web_provider="none"
    )
    house = open_house(settings)
    embed(house, peer, [p.text for p in every][: args.texts], args.rounds, folder, found)
    house.close()
    house = build(settings, peer, args.rounds, folder, found)
    try:
        asking = chosen(args, language, frozenset(articles))
        for question in asking:
            found.answered.append(answer_both(house, settings, peer, question, question.article in indexed))
        found.tutorial = tutorial(peer, asking[: args.tutorial], args.latency)
    finally:
        house.close()
    return found


def report(name: str, found: Measured, latency: float) -> None:
    """Prints one table: speed and quality side by side."""
    lowest, mean = min(found.cosines), statistics.mean(found.cosines)
    print(f"{name}: {len(found.answered)} questions; the same weights, int8 against float32: cosine of both engines'")
    print(f"vectors mean {mean:.4f}, minimum {lowest:.4f} over {len(found.cosines)} texts")
    print(f"\n| {name} | CRAG | plain RAG | tutorial CRAG | against CRAG |\n|---|---|---|---|---|")
    for row in (*speed_rows(found), *quality_rows(found.answered), *model_rows(found, latency)):
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def speed_rows(found: Measured) -> list[Row]:
    """Medians of embedding, building and answering without a model."""
    (rate, peer_rate), (built, peer_built) = (
        [statistics.median(by[who]) for who in ("ours", "peer")] for by in (found.rates, found.builds)
    )
    own, retrieving, quoting = (1000 * seconds for seconds in _medians(found.answered))
    return [
        ("passages embedded per second", f"{rate:.1f}", f"{peer_rate:.1f}", "", f"{rate / peer_rate:.2f} x as fast"),
        ("whole build, seconds", f"{built:.1f}", f"{peer_built:.1f}", "", f"{peer_built / built:.2f} x as fast"),
        ("passages or chunks", str(found.passages["ours"]), str(found.passages["peer"]), "", ""),
        ("question to quotes, ms", f"{own:.0f}", f"{retrieving:.0f} + {quoting:.0f} for quoting", "", ""),
    ]


def quality_rows(answered: Sequence[Answered]) -> list[Row]:
    """Answer match where the index covers the question, false answers where it does not."""
    groups = (("covered: answer holds the gold answer", True), ("not covered: false answer", False))
    rows: list[Row] = []
    for label, covered in groups:
        group = [row for row in answered if row.covered is covered]
        if not group:
            continue
        # to a question that is not covered every answer is false
        ours = [holds_answer(row.question, row.ours) if covered else bool(row.ours) for row in group]
        peer = [holds_answer(row.question, row.peer) if covered else bool(row.peer) for row in group]
        points, low, high = paired_difference(ours, peer, range(len(group)))
        shares = (share(sum(ours), len(group)), share(sum(peer), len(group)))
        rows.append((label, *shares, "not measured", f"{points:+.1f} points [{low:+.1f}, {high:+.1f}]"))
    return rows


def model_rows(found: Measured, latency: float) -> list[Row]:
    """Model calls and the wall time that they give; "design" is counted, not run."""
    if not found.tutorial:
        return []
    calls, seconds = (statistics.mean(column) for column in zip(*found.tutorial, strict=True))
    own, retrieving, _ = _medians(found.answered)
    ours, seconds = DESIGN_CALLS * latency + own, retrieving + seconds
    plain = f"{latency + retrieving:.2f} (design)"
    at = f"question to answer at {1000 * latency:.0f} ms a call, s"
    return [
        ("model calls per question", f"{DESIGN_CALLS} (design)", "1 (design)", f"{calls:.1f}", ""),
        (at, f"{ours:.2f} (design)", plain, f"{seconds:.2f}", f"{seconds / ours:.1f} x as fast as the tutorial"),
    ]


def _medians(answered: Sequence[Answered]) -> tuple[float, float, float]:
    """Seconds of our whole answer, of the peer's retrieval, and of quoting from it."""
    return (
        statistics.median(row.ours_seconds for row in answered),
        statistics.median(row.retrieving for row in answered),
        statistics.median(row.quoting for row in answered),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    question_arguments(parser)
    default = Path(tempfile.gettempdir(), "crag-bench-peers")
    parser.add_argument("--env", type=Path, default=default, help="folder of the peer's environment and model")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of embedding and of building")
    parser.add_argument("--texts", type=int, default=120, help="texts that each round embeds")
    parser.add_argument("--tutorial", type=int, default=10, help="questions put to tutorial CRAG (some 5 s each)")
    parser.add_argument("--latency", type=float, default=0.3, help="seconds of a model call")
    parser.add_argument("--articles", type=int, help="at most so many articles, held-out ones first")
    args = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors before the run")
    with running(args.env, load_settings().cache_dir) as peer, tempfile.TemporaryDirectory() as folder:
        for language in args.language or ("en", "zh"):
            report(language, measure(language, args, peer, Path(folder, language)), args.latency)


if __name__ == "__main__":
    main()
