"""Which embedder is meant: plain values to the embedded engine or to one over a service."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import SecretStr

from crag.embedding.dashscope import DashScope, native_address
from crag.embedding.ollama import Ollama
from crag.embedding.openai import OpenAICompatible
from crag.embedding.remote import RemoteEmbedder
from crag.embedding.service import Service

Provider = Literal["ollama", "dashscope", "openai"]
USUAL: Final[dict[Provider, str]] = {"dashscope": "text-embedding-v4", "openai": "text-embedding-3-small"}


def make_embedder(
    provider: Provider,
    model: str,
    url: str,
    key: SecretStr,
    *,
    region: Literal["china", "international"] = "china",
    dimension: int = 0,
    timeout: float = 60.0,
    retries: int = 2,
    concurrency: int = 16,
    price: float = 0.0,
) -> RemoteEmbedder:
    """The embedder of a service; nothing is sent yet.

    `url` is as in the settings; empty: DashScope's own of `region`. `model` empty: the provider's usual one.
    `dimension` 0: the model's own. `timeout` is in seconds, per request; `price` of a million tokens, 0: unknown.
    """
    model = model or USUAL.get(provider, "")
    service: Service
    match provider:
        case "ollama":
            service = Ollama(url, model, dimension, timeout)
        case "dashscope":
            service = DashScope(native_address(url, region), model, key, dimension, timeout)
        case "openai":
            service = OpenAICompatible(url, model, key, dimension, timeout)
    return RemoteEmbedder(service, retries, concurrency, price=price)
