"""An embedder over a service for one turn or one build: it notes each request in that one's ledger."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crag.agent_model.base import Ledger
from crag.embedding.base import Vectors

if TYPE_CHECKING:
    from crag.embedding.remote import RemoteEmbedder


@dataclass(frozen=True)
class Noted:
    """An `Embedder` that is `Sending`. It shares connections, limits and known queries with the one within."""

    within: RemoteEmbedder
    ledger: Ledger

    @property
    def fingerprint(self) -> str:
        """See `Embedder.fingerprint`."""
        return self.within.fingerprint

    @property
    def dimension(self) -> int:
        """See `Embedder.dimension`."""
        return self.within.dimension

    @property
    def portion(self) -> int:
        """See `Sending.portion`."""
        return self.within.portion

    @property
    def destination(self) -> str:
        """See `Sending.destination`."""
        return self.within.destination

    def embed_query(self, text: str) -> Vectors:
        """See `Embedder.embed_query`; a query that is known is no request."""
        return self.within.embed_query(text, self.ledger)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed_passages`."""
        return self.within.embed_passages(texts, self.ledger)

    def embed_until(self, texts: Sequence[str], stopping: threading.Event) -> Vectors:
        """See `Sending.embed_until`."""
        return self.within.embed_until(texts, stopping, self.ledger)

    def noting(self, ledger: Ledger) -> Noted:
        """See `Sending.noting`."""
        return Noted(self.within, ledger)

    def close(self) -> None:
        """See `Sending.close`."""
        self.within.close()
