"""multilingual-e5-small on ONNX Runtime, from a folder that `conversion` has written."""

from __future__ import annotations

import functools
import json
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from crag.embedding.base import Vectors
from crag.embedding.tokenizer import PASSAGE, QUERY, clean
from crag.errors import EmbeddingError

if TYPE_CHECKING:
    import onnxruntime

MODEL_FILE, TOKENIZER_FILE, NORMALISATION_FILE = "model.onnx", "tokenizer.json", "normalisation.json"
DIMENSION = 384
_CACHED_QUERIES = 256


class TextTokens:
    """Token ids of clean texts, with `<s>` and `</s>`. Raises EmbeddingError where the tokenizer cannot be read."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        try:
            table = json.loads((folder / NORMALISATION_FILE).read_text("utf-8"))
            self._normalisation = {int(code_point): text for code_point, text in table.items()}
            self._tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        except Exception as error:  # the library raises bare Exception
            raise _unloadable(folder, error) from error

    def __call__(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text.translate(self._normalisation)).ids
        return ids


class OnnxE5:
    """An `Embedder`. Texts run one by one, each on one thread, so a vector depends on its text alone.

    `threads` (0: all cores) bounds how many passages run at once; a query runs on its caller's thread and does not
    queue behind them. Raises EmbeddingError where the folder cannot be loaded.
    """

    dimension = DIMENSION

    def __init__(self, folder: Path, fingerprint: str, threads: int = 0) -> None:
        self.fingerprint = fingerprint
        self.tokens = TextTokens(folder)
        self._session = open_session(folder / MODEL_FILE)
        self._pool = ThreadPoolExecutor(threads or cores(), thread_name_prefix="embedding", initializer=_step_back)
        self._query = functools.lru_cache(_CACHED_QUERIES)(functools.partial(self._embed, QUERY))

    def embed_query(self, text: str) -> Vectors:
        """The question's vector, shape (384,), length 1."""
        return self._query(clean(text)).copy()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row per text in the given order, shape (len(texts), 384), each of length 1."""
        vectors = np.empty((len(texts), DIMENSION), dtype=np.float32)
        for row, vector in enumerate(self._pool.map(functools.partial(self._embed, PASSAGE), map(clean, texts))):
            vectors[row] = vector
        return vectors

    def _embed(self, prefix: str, text: str) -> Vectors:
        ids = self.tokens(prefix + text)
        try:
            (vectors,) = self._session.run(["embedding"], {"input_ids": np.array([ids], dtype=np.int64)})
        except Exception as error:  # ONNX Runtime raises bare Exception
            raise EmbeddingError(f"The embedding model failed on a text of {len(ids)} tokens: {error}") from error
        vector: Vectors = vectors[0]
        return vector


def open_session(model: Path) -> onnxruntime.InferenceSession:
    """The model, each call on one thread. Raises EmbeddingError where it cannot be loaded."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library raises bare Exception
        raise _unloadable(model.parent, error) from error


def _unloadable(folder: Path, error: Exception) -> EmbeddingError:
    return EmbeddingError(f"The converted embedding model in {folder} cannot be loaded ({error}); delete that folder.")


def _step_back() -> None:
    """Lets the page, and whatever else the machine does, go before the bulk of the work (Linux: per thread)."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 5)


def cores() -> int:
    """The processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
