"""Vectors by Ollama's own API (`/api/embed`), through its client library."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import SecretStr

from crag.embedding.prefixes import prefixes_of
from crag.embedding.service import Answer, Kind, Mends, Refusal
from crag.embedding.waiting import retry_after

if TYPE_CHECKING:
    import httpx
    from ollama import AsyncClient


class Ollama:
    """A `Service`. What is longer than the model's window is cut by the server (`truncate`): its end has no say."""

    provider, batch = "ollama", 16

    def __init__(self, url: str, model: str, dimension: int = 0, timeout: float = 60.0) -> None:
        """`url` has no `/v1`. Nothing is sent before the first `send`."""
        self.url, self.model, self.dimension, self.timeout = url.removesuffix("/v1"), model, dimension, timeout
        self.name = f"Ollama at {self.url}"
        self.key = SecretStr("")
        self.prefixes = prefixes_of(model)
        self.mends = Mends(
            unreachable="start it with `ollama serve`, or correct CRAG_OLLAMA_URL.",
            key="set OLLAMA_API_KEY, which its library sends.",
            model=f"run `ollama pull {model}`, or choose another with CRAG_EMBEDDING_MODEL.",
            form="check CRAG_OLLAMA_URL, and that Ollama is at least 0.3.",
        )
        self._client: AsyncClient | None = None

    async def send(self, texts: Sequence[str], kind: Kind) -> Answer:
        """See `Service.send`."""
        import httpx

        try:
            answer = await self.open().embed(self.model, list(texts), truncate=True, dimensions=self.dimension or None)
        except httpx.TimeoutException:
            raise Refusal("slow") from None
        except (ConnectionError, httpx.TransportError):
            raise Refusal("unreachable") from None
        return Answer(answer.embeddings, answer.prompt_eval_count)

    def open(self) -> AsyncClient:
        """See `Service.open`."""
        if self._client is None:
            from ollama import AsyncClient

            self._client = AsyncClient(self.url, timeout=self.timeout, event_hooks={"response": [_refuse]})
        return self._client

    async def aclose(self) -> None:
        """See `Service.aclose`."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()  # type: ignore[no-untyped-call]


async def _refuse(response: httpx.Response) -> None:
    """Raises before the library does, whose error has lost the headers."""
    if response.status_code >= 400:
        said = (await response.aread()).decode("utf-8", "replace")
        with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):  # a proxy's page, or nothing
            said = str(json.loads(said)["error"])
        raise Refusal("status", response.status_code, retry_after(response.headers), said)
