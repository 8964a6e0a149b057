"""Vectors by Alibaba's DashScope (text-embedding-v4 and its kin), through its client library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pydantic import SecretStr

from crag.embedding.prefixes import NONE
from crag.embedding.service import Answer, Kind, Mends, Refusal
from crag.embedding.waiting import retry_after

if TYPE_CHECKING:
    from dashscope import AsyncClient
    from dashscope.v2.errors import DashScopeError

ADDRESSES: Final = {
    "china": "https://dashscope.aliyuncs.com/api/v1",
    "international": "https://dashscope-intl.aliyuncs.com/api/v1",
}
COMPATIBLE: Final = "/compatible-mode/v1"
"""The end of the address that its OpenAI-compatible side has; the embeddings' own is `/api/v1`."""


def native_address(url: str, region: str) -> str:
    """From the address in the settings (empty: the region's own) to the one of the API that is used here."""
    if not url:
        return ADDRESSES[region]
    return f"{url.removesuffix(COMPATIBLE).removesuffix('/api/v1')}/api/v1"


class DashScope:
    """A `Service`. It takes ten texts at once and is told whether they are questions or documents: no prefixes."""

    provider, batch, prefixes = "dashscope", 10, NONE

    def __init__(self, url: str, model: str, key: SecretStr, dimension: int = 0, timeout: float = 60.0) -> None:
        """`url` ends in `/api/v1`. Nothing is sent before the first `send`."""
        self.url, self.model, self.dimension, self.timeout = url, model, dimension, timeout
        self.key = SecretStr(key.get_secret_value().strip())
        self.name = f"DashScope at {url}"
        self.mends = Mends(
            unreachable="check your network and CRAG_DASHSCOPE_URL.",
            key="correct DASHSCOPE_API_KEY, or CRAG_DASHSCOPE_REGION, since a key fits one of its two services only.",
            model="correct CRAG_EMBEDDING_MODEL and CRAG_EMBEDDING_DIMENSION.",
            form="check CRAG_DASHSCOPE_URL and your proxy.",
        )
        self._client: AsyncClient | None = None

    async def send(self, texts: Sequence[str], kind: Kind) -> Answer:
        """See `Service.send`."""
        from dashscope.v2 import errors

        try:
            answer = await self.open().embeddings.create(
                model=self.model,
                input=list(texts),
                text_type="query" if kind == "query" else "document",
                dimension=self.dimension or None,
            )
        except errors.APITimeoutError:
            raise Refusal("slow") from None
        except errors.APIConnectionError:
            raise Refusal("unreachable") from None
        except errors.DashScopeError as error:
            raise Refusal("status", _status(error), retry_after(error.headers), error.message) from None
        rows = sorted(answer.embeddings, key=lambda row: row.index)
        if [row.index for row in rows] != list(range(len(texts))):
            raise Refusal("form")
        tokens = answer.usage.total_tokens or answer.usage.input_tokens if answer.usage else None
        return Answer([row.embedding for row in rows], tokens or None)

    def open(self) -> AsyncClient:
        """See `Service.open`."""
        if self._client is None:
            from dashscope import AsyncClient

            self._client = AsyncClient(
                api_key=self.key.get_secret_value(), base_url=self.url, timeout=self.timeout, max_retries=0
            )
        return self._client

    async def aclose(self) -> None:
        """See `Service.aclose`."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()


def _status(error: DashScopeError) -> int:
    """The HTTP status that tells what is wrong: an error may also come with status 200, and a model may be missing
    with status 400."""
    if error.code in ("ModelNotFound", "Model.NotExist", "model_not_found"):
        return 404
    told = error.status_code if error.status_code != 200 else getattr(type(error), "status_code", None)
    return told or 400
