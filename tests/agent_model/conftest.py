"""The fixture `server`: a loopback server in the place of a model's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from model_server import ModelServer, serving


@pytest.fixture(scope="session")
def _serving() -> Iterator[ModelServer]:
    with serving() as running:
        yield running


@pytest.fixture
def server(_serving: ModelServer) -> ModelServer:
    _serving.forget()
    return _serving
