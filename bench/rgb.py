"""RGB (Chen et al., AAAI 2024): noise robustness, negative rejection, integration, counterfactual documents.

    python -m bench.rgb --data DIR [--limit N]

RGB brings its own retrieved snippets, so there is no index: the documents of each question are graded directly, and
the action, the refinement and the quoting follow as in the product (no second look, no web). Read from `--data` only:
its licence, CC BY-NC-SA 4.0, forbids shipping it. Measured are
- *documents*: accuracy at 0.5 and AUC of the document scores, positive against negative;
- *noise robustness*: the action with positives and negatives together, whether k and the quotes hold the answer;
- *negative rejection*: the action with the negatives alone; INCORRECT rejects, anything that is quoted is false;
- *integration* (zh): answers that need several documents; all of its documents together, whether k holds a snippet of
  every part (by the part's own positives) and the quotes too;
- *counterfactual* (zh): positives in which the answer was replaced by a false one. An evaluator of relevance knows no
  facts and is not meant to see this: measured is whether it scores the false document like the true one, what is
  quoted where both are there, and where the false one stands alone.
Labels are by answer string: about 30 % of the English negatives do answer, in other words, which lowers what can be
reached. Shares with 95 % Wilson intervals.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import random
import re
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sklearn.metrics import roc_auc_score

from bench._answers import line
from bench._xquad import data_argument, read_jsonl
from config import Settings, load_settings
from crag.action_trigger import decide
from crag.assembly import open_house
from crag.evaluation.matching import holds
from crag.evaluator.base import Evaluator
from crag.generator.extractive import best_strips
from crag.refinement import decompose, ledger, recompose, select
from crag.schema import Action, Document, DocumentGrade, GradedDocument, Span, Thresholds

Row = dict[str, Any]
Graded = tuple[Document, DocumentGrade]


@dataclass(frozen=True)
class Outcome:
    """What the product makes of some graded documents."""

    action: Action
    knowledge: str
    quotes: str
    """The quoted strips, a line each; empty where k is."""


def document(number: int, text: str) -> Document:
    """A snippet as a document, a file of its own with one page; ids derive from the text."""
    content = hashlib.sha256(text.encode()).hexdigest()
    strips, at = [], 0
    for strip in decompose(text):
        start = max(text.find(strip.text[:20], at), at)
        at = start + len(strip.text)
        strips.append(strip.model_copy(update={"id": f"{content[:12]}-{strip.id}", "spans": (_span(start, at),)}))
    return Document(
        id=content[:32],
        content=content,
        files=(f"{number:04}.pdf",),
        text=text,
        spans=(_span(0, len(text)),),
        strips=tuple(strips),
    )


def _span(start: int, end: int) -> Span:
    return Span(page=1, start=start, end=end)


async def graded(evaluator: Evaluator, row: Row, texts: Sequence[str]) -> list[Graded]:
    documents = [document(number, text) for number, text in enumerate(texts)]
    return list(zip(documents, await evaluator.grade(row["question"], documents), strict=True))


def outcome(row: Row, found: Sequence[Graded], thresholds: Thresholds, quotes: int) -> Outcome:
    """Decide, refine and quote."""
    documents = [GradedDocument.of(document, grade.document, thresholds) for document, grade in found]
    decision = decide(documents, thresholds, row["question"])
    action = decision.action if decision else Action.INCORRECT
    strips = ledger([document for document, _ in found], [grade for _, grade in found])
    knowledge = recompose(select(documents, strips, thresholds, action))
    chosen = best_strips(knowledge.strips, quotes) if knowledge.sources else []
    return Outcome(action, "\n".join(s.text for s in knowledge.sources), "\n".join(s.text for s in chosen))


def held(answers: Sequence[str], text: str) -> bool:
    """Whether one of the answers stands in `text`; "A,B" in RGB's Chinese sets means A or B."""
    spellings = [spelling for answer in answers for spelling in re.split(r"[,，](?=[^\d\s])", answer)]
    return any(holds(spelling, text) for spelling in [*answers, *spellings])


def actions(label: str, outcomes: Sequence[Outcome]) -> None:
    for action in Action:
        line(f"{label}: {action}", sum(o.action is action for o in outcomes), len(outcomes))


class Bench:
    """The evaluator and the thresholds of the product."""

    def __init__(self, evaluator: Evaluator, settings: Settings) -> None:
        self.evaluator, self.thresholds, self.quotes = evaluator, settings.thresholds, settings.quotes

    async def grades(self, row: Row, texts: Sequence[str]) -> list[Graded]:
        return await graded(self.evaluator, row, texts)

    def outcome(self, row: Row, found: Sequence[Graded]) -> Outcome:
        return outcome(row, found, self.thresholds, self.quotes)


async def noise(name: str, rows: Sequence[Row], bench: Bench) -> None:
    """Documents, noise robustness and negative rejection."""
    scores, labels, mixed, alone = list[float](), list[int](), list[Outcome](), list[Outcome]()
    for row in rows:
        found = await bench.grades(row, [*row["positive"], *row["negative"]])
        n = len(row["positive"])
        scores += [grade.document.score or 0.0 for _, grade in found]
        labels += [1] * n + [0] * (len(found) - n)
        mixed.append(bench.outcome(row, found))
        alone.append(bench.outcome(row, found[n:]))
    print(f"{name}: {len(rows)} questions, {sum(labels)} positive and {len(labels) - sum(labels)} negative documents")
    right = sum((score >= 0.5) == bool(label) for score, label in zip(scores, labels, strict=True))
    line("documents: accuracy at 0.5", right, len(labels))
    print(f"  documents: AUC {roc_auc_score(labels, scores):.3f}")
    answered = list(zip(rows, mixed, strict=True))
    actions("noise robustness (positives and negatives)", mixed)
    line("noise robustness: k holds the answer", sum(held(r["answers"], o.knowledge) for r, o in answered), len(rows))
    line("noise robustness: the quotes hold it", sum(held(r["answers"], o.quotes) for r, o in answered), len(rows))
    actions("negatives alone", alone)
    line("negative rejection: refuses", sum(not o.quotes for o in alone), len(rows))


async def integration(rows: Sequence[Row], bench: Bench) -> None:
    """Answers of several parts, each with positives of its own."""
    every, of_k, of_quotes, parts = list[Outcome](), [], [], 0
    for row in rows:
        texts = [text for group in row["positive_groups"] for text in group] + row["negative"]
        found = await bench.grades(row, texts)
        every.append(bench.outcome(row, found))
        # a part is held where an answer that its own positives hold is held
        groups = row["positive_groups"]
        wanted = [
            answers for group in groups if (answers := [a for a in row["answers"] if held([a], "\n".join(group))])
        ]
        parts += len(wanted)
        of_k.append([held(answers, every[-1].knowledge) for answers in wanted])
        of_quotes.append([held(answers, every[-1].quotes) for answers in wanted])
    print(f"zh integration: {len(rows)} questions of {parts} parts, all positives and negatives together")
    actions("integration", every)
    line("integration: parts of the answer in k", sum(map(sum, of_k)), parts)
    line("integration: k holds all parts", sum(map(all, of_k)), len(rows))
    line("integration: the quotes hold all parts", sum(map(all, of_quotes)), len(rows))


async def counterfactual(rows: Sequence[Row], bench: Bench) -> None:
    """True positives against the same with a false answer."""
    pairs, alone, both = list[tuple[float, float]](), list[Outcome](), list[Outcome]()
    for row in rows:
        true, n = row["positive"], len(row["positive"])
        found = await bench.grades(row, [*true, *row["positive_wrong"], *row["negative"]])
        scores = [grade.document.score or 0.0 for _, grade in found]
        pairs += zip(scores[:n], scores[n : 2 * n], strict=True)
        alone.append(bench.outcome(row, found[n:]))
        both.append(bench.outcome(row, found))
    print(f"zh counterfactual: {len(rows)} questions, {len(pairs)} documents, each also with a false answer")
    difference = statistics.mean(true - false for true, false in pairs)
    print(f"  score of the true minus of the false document: mean {difference:+.3f}")
    line("the false document scores lower", sum(false < true for true, false in pairs), len(pairs))
    actions("false documents and negatives", alone)
    asked = list(zip(rows, alone, both, strict=True))
    line("false documents alone: the quotes hold the false answer", sum(_false(r, o) for r, o, _ in asked), len(rows))
    line("both: the quotes hold the true answer", sum(held(r["answers"], o.quotes) for r, _, o in asked), len(rows))
    line("both: the quotes hold the false one", sum(_false(r, o) for r, _, o in asked), len(rows))


def _false(row: Row, found: Outcome) -> bool:
    return holds(row["fake_answer"], found.quotes)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    data_argument(parser)
    parser.add_argument("--limit", type=int, help="at most so many questions per set, drawn at random")
    args = parser.parse_args()
    print("Labels are by answer string: about 30 % of the English negatives do answer the question in other words.")
    with tempfile.TemporaryDirectory() as folder:  # an empty knowledge base of its own
        settings = load_settings(
            files_dir=Path(folder, "Files"), chroma_dir=Path(folder, "chroma_db"), data_dir=Path(folder)
        )
        house = open_house(settings)
        try:
            await measure(args, Bench(house.evaluator, settings))
        finally:
            house.close()


async def measure(args: argparse.Namespace, bench: Bench) -> None:
    """All four sets."""

    def rows(name: str) -> list[Row]:
        found = read_jsonl(args.data / f"rgb_{name}.jsonl")
        return random.Random(0).sample(found, min(args.limit or len(found), len(found)))

    await noise("en", rows("en_dev"), bench)
    await noise("zh", rows("zh_dev"), bench)
    await integration(rows("zh_integration"), bench)
    await counterfactual(rows("zh_counterfactual"), bench)


if __name__ == "__main__":
    asyncio.run(main())
