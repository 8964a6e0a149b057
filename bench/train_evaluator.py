"""Trains the lightweight evaluator on XQuAD as retrieved, and writes crag/data/lightweight.json.

    python -m bench.train_evaluator --data DIR [--seeds 4] [--k 8] [--dry-run]

The PDFs of 48 articles are read and cut by the real loader and chunker, half of the articles (chosen by a seed) are
indexed, every question retrieves k documents by the real fusion. So half of the questions have no answer in the
index. Articles fall into two fixed halves by a hash: one trains, the other only tests (`decisions.py` reports on
it). Document label: the passage holds the answer string in a sentence of the gold paragraph. Passages of the right
article that hold the string elsewhere are left out. Strip label: likewise, for strips.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from bench._xquad import (
    CachedEmbedder,
    MemoryIndex,
    Question,
    data_argument,
    documents_of,
    fold_of,
    half_of,
    holds_answer,
    paragraphs,
    plain,
    questions,
    share,
)
from config import load_settings
from crag.embedding.base import Vectors
from crag.embedding.loading import load_embedder
from crag.evaluator.features import DOCUMENT, STRIP, Asked, centred, features
from crag.evaluator.lightweight import CROSSED_MOST, logistic
from crag.knowledge_base.chunker import embedding_text
from crag.retrieval import retrieve
from crag.schema import Document

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "crag" / "data" / "lightweight.json"
PAIRS = {"en": [("en", "en")], "zh": [("zh", "zh")], "crossed": [("zh", "en"), ("en", "zh")]}
"""(language of the question, of the documents) that each head is trained on."""
DOCUMENT_WEIGHT = {"en": 3.5, "zh": 3.5, "crossed": 8.0}
"""Weight of documents that hold the answer. One in 15 retrieved ones does; unweighted, too many would be INCORRECT.
Across languages, where nothing is CORRECT, a question shall rather be AMBIGUOUS than INCORRECT."""
STRIP_WEIGHT = 25.0
"""Weight of strips that hold the answer: a dropped answer costs more than a sentence too many."""


@dataclass(frozen=True)
class Graded:
    """One retrieved document of one question; label None: left out of training."""

    document: list[float]
    label: int | None
    strips: list[list[float]]
    strip_labels: list[int]


@dataclass(frozen=True)
class Case:
    """A question with what was retrieved for it from one half of the articles."""

    question: Question
    held_out: bool
    covered: bool
    documents: list[Graded]


def held_out(article: str) -> bool:
    """Whether an article only tests."""
    return fold_of(article, 2) == 1


class Corpus:
    """One language's documents with their vectors, and features by (question, document), computed once."""

    def __init__(self, data: Path, language: str, embedder: CachedEmbedder) -> None:
        self.articles = documents_of(data, language)
        documents = [document for group in self.articles.values() for document in group]
        self.gold = {p.id: plain(p.text) for p in paragraphs(data, language)}
        self.answers = {q.id: q for q in questions(data, language)}
        texts = [embedding_text(document.heading, document.text) for document in documents]
        self.vectors = dict(zip([d.id for d in documents], embedder.embed_passages(texts), strict=True))
        strips = {strip.id: strip.text for document in documents for strip in document.strips}
        self.vectors.update(zip(strips, embedder.embed_passages(list(strips.values())), strict=True))
        asking = [q.text for q in questions(data, language) if not held_out(q.article)]
        training = [d for article, group in self.articles.items() if not held_out(article) for d in group]
        ids = {d.id for d in training} | {strip.id for d in training for strip in d.strips}
        self.means = {
            "question": np.mean([embedder.embed_query(text) for text in asking], axis=0, dtype=np.float64),
            "text": np.mean([self.vectors[id_] for id_ in sorted(ids)], axis=0, dtype=np.float64),
        }
        self.means = {kind: mean.round(5).astype(np.float32) for kind, mean in self.means.items()}

    def index(self, articles: frozenset[str]) -> MemoryIndex:
        documents = [d for article in sorted(articles) for d in self.articles[article]]
        return MemoryIndex(documents, np.stack([self.vectors[d.id] for d in documents]).astype(np.float32))

    def graded(self, asked: Asked, question: Question, document: Document) -> Graded:
        answered = self.answers[question.id]
        gold = self.gold[question.paragraph]
        texts = [strip.text for strip in document.strips]
        labels = [int(holds_answer(answered, text) and plain(text) in gold) for text in texts]
        right_article = any(document.id == other.id for other in self.articles[question.article])
        elsewhere = right_article and not any(labels) and holds_answer(answered, document.text)
        vectors = np.stack([self.vectors[document.id], *(self.vectors[strip.id] for strip in document.strips)])
        vectors = centred(vectors.astype(np.float32), self.means["text"])
        rows = features(asked, document.heading, document.text, texts, vectors[0], vectors[1:])
        return Graded(rows[0], None if elsewhere else int(any(labels)), rows[1], labels)


def cases(
    corpus: Corpus, asking: Sequence[Question], mean: Vectors, embedder: CachedEmbedder, seeds: int, k: int
) -> list[Case]:
    """Every question against both halves of the articles, for each seed; `mean` is that of the questions' vectors."""
    vectors = {q.id: embedder.embed_query(q.text).astype(np.float32) for q in asking}
    asked = {q.id: Asked(q.text, centred(vectors[q.id], mean)) for q in asking}
    known: dict[tuple[str, str], Graded] = {}
    found = []
    for seed in range(seeds):
        half = half_of(corpus.articles, seed)
        for articles in (half, frozenset(corpus.articles) - half):
            index = corpus.index(articles)
            for q in asking:
                documents = retrieve(index, q.text, vectors[q.id], k)
                for document in documents:
                    if (q.id, document.id) not in known:
                        known[q.id, document.id] = corpus.graded(asked[q.id], q, document)
                rows = [known[q.id, document.id] for document in documents]
                found.append(Case(q, held_out(q.article), q.article in articles, rows))
    return found


def fit(rows: Sequence[Sequence[float]], labels: Sequence[int], positive_weight: float = 1.0) -> list[float]:
    """Intercept and coefficients on the raw features of a regression fitted on standardised ones."""
    x, y = np.array(rows), np.array(labels)
    mean, scale = x.mean(0), x.std(0) + 1e-9
    model = LogisticRegression(C=1.0, max_iter=1000, class_weight={0: 1.0, 1: positive_weight})
    model.fit((x - mean) / scale, y)
    w = model.coef_[0] / scale
    return [float(model.intercept_[0] - w @ mean), *map(float, w)]


def train(name: str, examples: Sequence[Case]) -> dict[str, list[float]]:
    """Both heads from the cases that are not held out."""
    documents = [d for case in examples if not case.held_out for d in case.documents if d.label is not None]
    strips = [pair for d in documents for pair in zip(d.strips, d.strip_labels, strict=True)]
    return {
        "document": fit([d.document for d in documents], [d.label or 0 for d in documents], DOCUMENT_WEIGHT[name]),
        "strip": fit([row for row, _ in strips], [label for _, label in strips], STRIP_WEIGHT),
    }


def report(name: str, heads: dict[str, list[float]], examples: Sequence[Case]) -> dict[str, float]:
    """Prints and returns the figures on held-out articles."""
    test = [case for case in examples if case.held_out]
    pairs = [
        (logistic(heads["document"], d.document), d.label) for c in test for d in c.documents if d.label is not None
    ]
    scores, labels = np.array([p for p, _ in pairs]), np.array([y for _, y in pairs])
    covered = [c for c in test if c.covered]
    missing = [c for c in test if not c.covered]
    most = CROSSED_MOST if name == "crossed" else 1.0
    best = {id(c): min(most, max(logistic(heads["document"], d.document) for d in c.documents)) for c in test}
    kept = sum(_kept(c, heads) for c in covered)
    figures = {
        "accuracy": float(((scores >= 0.5) == labels).mean()),
        "auc": float(roc_auc_score(labels, scores)),
        "recall": sum(any(d.label for d in c.documents) for c in covered) / len(covered),
        "answerable_correct": sum(best[id(c)] >= 0.7 for c in covered) / len(covered),
        "answerable_incorrect": sum(best[id(c)] < 0.3 for c in covered) / len(covered),
        "missing_correct": sum(best[id(c)] >= 0.7 for c in missing) / len(missing),
        "missing_incorrect": sum(best[id(c)] < 0.3 for c in missing) / len(missing),
        "answer_kept": kept / len(covered),
        "answer_quoted": sum(_kept(c, heads, top=3) for c in covered) / len(covered),
    }
    print(f"{name}: {len(test)} held-out cases, {len(pairs)} documents")
    print("  " + "  ".join(f"{key} {value:.3f}" for key, value in figures.items()))
    print(f"  answer kept {share(kept, len(covered))}")
    return {key: round(value, 4) for key, value in figures.items()}


def _kept(case: Case, heads: dict[str, list[float]], upper: float = 0.5, top: int = 8) -> bool:
    """Whether refinement at the default thresholds keeps a strip with the answer."""
    scored = [(logistic(heads["document"], d.document), d) for d in case.documents]
    scored = [(score, d) for score, d in scored if score >= 0.3]
    strips = [
        (logistic(heads["strip"], row), label)
        for _, d in scored
        for row, label in zip(d.strips, d.strip_labels, strict=True)
    ]
    best = sorted((pair for pair in strips if pair[0] >= upper), key=lambda pair: -pair[0])[:top]
    if not best and scored:
        d = max(scored, key=lambda pair: pair[0])[1]
        best = [max(zip((logistic(heads["strip"], r) for r in d.strips), d.strip_labels, strict=True))]
    return any(label for _, label in best)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    data_argument(parser)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--k", type=int, default=8)
    parser.add_argument("--vectors", type=Path, default=Path(tempfile.gettempdir(), "crag-bench-vectors"))
    parser.add_argument("--dry-run", action="store_true", help="print the figures, write nothing")
    args = parser.parse_args()
    data = args.data
    embedder = CachedEmbedder(load_embedder(load_settings().cache_dir, 0, None).embedder, args.vectors)
    corpora = {language: Corpus(data, language, embedder) for language in ("en", "zh")}
    heads, figures = {}, {}
    for name, pairs in PAIRS.items():
        found = []
        for asking, documents in pairs:
            mean = corpora[asking].means["question"]
            found += cases(corpora[documents], questions(data, asking), mean, embedder, args.seeds, args.k)
        embedder.save()
        heads[name] = train(name, found)
        figures[name] = report(name, heads[name], found)
    if not args.dry_run:
        means = {language: corpus.means for language, corpus in corpora.items()}
        TARGET.write_text(packed(shipped(heads, means, figures, embedder.fingerprint, args)))
        print(f"written: {TARGET}")


def shipped(heads: dict, means: dict, figures: dict, fingerprint: str, args: argparse.Namespace) -> dict:
    """The file that ships: coefficients and where they come from."""
    return {
        "about": "Coefficients of crag/evaluator/lightweight.py: intercept, then one per feature.",
        "data": "XQuAD en and zh (Artetxe, Ruder, Yogatama, ACL 2020; from SQuAD 1.1, Wikipedia)",
        "licence": "CC BY-SA 4.0 (data); the coefficients are derived figures",
        "script": f"python -m bench.train_evaluator --seeds {args.seeds} --k {args.k}",
        "idf_sha256": hashlib.sha256((TARGET.parent / "idf.tsv.gz").read_bytes()).hexdigest(),
        "embedder": fingerprint,
        "versions": {
            "python": ".".join(map(str, sys.version_info[:2])),
            "scikit-learn": importlib.metadata.version("scikit-learn"),
            "numpy": np.__version__,
        },
        "features": {"document": DOCUMENT, "strip": STRIP},
        "held_out": figures,
        "heads": {
            name: {head: [round(w, 5) for w in weights] for head, weights in both.items()}
            for name, both in heads.items()
        },
        "means": {
            language: {kind: [round(float(x), 5) for x in mean] for kind, mean in kinds.items()}
            for language, kinds in means.items()
        },
    }


def packed(found: dict) -> str:
    """JSON with one line per list of numbers."""
    text = json.dumps(found, indent=1, ensure_ascii=False)
    return re.sub(r"\[[^\[\]{}]*\]", lambda match: " ".join(match.group().split()), text) + "\n"


if __name__ == "__main__":
    main()
