"""A GGUF file served in this process by llama.cpp (xllamacpp, optional: requirements-llamacpp.txt), once per file."""

from __future__ import annotations

import importlib
import os
import secrets
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from crag.errors import ConfigurationError, ModelError

PACKAGE: Final = "xllamacpp"
SLOTS: Final = 1
"""Calls at the same time: on processors more than one only share the same speed."""
CONTEXT: Final = 8192
"""Tokens of the window where none is set."""

THREADS: Final = max(1, (os.cpu_count() or 2) - 1)
"""One core stays free: where another program wants it, llama.cpp with all of them slows down many times."""


@dataclass(frozen=True)
class Served:
    """Where the model is reached: a port of this machine that asks for a key made for this process."""

    url: str
    key: str


_servers: dict[tuple[str, int], tuple[Served, Any]] = {}
_lock = threading.Lock()


def serve(file: str, context: int = 0) -> Served:
    """Loads the model the first time (seconds, in which nothing else of this process runs).

    Raises ConfigurationError without the package or the file, ModelError where llama.cpp refuses the file.
    """
    path = Path(file).expanduser()
    with _lock:
        key = (str(path), context or CONTEXT)
        if key not in _servers:
            _servers[key] = _started(path, context or CONTEXT)
        return _servers[key][0]


def stop_all() -> None:
    """Stops the servers; the next `serve` loads anew."""
    with _lock:
        _servers.clear()  # the server ends with its object


def _started(path: Path, context: int) -> tuple[Served, Any]:
    try:
        llama = importlib.import_module(PACKAGE)
    except ImportError:
        raise ConfigurationError(
            "CRAG_LLM_PROVIDER=llamacpp needs the package xllamacpp: run `pip install -r requirements-llamacpp.txt`."
        ) from None
    if not path.is_file():
        raise ConfigurationError(f"There is no GGUF file {path}: set CRAG_LLM_MODEL to the path of one.")
    served_key = secrets.token_urlsafe(24)
    params = llama.CommonParams()
    params.model.path = str(path)
    params.n_parallel = SLOTS
    params.n_ctx = context * SLOTS
    params.api_keys = [served_key]
    params.verbosity = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = THREADS
    try:
        server = llama.Server(params)
    except RuntimeError:
        raise ModelError(f"llama.cpp cannot load {path}: see that it is a whole GGUF file of a chat model.") from None
    return Served(f"{server.listening_address}/v1", served_key), server
