"""Vectors by any server that speaks OpenAI's API (`/v1/embeddings`), through OpenAI's client library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pydantic import SecretStr

from crag.embedding.prefixes import prefixes_of
from crag.embedding.service import Answer, Kind, Mends, Refusal
from crag.embedding.waiting import retry_after

if TYPE_CHECKING:
    from openai import AsyncOpenAI

NO_KEY: Final = "no-key"
"""Sent where there is none: without it the library would take the one of the environment."""


class OpenAICompatible:
    """A `Service`: OpenAI, vLLM, LM Studio, llama.cpp and the like."""

    provider, batch = "openai", 32

    def __init__(
        self, url: str, model: str, key: SecretStr | None = None, dimension: int = 0, timeout: float = 60.0
    ) -> None:
        """`url` ends in `/v1` with most servers. Nothing is sent before the first `send`."""
        self.url, self.model, self.dimension, self.timeout = url, model, dimension, timeout
        self.key = SecretStr((key or SecretStr("")).get_secret_value().strip())
        self.name = f"The server at {url}"
        self.prefixes = prefixes_of(model)
        self.mends = Mends(
            unreachable="start it, or correct OPENAI_API_BASE.",
            key="correct OPENAI_API_KEY.",
            model="correct CRAG_EMBEDDING_MODEL and OPENAI_API_BASE, and see that the server offers embeddings.",
            form="check OPENAI_API_BASE, which ends in /v1 with most servers.",
        )
        self._client: AsyncOpenAI | None = None

    async def send(self, texts: Sequence[str], kind: Kind) -> Answer:
        """See `Service.send`."""
        import openai

        try:
            answer = await self.open().embeddings.create(
                model=self.model,
                input=list(texts),
                encoding_format="float",  # base64, the library's choice, is not known to every server
                dimensions=self.dimension or openai.omit,
            )
        except openai.APITimeoutError:
            raise Refusal("slow") from None
        except openai.APIStatusError as error:
            headers = error.response.headers
            raise Refusal("status", error.status_code, retry_after(headers), _said(error.body)) from None
        except openai.APIConnectionError:
            raise Refusal("unreachable") from None
        rows = sorted(answer.data, key=lambda row: row.index)
        if [row.index for row in rows] != list(range(len(texts))):
            raise Refusal("form")
        usage = getattr(answer, "usage", None)  # some servers leave it out
        return Answer([row.embedding for row in rows], getattr(usage, "prompt_tokens", None) or None)

    def open(self) -> AsyncOpenAI:
        """See `Service.open`."""
        if self._client is None:
            from openai import AsyncOpenAI

            key = self.key.get_secret_value() or NO_KEY
            self._client = AsyncOpenAI(base_url=self.url, api_key=key, max_retries=0, timeout=self.timeout)
        return self._client

    async def aclose(self) -> None:
        """See `Service.aclose`."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def _said(body: object) -> str:
    """The server's message: of OpenAI's form, or of the plainer ones of other servers."""
    inner = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(inner, dict):
        inner = inner.get("message", inner.get("detail", ""))
    return inner if isinstance(inner, str) else ""
