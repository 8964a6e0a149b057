"""The low-rank adapter that makes e5's encoder a cross-encoder: reads it, adds it to the weights.

`crag/data/adapter.npz` holds, per adapted matrix, `lN.NAME.a` (rank, in) and `lN.NAME.b` (out, rank) in half
precision, so that the adapted weight is W + b @ a (Hu et al., LoRA, arXiv 2106.09685), and the head: `inner.w`
(head, 3 hidden), `inner.b`, `outer.w` (1, head), `outer.b`. From `python -m bench.train_adapter`.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from crag.embedding.weights import Tensor, Weights

HEAD_PARTS = ("inner.w", "inner.b", "outer.w", "outer.b")


@dataclass(frozen=True)
class Adapter:
    """The arrays by name, and the sha256 of their file."""

    arrays: Mapping[str, npt.NDArray[np.float32]]
    sha256: str

    @property
    def adapted(self) -> list[str]:
        """Names of the adapted matrices, as `Weights.tensors` has them without `.w`."""
        return sorted(name.removesuffix(".a") for name in self.arrays if name.endswith(".a"))


def shipped_adapter() -> Adapter:
    """The one that comes with the package."""
    return read_adapter(_shipped())


def shipped_sha256() -> str:
    """Its file's sha256, hex, without unpacking it: every start asks for it."""
    return hashlib.sha256(_shipped()).hexdigest()


def _shipped() -> bytes:
    return files("crag").joinpath("data/adapter.npz").read_bytes()


def read_adapter(data: bytes) -> Adapter:
    with np.load(io.BytesIO(data)) as stored:
        arrays = {name: stored[name].astype(np.float32) for name in stored.files}
    return Adapter(arrays, hashlib.sha256(data).hexdigest())


def merged(weights: Weights, adapter: Adapter) -> Weights:
    """The weights with the adapter added; adapted matrices are float32."""
    tensors = dict(weights.tensors)
    for name in adapter.adapted:
        added = adapter.arrays[f"{name}.b"] @ adapter.arrays[f"{name}.a"]
        values = tensors[f"{name}.w"].values().reshape(added.shape) + added
        tensors[f"{name}.w"] = Tensor(values.size, False, np.ascontiguousarray(values).view(np.uint8).reshape(-1))
    return replace(weights, tensors=tensors)
