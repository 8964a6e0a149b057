"""What one turn is answered with: the knowledge base as a question sees it, and one part for every station."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

from crag.agent_model.base import Ledger
from crag.embedding.base import Embedder
from crag.evaluator.base import Evaluator
from crag.generator.bare import BareAnswer
from crag.generator.base import DirectAnswer, Generator
from crag.retrieval import Searchable
from crag.schema import Thresholds
from crag.search.base import Condenser, WebSearch


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
    rewriter: Callable[[str], Awaitable[str]]
    """The question to a query for the web or the second look; raises `ModelError`."""
    generator: Generator
    thresholds: Thresholds
    k: int = 8
    fusion_constant: int = 60
    notices: tuple[str, ...] = ()
    web: WebSearch | None = None
    web_gate: Literal["off", "ask", "auto"] = "auto"
    """Whether `web`, where there is one, may be asked, and whether a person allows each query."""
    condenser: Condenser | None = None
    """None: follow-ups are taken as they are."""
    direct: DirectAnswer | None = None
    """None: every message is treated as a question."""
    drafter: Callable[[str], Awaitable[str]] | None = None
    """Drafts an answer to search for (HyDE); raises `ModelError`. None: only the question is searched for."""
    spare_generator: Generator | None = None
    """Writes where `generator` cannot."""
    spare_rewriter: Callable[[str], Awaitable[str]] | None = None
    """Makes the query where `rewriter` cannot."""
    bare: BareAnswer | None = None
    """The model that writes, asked without any knowledge, to compare with; None: there is none."""
    ledger: Ledger = field(default_factory=Ledger)
    """Where the parts of this turn note the calls that they make."""
    currency: str = "USD"
    history_turns: int = 6
    """So many earlier exchanges are seen."""

    @property
    def open_web(self) -> WebSearch | None:
        """Who is asked where an action asks for the web; None: nobody."""
        return None if self.web_gate == "off" else self.web
