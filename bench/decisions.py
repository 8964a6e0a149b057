"""Measures retrieval, decisions and refinement on XQuAD through the real pipeline: PDFs, build, question, trace.

    python -m bench.decisions --data DIR [--language en] [--seed 0] [--limit N]

Half of the 48 articles (chosen by the seed) are rendered as PDFs and built into a knowledge base, then the other half
into a second one. Every question of the held-out articles (those that `train_evaluator.py` never trained on) is put to
both: to one it is answerable, to the other its article is missing. Shares are given with 95 % Wilson intervals.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from bench._cases import held_out
from bench._xquad import Question, data_argument, half_of, holds_answer, paragraphs, questions, share
from bench.xquad_pdfs import render_all
from config import Settings, load_settings
from crag.assembly import answer_now, open_house
from crag.events import Finished
from crag.schema import Action, Trace


@dataclass(frozen=True)
class Asked:
    question: Question
    covered: bool
    file: str | None
    """The PDF of its article, None where that is missing."""
    trace: Trace


async def ask_all(settings: Settings, asking: list[Question], names: dict[str, str]) -> list[Asked]:
    """Builds what lies in `files_dir` and puts every question to it."""
    house = open_house(settings)
    found = []
    try:
        for event in house.knowledge_base.build():
            last = event
        print(f"  built: {last.files} files, {last.passages} passages, {last.failed} failed")  # type: ignore[union-attr]
        for question in asking:
            async for event in answer_now(house, settings, question.text, question.id):
                if isinstance(event, Finished):
                    name = names.get(question.article)
                    found.append(Asked(question, name is not None, name, event.trace))
    finally:
        house.close()
    return found


def retrieved(asked: Asked) -> bool:
    """Whether a document of the first look, from the right file, holds the answer."""
    first = set(asked.trace.decisions[0].documents) if asked.trace.decisions else set()
    documents = (document for document in asked.trace.documents if document.id in first and document.file == asked.file)
    return any(holds_answer(asked.question, document.text) for document in documents)


def refined(asked: Asked) -> bool:
    """Whether the knowledge holds the answer, in a source of the right file."""
    return any(s.file == asked.file and holds_answer(asked.question, s.text) for s in asked.trace.sources)


def report(name: str, found: list[Asked]) -> None:
    covered = [asked for asked in found if asked.covered]
    missing = [asked for asked in found if not asked.covered]
    print(f"{name}: {len(covered)} answerable questions, {len(missing)} of missing articles, held-out articles only")

    def line(label: str, hits: int, n: int) -> None:
        print(f"  {label:<58}{share(hits, n)}")

    line("recall@k, answer in a document of the right file", sum(map(retrieved, covered)), len(covered))
    for group, rows in (("answerable", covered), ("missing", missing)):
        for look, label in ((0, "first look"), (-1, "final")):
            actions = Counter(asked.trace.decisions[look].action for asked in rows if asked.trace.decisions)
            for action in Action:
                line(f"{group}, {label}: {action}", actions[action], len(rows))
    line("answerable: refined context holds the answer", sum(map(refined, covered)), len(covered))
    line(
        "answerable: the answer quotes it", sum(holds_answer(a.question, a.trace.answer) for a in covered), len(covered)
    )
    second = [asked.trace for asked in found if len(asked.trace.decisions) == 2]
    fresh = [len(set(t.decisions[1].documents) - set(t.decisions[0].documents)) for t in second]
    changed = sum(t.decisions[1].action is not Action.INCORRECT for t in second)
    mean = sum(fresh) / max(1, len(fresh))
    print(f"  second looks {len(second)}, new documents per look {mean:.1f}, action changed by it {changed}")
    undecided = sum(not asked.trace.decisions for asked in found)
    print(f"  undecided {undecided}, errors {Counter(a.trace.error for a in found if a.trace.error)}")
    for stage in ("embed", "retrieve", "grade", "refine", "generate", "check"):
        seconds = sorted(asked.trace.timings.get(stage, 0.0) for asked in found)
        print(f"  {stage}: median {1000 * seconds[len(seconds) // 2]:.1f} ms")


def measure(language: str, args: argparse.Namespace, folder: Path) -> list[Asked]:
    articles = {paragraph.article for paragraph in paragraphs(args.data, language)}
    half = half_of(articles, args.seed)
    asking = [question for question in questions(args.data, language) if held_out(question.article)][: args.limit]
    found = []
    for number, indexed in enumerate((half, frozenset(articles) - half)):
        place = folder / f"{language}{number}"
        names = render_all(args.data, place / "Files", language, indexed)
        settings = load_settings(files_dir=place / "Files", chroma_dir=place / "chroma_db", data_dir=place)
        found += asyncio.run(ask_all(settings, asking, names))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    data_argument(parser)
    parser.add_argument("--language", choices=("en", "zh"), action="append", help="repeatable; default both")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--limit", type=int, help="at most so many questions per half")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for language in args.language or ("en", "zh"):
            report(language, measure(language, args, Path(folder)))


if __name__ == "__main__":
    main()
