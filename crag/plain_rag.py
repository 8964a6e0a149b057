"""Plain RAG, what CRAG is held against: the same extractive quoting from the first four documents, with no grading.

Their strips are ranked by cosine with the question + 0.1 x idf coverage of its words, and three are quoted whatever
their score, without those that repeat a better one, as the product's own generator has it. It always answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from crag.embedding.base import Embedder, Vectors
from crag.generator.extractive import NEAR_DUPLICATE
from crag.idf import content_words, coverage, words_of

PLAIN_K = 4
"""Documents that are handed over, as the common stacks do."""
QUOTES = 3
COVERAGE = 0.1
"""Weight of the idf coverage beside the cosine."""


def ranked(question: str, vector: Vectors, strips: Sequence[str], vectors: Vectors) -> list[str]:
    """`strips`, best first; `vector` has shape (dimension,), `vectors` (len(strips), dimension), both of length 1."""
    words = content_words(question)
    covered = np.array([coverage(words, words_of(strip)) for strip in strips])
    return [strips[row] for row in np.argsort(-(vectors @ vector + COVERAGE * covered), kind="stable")]


def quotes(best_first: Sequence[str], most: int = QUOTES) -> list[str]:
    """The first `most` strips without those that repeat an earlier one."""
    chosen: list[str] = []
    for strip in best_first:
        words = words_of(strip)
        if len(chosen) < most and all(coverage(words, words_of(other)) < NEAR_DUPLICATE for other in chosen):
            chosen.append(strip)
    return chosen


def plain_quotes(
    embedder: Embedder, question: str, strips: Sequence[str], known: Mapping[str, Vectors] | None = None
) -> list[str]:
    """Three strips, best first; none only where there are none. `known`: vectors by strip. Raises EmbeddingError."""
    vectors = dict(known or {})
    missing = [strip for strip in dict.fromkeys(strips) if strip not in vectors]
    if missing:
        vectors.update(zip(missing, embedder.embed_passages(missing), strict=True))
    if not strips:
        return []
    rows = np.stack([vectors[strip] for strip in strips]).astype(np.float32)
    return quotes(ranked(question, embedder.embed_query(question), strips, rows))
