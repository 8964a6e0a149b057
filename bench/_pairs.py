"""The labelled pairs of `grader_train.jsonl`: ten sources in seven families, with the evaluator's features."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench._xquad import CachedEmbedder, read_jsonl
from crag.embedding.base import Vectors
from crag.evaluator.features import Asked, centred, features
from crag.refinement import decompose
from crag.text import language

FAMILIES = {
    "XQuAD": "SQuAD",
    "ExpMRC-SQuAD": "SQuAD",
    "SQuAD2-part": "SQuAD",
    "PubMedQA": "medicine",
    "COVID-QA": "medicine",
    "TAT-QA": "finance",
    "CMRC2018": "CMRC",
    "DRCD": "DRCD",
    "HaluEval-QA": "HaluEval",
    "CLAPnq-train-answers": "CLAPnq",
}
"""Sources that share texts or questions are one family: it is left out as a whole."""

Means = dict[str, dict[str, Vectors]]
"""By language and by "question" or "text"."""


@dataclass(frozen=True)
class Pair:
    """A question with a passage; `row` is its number in the file, from 0."""

    row: int
    source: str
    question: str
    passage: str
    strips: tuple[str, ...]
    label: int

    @property
    def family(self) -> str:
        return FAMILIES[self.source]

    @property
    def asked_in(self) -> str:
        return language(self.question)

    @property
    def written_in(self) -> str:
        return language(self.passage)


def read_pairs(data: Path, per_source: int, seed: int = 1) -> list[Pair]:
    """About `per_source` pairs of every source: whole questions with all their passages, chosen by the seed."""
    by_question: dict[str, dict[str, list[Pair]]] = defaultdict(lambda: defaultdict(list))
    for number, row in enumerate(read_jsonl(data / "grader_train.jsonl")):
        strips = tuple(strip.text for strip in decompose(row["passage"])) or (row["passage"],)
        pair = Pair(number, row["source"], row["question"], row["passage"], strips, row["label"])
        by_question[pair.source][pair.question].append(pair)
    found: list[Pair] = []
    for _, questions in sorted(by_question.items()):
        order = sorted(questions)
        random.Random(seed).shuffle(order)
        chosen: list[Pair] = []
        for question in order:
            if len(chosen) >= per_source:
                break
            chosen += questions[question]
        found += chosen
    return found


def means_of(pairs: Iterable[Pair], embedder: CachedEmbedder) -> Means:
    """What the vectors of questions, and of passages and strips, have in common in each language."""
    asked: dict[str, set[str]] = {"en": set(), "zh": set()}
    written: dict[str, set[str]] = {"en": set(), "zh": set()}
    for pair in pairs:
        asked[pair.asked_in].add(pair.question)
        written[pair.written_in].update((pair.passage, *pair.strips))
    found: Means = {}
    for lang in ("en", "zh"):
        questions = [embedder.embed_query(text) for text in sorted(asked[lang])]
        texts = embedder.embed_passages(sorted(written[lang]))
        both = {
            "question": np.mean(questions, axis=0, dtype=np.float64),
            "text": np.mean(texts, axis=0, dtype=np.float64),
        }
        found[lang] = {kind: mean.round(5).astype(np.float32) for kind, mean in both.items()}
    return found


def document_features(pairs: Sequence[Pair], means: Means, embedder: CachedEmbedder) -> np.ndarray:
    """Shape (pairs, document features)."""
    rows = []
    for pair in pairs:
        vector = embedder.embed_query(pair.question).astype(np.float32)
        asked = Asked(pair.question, centred(vector, means[pair.asked_in]["question"]))
        vectors = embedder.embed_passages([pair.passage, *pair.strips]).astype(np.float32)
        vectors = centred(vectors, means[pair.written_in]["text"])
        rows.append(features(asked, "", pair.passage, pair.strips, vectors[0], vectors[1:])[0])
    return np.array(rows)


def left_out(pairs: Sequence[Pair], family: str) -> np.ndarray:
    """Mask of the pairs that may train when `family` is tested: of other families, sharing no passage with it."""
    passages = {pair.passage for pair in pairs if pair.family == family}
    return np.array([pair.family != family and pair.passage not in passages for pair in pairs])
