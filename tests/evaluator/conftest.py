"""The real embedding engine, once per session; converted into the usual cache where it is not there yet."""

import pytest

from config import load_settings
from crag.embedding.base import Embedder
from crag.embedding.loading import load_embedder


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return load_embedder(load_settings().cache_dir).embedder
