"""The seam of embedding: what every engine offers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from crag.agent_model.base import Ledger

Vectors = npt.NDArray[np.float32]
SERVICES: Final = ("ollama", "dashscope", "openai")
"""First words of the fingerprints of embeddings that a service makes."""


class Embedder(Protocol):
    """Turns text into unit vectors. Calls block: run them on a pool, never on the event loop. Thread-safe.

    Implementations raise `crag.errors.EmbeddingError`.
    """

    @property
    def fingerprint(self) -> str:
        """Names model, quantisation, engine and converter: vectors of different fingerprints do not mix."""
        ...

    @property
    def dimension(self) -> int: ...

    def embed_query(self, text: str) -> Vectors:
        """The question's vector, shape (dimension,), length 1."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row per text in the given order, shape (len(texts), dimension), each of length 1."""
        ...


class StoppedError(Exception):
    """The vectors are not wanted any more."""


@runtime_checkable
class Sending(Protocol):
    """What an embedder offers besides where texts leave this process: a wait for their vectors can be ended."""

    portion: int
    """So many texts at once keep it busy."""
    destination: str
    """Who gets the texts, with its address, as a message calls it."""

    def embed_until(self, texts: Sequence[str], stopping: threading.Event) -> Vectors:
        """As `embed_passages`, and more patient; raises StoppedError soon after `stopping` is set."""
        ...

    def noting(self, ledger: Ledger) -> Embedder:
        """The same embedder, which notes each of its requests in `ledger`; it is `Sending` too."""
        ...

    def close(self) -> None:
        """Gives up what is on its way and closes the connections; they are opened again when they are needed."""
        ...


def model_told(fingerprint: str) -> str:
    """The model of a fingerprint as a message calls it: "nomic-embed-text (ollama)"; empty for an empty one."""
    first, *rest = fingerprint.split(" ")
    if first not in SERVICES or not rest:
        return f"{first} (embedded)" if first else ""
    name = " ".join(part for part in rest if not part.startswith(("dimension-", "prefix-")))
    chosen = next((part.removeprefix("dimension-") for part in rest if part.startswith("dimension-")), "own")
    return f"{name} ({first})" if chosen == "own" else f"{name} ({first}, {chosen} numbers)"
