"""The vectors of passages as they are stored: embedded in small batches of like lengths, halved, of length 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from crag.embedding.base import Embedder
from crag.errors import EmbeddingError
from crag.knowledge_base.chunker import embedding_text
from crag.knowledge_base.records import Vectors
from crag.schema import Passage

BATCH = 16
"""Passages embedded at once: small, so that a cancel is quick."""


def batches(passages: Sequence[Passage]) -> Iterator[list[int]]:
    """Indices of passages that are embedded together: short ones with short ones, since the longest sets the cost."""
    order = sorted(range(len(passages)), key=lambda i: len(passages[i].text))
    for start in range(0, len(order), BATCH):
        yield order[start : start + BATCH]


def vectors_of(embedder: Embedder, passages: Sequence[Passage]) -> Vectors:
    """Shape (passages, dimension), exactly as the catalog can give them back. Raises EmbeddingError."""
    texts = [embedding_text(passage.heading, passage.text) for passage in passages]
    vectors = np.asarray(embedder.embed_passages(texts), np.float32)
    if vectors.shape != (len(texts), embedder.dimension) or not np.isfinite(vectors).all():
        raise EmbeddingError("The embedding engine returned no usable vectors: build again or choose another one.")
    halved = vectors.astype(np.float16).astype(np.float32)
    norms = np.linalg.norm(halved, axis=1, keepdims=True)
    return np.asarray(halved / np.maximum(norms, 1e-6), np.float32)
