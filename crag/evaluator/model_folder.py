"""Where a model that scores pairs lies: a folder, or the hub's cache; what it is, and its fingerprint."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crag.errors import ConfigurationError

log = logging.getLogger(__name__)

_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")
_PARTS = ("*.json", "*.txt", "*.model", "*.safetensors")
_WANTED = {"allow_patterns": [*_PARTS], "ignore_patterns": ["onnx/*", "openvino/*"]}


def model_folder(name: str, hub: Any) -> Path:
    """The folder of the model `name`: that folder itself, or where the hub's model of that name was fetched to.

    `hub` is the library huggingface_hub. Nothing is fetched that lies in its cache already. Raises
    ConfigurationError where there is no such model.
    """
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    if not _HUB_NAME.fullmatch(name) or (len(path.parts) > 1 and path.parent.is_dir()):
        raise ConfigurationError(
            "CRAG_GRADER_MODEL is neither a folder that exists nor a hub name such as BAAI/bge-reranker-v2-m3: "
            "correct it."
        )
    return _cached(name, hub) or _fetched(name, hub)


def _cached(name: str, hub: Any) -> Path | None:
    """The model as an earlier start, or another program, has fetched it."""
    try:
        folder = Path(hub.snapshot_download(name, **_WANTED, local_files_only=True))
    except (OSError, ValueError) as error:
        log.debug("%s is not in the hub's cache: %s", name, type(error).__name__)
        return None
    return folder if (folder / "config.json").is_file() and _weights(folder) else None


def _fetched(name: str, hub: Any) -> Path:
    try:
        folder = Path(hub.snapshot_download(name, **_WANTED))
        if not _weights(folder):  # an older model: weights in PyTorch's format only
            hub.snapshot_download(name, allow_patterns=["pytorch_model*.bin"])
    except Exception as error:  # no such model, not allowed, no connection: the hub has many errors for it
        raise ConfigurationError(
            f"The model {name} could not be fetched from the hub ({type(error).__name__}): check the name and the "
            "connection, or set CRAG_GRADER_MODEL to a folder that holds a model."
        ) from error
    return folder


def architecture(folder: Path) -> str:
    """The class the model was saved from. Raises ConfigurationError where the folder holds no model for pairs."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        name = str(config["architectures"][0])
    except (OSError, ValueError, LookupError, TypeError):
        raise ConfigurationError(
            "The folder of CRAG_GRADER_MODEL holds no readable config.json that names an architecture: give the "
            "folder in which the model was saved."
        ) from None
    if not name.endswith("ForSequenceClassification"):
        raise ConfigurationError(
            f"The model of CRAG_GRADER_MODEL is a {name}, which does not score pairs: use a reranker such as "
            "BAAI/bge-reranker-v2-m3, or the paper's T5 evaluator."
        )
    if not _weights(folder):
        raise ConfigurationError(
            "The folder of CRAG_GRADER_MODEL holds no weights (*.safetensors or pytorch_model.bin): copy the model "
            "again, with all its files."
        )
    return name


def _weights(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))


def fingerprint(folder: Path, treatment: str) -> str:
    """12 hex digits over configuration, tokenizer and weights, and over `treatment`: what else makes the scores."""
    parts = [treatment]
    for path in sorted({*_settings(folder), *_weights(folder)}):
        with path.open("rb") as file:
            parts.append(f"{path.relative_to(folder).as_posix()} {hashlib.file_digest(file, 'sha256').hexdigest()}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _settings(folder: Path) -> Iterator[Path]:
    """All files but the main weights; sentence-transformers keeps further modules in folders such as `1_Dense`."""
    for pattern in _PARTS:
        yield from folder.glob(f"[0-9]_*/{pattern}")
        if pattern != "*.safetensors":
            yield from folder.glob(pattern)
