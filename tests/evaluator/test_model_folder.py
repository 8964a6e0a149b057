"""Models by hub name, from a hub on this machine: fetched once, then read from the cache."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest
from tiny_models import Save

from crag.errors import ConfigurationError
from crag.evaluator.pair_models import load_pair_model


class Hub(BaseHTTPRequestHandler):
    """As much of the hub's protocol as fetching one model takes; `files` are those of tiny/reranker."""

    files: ClassVar[dict[str, bytes]] = {}
    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        """Nothing on standard error."""

    def _answer(self) -> None:
        path = self.path.split("?")[0]
        self.asked.append(path)
        name = path.rpartition("/")[2]
        if path.startswith("/api/models/tiny/reranker/tree/"):
            rows = [
                {"type": "file", "path": n, "size": len(data), "oid": f"{i:040x}"}
                for i, (n, data) in enumerate(self.files.items())
            ]
            self._send(json.dumps(rows).encode())
        elif path.startswith("/api/models/tiny/reranker"):
            self._send(json.dumps({"id": "tiny/reranker", "sha": "a" * 40, "siblings": []}).encode())
        elif path.startswith("/tiny/reranker/resolve/") and name in self.files:
            self._send(self.files[name], ETag=f'"{list(self.files).index(name):040x}"')
        else:
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

    def _send(self, data: bytes, **headers: str) -> None:
        self.send_response(200)
        for key, value in {"X-Repo-Commit": "a" * 40, "Content-Length": str(len(data)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)


@pytest.fixture
def hub(models: Save, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A hub on this machine with the model tiny/reranker, and an empty cache; yields the model's folder."""
    constants = pytest.importorskip("huggingface_hub").constants
    folder = models()
    Hub.files = {path.name: path.read_bytes() for path in folder.iterdir()} | {"README.md": b"not needed"}
    Hub.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    yield folder
    server.shutdown()
    server.server_close()


def test_a_hub_name_is_fetched_once_and_then_read_from_the_cache(hub: Path) -> None:
    version = load_pair_model("tiny/reranker").version
    assert version == load_pair_model(str(hub)).version
    fetched = [path for path in Hub.asked if "/resolve/" in path]
    assert any(path.endswith("model.safetensors") for path in fetched)
    assert not any(path.endswith("README.md") for path in fetched)
    Hub.asked.clear()
    assert load_pair_model("tiny/reranker").version == version
    assert Hub.asked == []


@pytest.mark.usefixtures("hub")
def test_a_hub_name_that_does_not_exist_is_told_in_a_sentence() -> None:
    with pytest.raises(ConfigurationError, match=r"The model tiny/other could not be fetched from the hub"):
        load_pair_model("tiny/other")
