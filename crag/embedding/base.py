"""The seam of embedding: what every engine offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns text into unit vectors. Calls block: run them on a pool, never on the event loop. Thread-safe.

    Implementations raise `crag.errors.EmbeddingError`.
    """

    @property
    def fingerprint(self) -> str:
        """Names model, quantisation, engine and converter: vectors of different fingerprints do not mix."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed_query(self, text: str) -> Vectors:
        """The question's vector, shape (dimension,), length 1."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row per text in the given order, shape (len(texts), dimension), each of length 1."""
        ...
