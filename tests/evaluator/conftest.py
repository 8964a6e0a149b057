"""The real embedding engine, once per session (converted where it is not there yet), and tiny pair models."""

import socket

import pytest
from tiny_models import Save, saving

from config import load_settings
from crag.embedding.base import Embedder
from crag.embedding.loading import load_embedder


@pytest.fixture(scope="session")
def embedder() -> Embedder:
    return load_embedder(load_settings().cache_dir).embedder


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Save:
    """Saves tiny pair models; skips the test where the optional packages are not installed."""
    return saving(tmp_path_factory)


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any connection fails the test."""

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was tried")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
