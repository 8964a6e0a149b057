"""CRAG with the web against plain RAG: half of the articles in the index, the rest on a simulated web.

    python -m bench.web --data DIR [--language en] [--seed 0] [--both] [--limit N] [--all]

Half of XQuAD's articles (chosen by the seed) become PDFs and a knowledge base; the paragraphs of the others are on a
loopback server that speaks Tavily's wire format and ranks by BM25 from the query text alone (`_simulated_web.py`).
Every question goes through the whole flow: retrieve, grade, decide, rewrite and search where the action asks for it,
refine, quote. **Plain RAG** has the same index and the same retrieval, its first four documents, and quotes three of
their strips without grading (`crag/plain_rag.py`); it has no web and always answers. An answer counts when it holds the
gold answer string; shares come with 95 % Wilson intervals, the difference with a paired bootstrap. Held-out
articles only, those that the evaluator was not trained on, unless `--all`. `--both` asks the other way round as well.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench._answers import (
    action_lines,
    answer_lines,
    chosen,
    holds_answer,
    line,
    paired_difference,
    question_arguments,
    quoted,
)
from bench._simulated_web import Search, SimulatedWeb, pages_of, simulated_web
from bench._xquad import Question, half_of, paragraphs
from bench.xquad_pdfs import render_all
from config import Settings, load_settings
from crag.assembly import House, answer_now, open_house
from crag.events import BuildFinished, Finished
from crag.plain_rag import PLAIN_K, plain_quotes
from crag.retrieval import retrieve
from crag.schema import Trace


@dataclass(frozen=True)
class Asked:
    """One question with what both made of it."""

    question: Question
    indexed: bool
    """Whether its article is in the index; otherwise it is on the web."""
    trace: Trace
    plain: str
    searches: tuple[Search, ...]


async def trace_of(house: House, settings: Settings, question: Question) -> Trace:
    async for event in answer_now(house, settings, question.text, question.id):
        if isinstance(event, Finished):
            return event.trace
    raise AssertionError("a turn ends with its trace")


def plain_rag(house: House, settings: Settings, question: str) -> str:
    """Plain RAG's answer from the same index."""
    vector = house.embedder.embed_query(question)
    with house.knowledge_base.snapshot() as index:
        documents = retrieve(index, question, vector, PLAIN_K, settings.fusion_constant)
    vectors = house.knowledge_base.load(documents)
    strips = {strip.text: vectors.get(strip.id) for document in documents for strip in document.strips}
    known = {text: stored for text, stored in strips.items() if stored is not None}
    return "\n".join(plain_quotes(house.embedder, question, list(strips), known))


async def ask_all(
    settings: Settings, asking: list[Question], indexed: frozenset[str], web: SimulatedWeb
) -> list[Asked]:
    """Builds what lies in `files_dir`, then puts every question to both."""
    house, found = open_house(settings), []
    try:
        for event in house.knowledge_base.build():
            if isinstance(event, BuildFinished):
                print(f"  built: {event.files} files, {event.passages} passages, {event.failed} failed", flush=True)
        for question in asking:
            before = len(web.searches)
            trace = await trace_of(house, settings, question)
            searches = tuple(web.searches[before:])
            plain = plain_rag(house, settings, question.text)
            found.append(Asked(question, question.article in indexed, trace, plain, searches))
    finally:
        house.close()
    return found


def measure(language: str, args: argparse.Namespace, folder: Path) -> list[Asked]:
    """All questions of a language against one split of the articles, or with `--both` against both."""
    everything = paragraphs(args.data, language)
    half = half_of({paragraph.article for paragraph in everything}, args.seed)
    splits = [half, frozenset(p.article for p in everything) - half]
    asking, found = chosen(args, language), []
    for number, indexed in enumerate(splits if args.both else splits[:1]):
        place = folder / f"{language}{number}"
        render_all(args.data, place / "Files", language, indexed)
        with simulated_web(pages_of(p for p in everything if p.article not in indexed)) as web:
            settings = load_settings(
                files_dir=place / "Files",
                chroma_dir=place / "chroma_db",
                data_dir=place,
                web_provider="tavily",
                web="auto",
                tavily_url=web.url,
                tavily_api_key=web.key,
            )
            found += asyncio.run(ask_all(settings, asking, indexed, web))
    return found


def report(name: str, found: list[Asked]) -> None:
    """Prints everything about one language."""
    print(f"{name}: {len(found)} questions, {sum(asked.indexed for asked in found)} of them of indexed articles")
    for where, rows in (
        ("all", found),
        ("in the index", [asked for asked in found if asked.indexed]),
        ("on the web", [asked for asked in found if not asked.indexed]),
    ):
        if not rows:
            continue
        answer_lines(f"{where}, CRAG", [(asked.question, quoted(asked.trace)) for asked in rows])
        answer_lines(f"{where}, plain RAG", [(asked.question, asked.plain) for asked in rows])
        crag = [holds_answer(asked.question, quoted(asked.trace)) for asked in rows]
        plain = [holds_answer(asked.question, asked.plain) for asked in rows]
        points, low, high = paired_difference(crag, plain, [asked.question.id for asked in rows])
        print(f"  {where}: CRAG - plain RAG {points:+.1f} points [{low:+.1f}, {high:+.1f}]")
    for where, rows in (
        ("in the index", [asked for asked in found if asked.indexed]),
        ("on the web", [asked for asked in found if not asked.indexed]),
    ):
        action_lines(f"{where}, action", [asked.trace for asked in rows])
        searched = [asked for asked in rows if asked.searches]
        line(f"{where}: the web was searched", len(searched), len(rows))
        line(
            f"{where}: of these, a result holds the answer",
            sum(any(holds_answer(a.question, page.text) for s in a.searches for page in s.pages) for a in searched),
            len(searched),
        )
    print(f"  web searches per question {sum(len(asked.searches) for asked in found) / max(1, len(found)):.2f}")
    failed = Counter(a.trace.web.error for a in found if a.trace.web and a.trace.web.error)
    print(f"  failed searches {dict(failed)}, errors {dict(Counter(a.trace.error for a in found if a.trace.error))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    question_arguments(parser)
    parser.add_argument("--both", action="store_true", help="also with the other half of the articles in the index")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for language in args.language or ("en", "zh"):
            report(language, measure(language, args, Path(folder)))


if __name__ == "__main__":
    main()
