"""What the product adds to a model's own time: calls per question, first token, overhead, Stop, 16 questions at once.

    python -m bench.models --data DIR [--questions 12] [--latency 0.3]

A model with a fixed time per call grades and writes, on loopback and in OpenAI's wire format; half of XQuAD is
rendered and indexed in a temporary folder. Tutorial CRAG (one call per document and strip, one after the other) meets
the same server time in the same run, on the documents that CRAG retrieved.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import httpx

from bench._model_server import Seen, slow_model
from bench._tutorial import fixed_latency_chat, tutorial_crag
from bench._xquad import data_argument, half_of, questions
from bench.xquad_pdfs import render_all
from config import Settings, load_settings
from crag.assembly import House, open_house
from crag.events import Finished, Token
from crag.pipeline import answer
from crag.schema import Trace

AT_ONCE = 16
LONG_LATENCY = 1.0


@dataclass(frozen=True)
class Asked:
    """One question: seconds to the first token, and its trace."""

    first_token: float
    trace: Trace


async def ask(house: House, settings: Settings, question: str) -> Asked:
    start, first, trace = time.perf_counter(), 0.0, None
    async for event in answer(house.parts(settings), question, "bench", threading.Event()):
        if isinstance(event, Token) and not first:
            first = time.perf_counter() - start
        if isinstance(event, Finished):
            trace = event.trace
    assert trace is not None
    return Asked(first, trace)


def with_model(settings: Settings, url: str) -> Settings:
    """Graded and written by the model at `url`."""
    chosen = {"llm_provider": "openai", "llm_model": "slow", "openai_api_base": url, "evaluator": "llm"}
    return settings.model_copy(update=chosen)


async def one_by_one(house: House, settings: Settings, texts: Sequence[str], seen: Seen, latency: float) -> list[Asked]:
    await ask(house, settings, texts[0])  # opens the connection and imports the client
    seen.calls.clear()
    found = [await ask(house, settings, text) for text in texts[1:]]
    calls = [len(one.trace.calls) for one in found]
    repeats = sum(call.repeat for one in found for call in one.trace.calls)
    model = statistics.mean(seen.calls) * statistics.mean(calls)
    embedding = statistics.mean(one.trace.timings["embed"] for one in found)
    first = statistics.mean(one.first_token for one in found)
    print(f"calls per question: {statistics.mean(calls):.2f} (most {max(calls)}, repeats {repeats})")
    print(f"question to first token: {first * 1000:.0f} ms, of it model {model * 1000:.0f} ms")
    own = first - model - embedding
    print(f"own time beyond model and embedding: {own * 1000:.0f} ms, {own / latency:.1%} of one call")
    return found


async def stopped(house: House, settings: Settings, text: str, seen: Seen) -> None:
    stop, asked_at = threading.Event(), 0.0
    async for event in answer(house.parts(settings), text, "stop", stop):
        if isinstance(event, Token) and not stop.is_set():
            asked_at = time.perf_counter()
            stop.set()
    await asyncio.sleep(0.5)
    took = seen.gone_at[-1] - asked_at if seen.gone_at else float("inf")
    print(f"Stop: the server saw the client go after {took * 1000:.0f} ms")


async def at_once(house: House, settings: Settings, texts: Sequence[str], seen: Seen) -> None:
    start = time.perf_counter()
    await ask(house, settings, texts[0])
    alone = time.perf_counter() - start
    start = time.perf_counter()
    found = await asyncio.gather(*(ask(house, settings, text) for text in texts[1 : AT_ONCE + 1]))
    together = time.perf_counter() - start
    mixed = sum(document.reason != one.trace.question[:150] for one in found for document in one.trace.documents)
    errors = sum(one.trace.error is not None for one in found)
    print(
        f"{len(found)} questions at once at {LONG_LATENCY:g} s a call: {together / alone:.2f} times one alone, "
        f"{errors} errors, {mixed} mixed-up grades, {seen.most_at_once} calls at most at the same time"
    )


def compared(found: Sequence[Asked], latency: float) -> None:
    with fixed_latency_chat(latency) as url, httpx.Client(base_url=url, timeout=600) as client:
        few = found[:3]
        runs = [tutorial_crag(client, one.trace.question, [d.text for d in one.trace.documents]) for one in few]
    calls, seconds = (statistics.mean(column) for column in zip(*runs, strict=True))
    ours = statistics.mean(one.first_token for one in few)
    print(f"tutorial CRAG on the same documents: {calls:.0f} calls, {seconds / ours:.1f} times as long as ours")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    data_argument(parser)
    parser.add_argument("--questions", type=int, default=12)
    parser.add_argument("--latency", type=float, default=0.3, help="seconds that the model takes per call")
    args = parser.parse_args()
    every = questions(args.data, "en")
    inside = half_of({question.article for question in every}, seed=0)
    several = [question.text for question in every if question.article in inside]
    texts = random.Random(0).sample(several, args.questions + AT_ONCE + 2)
    with tempfile.TemporaryDirectory() as folder:
        render_all(args.data, Path(folder, "Files"), "en", inside)
        settings = load_settings(
            files_dir=Path(folder, "Files"), chroma_dir=Path(folder, "chroma_db"), data_dir=Path(folder, "own")
        )
        house = replace(open_house(settings), kept_grades=None)  # every question is judged, also in a second run
        for _ in house.knowledge_base.build():
            continue
        with slow_model(args.latency) as (url, seen):
            asked = texts[: args.questions + 1]
            found = asyncio.run(one_by_one(house, with_model(settings, url), asked, seen, args.latency))
        compared(found, args.latency)
        with slow_model(0.1, pieces=500, gap=0.02) as (url, seen):
            asyncio.run(stopped(house, with_model(settings, url), texts[0], seen))
        with slow_model(LONG_LATENCY) as (url, seen):
            asyncio.run(at_once(house, with_model(settings, url), texts[args.questions + 1 :], seen))
        house.close()


if __name__ == "__main__":
    main()
