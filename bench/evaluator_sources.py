"""How the shipped evaluator does on sources that it never saw: accuracy and AUC per family of grader_train.jsonl.

    python -m bench.evaluator_sources --data DIR [--per-source 60]

For information: many negatives there are near-topic passages, and the labels hold 2-8 % noise.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections import defaultdict

from sklearn.metrics import roc_auc_score

from bench._xquad import data_argument, read_jsonl, share
from config import load_settings
from crag.embedding.loading import load_embedder
from crag.evaluator.lightweight import LightweightEvaluator
from crag.refinement import decompose
from crag.schema import Document, Span


def document(text: str) -> Document:
    span = Span(page=1, start=0, end=len(text))
    strips = tuple(strip.model_copy(update={"spans": (span,)}) for strip in decompose(text))
    return Document(id="d", content="c", files=("a.pdf",), text=text, spans=(span,), strips=strips)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    data_argument(parser)
    parser.add_argument("--per-source", type=int, default=60)
    args = parser.parse_args()
    evaluator = LightweightEvaluator(load_embedder(load_settings().cache_dir).embedder)
    by_source = defaultdict(list)
    for row in read_jsonl(args.data / "grader_train.jsonl"):
        if row["source"] != "XQuAD":
            by_source[row["source"]].append(row)
    everything: list[tuple[float, int]] = []
    for source, rows in sorted(by_source.items()):
        chosen = random.Random(0).sample(rows, min(args.per_source, len(rows)))
        found = []
        for row in chosen:
            (grade,) = await evaluator.grade(row["question"], [document(row["passage"])])
            found.append((grade.document.score or 0.0, row["label"]))
        everything += found
        print_line(source, found)
    print_line("all", everything)


def print_line(name: str, found: list[tuple[float, int]]) -> None:
    right = sum((score >= 0.5) == bool(label) for score, label in found)
    auc = roc_auc_score([label for _, label in found], [score for score, _ in found])
    surely_wrong = sum(score >= 0.7 and not label for score, label in found)
    print(
        f"{name:<24} AUC {auc:.3f}  accuracy {share(right, len(found))}  negatives >= 0.7: {surely_wrong}", flush=True
    )


if __name__ == "__main__":
    asyncio.run(main())
