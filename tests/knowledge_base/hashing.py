"""A test double for the embedder: words hashed into a unit vector; counts what it is asked to embed."""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crag.text import tokens


class HashingEmbedder:
    dimension = 64

    def __init__(self, fingerprint: str = "hashing-64", delay: float = 0.0) -> None:
        self.fingerprint = fingerprint
        self.delay = delay
        self.embedded: list[str] = []

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        vector = np.full(self.dimension, 0.01, np.float32)
        for token in tokens(text):
            vector[zlib.crc32(token.encode()) % self.dimension] += 1.0
        return np.asarray(vector / np.linalg.norm(vector), np.float32)

    def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        time.sleep(self.delay)
        self.embedded += texts
        return np.stack([self.embed_query(text) for text in texts])
