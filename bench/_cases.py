"""XQuAD as retrieved: every question with the documents that half of the articles give, labelled, with features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench._pairs import Means
from bench._xquad import (
    CachedEmbedder,
    MemoryIndex,
    Question,
    documents_of,
    fold_of,
    half_of,
    holds_answer,
    paragraphs,
    plain,
    questions,
)
from crag.evaluator.features import Asked, centred, features
from crag.knowledge_base.chunker import embedding_text
from crag.retrieval import retrieve
from crag.schema import Document
from crag.text import language


@dataclass(frozen=True)
class Graded:
    """One retrieved document of one question; label None: it holds the answer string, but not where it was asked."""

    document: Document
    features: list[float]
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
    """One language's documents with their vectors, centred by `means`."""

    def __init__(self, data: Path, language: str, embedder: CachedEmbedder, means: Means) -> None:
        self.articles = documents_of(data, language)
        documents = [document for group in self.articles.values() for document in group]
        self.gold = {p.id: plain(p.text) for p in paragraphs(data, language)}
        self.answers = {q.id: q for q in questions(data, language)}
        texts = [embedding_text(document.heading, document.text) for document in documents]
        self.vectors = dict(zip([d.id for d in documents], embedder.embed_passages(texts), strict=True))
        strips = {strip.id: strip.text for document in documents for strip in document.strips}
        self.vectors.update(zip(strips, embedder.embed_passages(list(strips.values())), strict=True))
        self.mean = means[language]["text"]

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
        vectors = centred(vectors.astype(np.float32), self.mean)
        rows = features(asked, document.heading, document.text, texts, vectors[0], vectors[1:])
        return Graded(document, rows[0], None if elsewhere else int(any(labels)), rows[1], labels)


def cases(
    corpus: Corpus, asking: Sequence[Question], means: Means, embedder: CachedEmbedder, seeds: int, k: int
) -> list[Case]:
    """Every question against both halves of the articles, for each seed."""
    vectors = {q.id: embedder.embed_query(q.text).astype(np.float32) for q in asking}
    known: dict[tuple[str, str], Graded] = {}
    found = []
    for seed in range(seeds):
        half = half_of(corpus.articles, seed)
        for articles in (half, frozenset(corpus.articles) - half):
            index = corpus.index(articles)
            for q in asking:
                asked = Asked(q.text, centred(vectors[q.id], means[language(q.text)]["question"]))
                documents = retrieve(index, q.text, vectors[q.id], k)
                for document in documents:
                    if (q.id, document.id) not in known:
                        known[q.id, document.id] = corpus.graded(asked, q, document)
                rows = [known[q.id, document.id] for document in documents]
                found.append(Case(q, held_out(q.article), q.article in articles, rows))
    return found
