"""Question to refined context, in multiples of one query embedding timed in the same run, and what each stage took.

    python -m bench.latency --data DIR [--questions 50]

Half of XQuAD (English and Chinese) is rendered and indexed in a temporary folder. Every question is answered four
times: to fill the caches, with the vectors of the strips known, without and with the adapter, and without them.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench._xquad import half_of, questions
from bench.xquad_pdfs import render_all
from config import Settings, load_settings
from crag.assembly import House, open_house
from crag.embedding.loading import load_cross, load_embedder
from crag.evaluator.base import KnownVectors
from crag.evaluator.lightweight import LightweightEvaluator
from crag.events import Refined
from crag.pipeline import Parts, answer
from crag.schema import Document


class WithoutStrips:
    """Known vectors as they are when a document is graded for the first time: its own, none of its strips."""

    def __init__(self, known: object) -> None:
        self.known = known

    def load(self, documents: Sequence[Document]) -> dict[str, np.ndarray]:
        own = {document.id for document in documents}
        return {key: vector for key, vector in self.known.load(documents).items() if key in own}  # type: ignore[attr-defined]

    def save(self, content: str, strips: Mapping[str, np.ndarray]) -> None:
        """Forgets them, so that the next question meets the same."""


async def to_refined(parts: Parts, question: str) -> tuple[float, dict[str, float]]:
    """Seconds until k is there, and the seconds of each stage."""
    stop, start = threading.Event(), time.perf_counter()
    taken = 0.0
    stages: dict[str, float] = {}
    async for event in answer(parts, question, "bench", stop):
        if isinstance(event, Refined):
            taken = time.perf_counter() - start
        if event.kind == "finished":
            stages = dict(event.trace.timings)
    return taken, stages


def indexed(house: House) -> None:
    for _ in house.knowledge_base.build():
        continue


def parts_with(house: House, settings: Settings, known: KnownVectors, *, adapter: bool) -> Parts:
    """The parts of a turn with an engine of their own, so that no question has been embedded before."""
    embedder = load_embedder(settings.cache_dir, settings.threads).embedder
    cross = load_cross(embedder, settings.cache_dir, settings.threads).engine if adapter else None
    return replace(house.parts(settings), embedder=embedder, evaluator=LightweightEvaluator(embedder, known, cross))


def measure(house: House, settings: Settings, asked: Sequence[str]) -> None:
    first = house.parts(settings)
    stored, forgotten = house.knowledge_base, WithoutStrips(house.knowledge_base)
    ways = {
        "known, regression alone": parts_with(house, settings, stored, adapter=False),
        "known, with the adapter": parts_with(house, settings, stored, adapter=True),
        "fresh, with the adapter": parts_with(house, settings, forgotten, adapter=True),
    }
    rows: dict[str, list[float]] = {"embedding": [], **{name: [] for name in ways}}
    stages: dict[str, dict[str, list[float]]] = {name: {} for name in ways}
    for number, question in enumerate(asked):
        asyncio.run(to_refined(first, question))
        start = time.perf_counter()
        house.embedder.embed_query(f"{question} {number}")  # another text, so that no cache answers
        rows["embedding"].append(time.perf_counter() - start)
        for name, parts in ways.items():
            taken, spent = asyncio.run(to_refined(parts, question))
            rows[name].append(taken)
            for stage, seconds in spent.items():
                stages[name].setdefault(stage, []).append(seconds)
    unit = statistics.median(rows["embedding"])
    print(f"one query embedding: median {1000 * unit:.1f} ms over {len(asked)} questions")
    for name in ways:
        median = statistics.median(rows[name])
        print(f"strips' vectors {name}: {median / unit:.1f} query embeddings (median {1000 * median:.0f} ms)")
        for stage, seconds in stages[name].items():
            print(f"    {stage:16} {1000 * statistics.median(seconds):7.1f} ms in {len(seconds)} questions")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("CRAG_DATA"), required="CRAG_DATA" not in os.environ
    )
    parser.add_argument("--questions", type=int, default=50)
    args = parser.parse_args()
    every = {language: questions(args.data, language) for language in ("en", "zh")}
    inside = half_of({question.article for question in every["en"]}, seed=0)
    pick = random.Random(0)
    asked = [
        question.text
        for language in ("en", "zh")
        for question in pick.sample([q for q in every[language] if q.article in inside], args.questions // 2)
    ]
    with tempfile.TemporaryDirectory() as folder:
        for language in ("en", "zh"):
            render_all(args.data, Path(folder, "Files"), language, inside)
        settings = load_settings(
            files_dir=Path(folder, "Files"), chroma_dir=Path(folder, "chroma_db"), data_dir=Path(folder)
        )
        house = open_house(settings)
        indexed(house)
        measure(house, settings, asked)
        house.close()


if __name__ == "__main__":
    main()
