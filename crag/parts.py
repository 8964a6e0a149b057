"""What one turn is answered with: the knowledge base as a question sees it, and one part for every station."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from crag.embedding.base import Embedder
from crag.evaluator.base import Evaluator
from crag.generator.base import Generator
from crag.retrieval import Searchable
from crag.schema import Thresholds
from crag.search.base import WebSearch


class Pinned(Searchable, Protocol):
    """A searchable index of one catalog version."""

    @property
    def version(self) -> int: ...


class Askable(Protocol):
    """The knowledge base as a question sees it. `snapshot` raises `KnowledgeBaseError` when it cannot be asked."""

    def snapshot(self) -> AbstractContextManager[Pinned]: ...


@dataclass(frozen=True)
class Parts:
    """What one turn is answered with."""

    knowledge_base: Askable
    embedder: Embedder
    evaluator: Evaluator
    rewriter: Callable[[str], str]
    generator: Generator
    thresholds: Thresholds
    k: int = 8
    fusion_constant: int = 60
    notices: tuple[str, ...] = ()
    web: WebSearch | None = None
    web_gate: Literal["off", "auto"] = "auto"
    """Whether `web`, where there is one, may be asked."""

    @property
    def open_web(self) -> WebSearch | None:
        """Who is asked where an action asks for the web; None: nobody."""
        return self.web if self.web_gate == "auto" else None
