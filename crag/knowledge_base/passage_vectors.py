"""The vectors of passages as they are stored: embedded in batches of like lengths, halved, of length 1."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import numpy as np
import sqlalchemy as sa

from crag.embedding.base import Embedder, Sending, StoppedError
from crag.errors import EmbeddingError
from crag.knowledge_base.chunker import embedding_text
from crag.knowledge_base.kept_vectors import dimension_under, keep_made, made_before
from crag.knowledge_base.records import Vectors
from crag.knowledge_base.workers import CancelledError
from crag.schema import Passage

BATCH = 16
"""Passages embedded at once: small, so that a cancel is quick. A service gets as many as keep it busy."""


def known_vectors(embedder: Embedder, engine: sa.Engine, passages: Sequence[Passage]) -> dict[int, Vectors]:
    """What an interrupted build has had made by a service, by index into `passages`."""
    if not isinstance(embedder, Sending):
        return {}
    made = made_before(engine, [passage.id for passage in passages])
    return {i: made[passage.id] for i, passage in enumerate(passages) if passage.id in made}


def batches(embedder: Embedder, passages: Sequence[Passage], left: Sequence[int]) -> Iterator[list[int]]:
    """Those indices of `left` that are embedded together: short ones with short ones, the longest sets the cost."""
    size = embedder.portion if isinstance(embedder, Sending) else BATCH
    order = sorted(left, key=lambda i: len(passages[i].text))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def vectors_of(embedder: Embedder, engine: sa.Engine, passages: Sequence[Passage], cancel: threading.Event) -> Vectors:
    """Shape (passages, dimension), exactly as the catalog can give them back. Raises EmbeddingError, CancelledError.

    Those of a service are kept until their file is finished.
    """
    texts = [embedding_text(passage.heading, passage.text) for passage in passages]
    try:
        made = embedder.embed_until(texts, cancel) if isinstance(embedder, Sending) else embedder.embed_passages(texts)
    except StoppedError:
        raise CancelledError from None
    vectors = np.asarray(made, np.float32)
    if vectors.shape != (len(texts), embedder.dimension) or not np.isfinite(vectors).all():
        raise EmbeddingError("The embedding engine returned no usable vectors: build again or choose another one.")
    halved = vectors.astype(np.float16).astype(np.float32)
    norms = np.linalg.norm(halved, axis=1, keepdims=True)
    ready = np.asarray(halved / np.maximum(norms, 1e-6), np.float32)
    if isinstance(embedder, Sending):
        keep_made(engine, [passage.id for passage in passages], ready)
    return ready


def stacked(engine: sa.Engine, fingerprint: str, made: dict[int, Vectors]) -> Vectors:
    """All vectors of a file in the order of its passages. Raises EmbeddingError where they do not fit the index."""
    if not made:
        return np.zeros((0, 0), np.float32)
    sizes = {len(vector) for vector in made.values()}
    with engine.connect() as connection:
        sizes |= {dimension_under(connection, fingerprint) or min(sizes)}
    if len(sizes) > 1:
        raise EmbeddingError(
            f"The embedding makes vectors of another size than those that are there ({min(sizes)} and {max(sizes)} "
            "numbers): another model answers to its name. Choose the model that the index was built with, or empty the "
            "folder of the index and build again."
        )
    return np.stack([made[i] for i in range(len(made))])
