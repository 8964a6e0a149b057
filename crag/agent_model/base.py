"""The seam of language models: which one is meant, what can be asked of it, and the ledger of the calls made."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Literal, Protocol, TypeVar

from pydantic import BaseModel, SecretStr

from crag.pieces import Piece
from crag.schema import ModelCall

Provider = Literal["dashscope", "ollama", "openai", "deepseek", "llamacpp", "pydantic-ai"]
Role = Literal["condense", "draft", "grade", "rewrite", "generate", "check"]
"""What a call is for; `check` is a probe of doctor and the Models panel."""

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class ModelSpec:
    """Which model is meant and how it may be used; equal specs share one model with its connections."""

    provider: Provider
    model: str
    """Name at the provider; a GGUF file for llamacpp; `provider:name` for pydantic-ai."""
    url: str = ""
    """Address of the server; empty: the provider's own."""
    key: SecretStr = field(default_factory=lambda: SecretStr(""))
    thinking: bool = False
    context: int = 0
    """Tokens that fit into the window; 0: asked of the server."""
    timeout: float = 60.0
    """Seconds for one call, for its first token, and between two pieces of a stream."""
    retries: int = 2
    concurrency: int = 16
    """Calls of this provider at the same time, in this process."""
    price_in: float = 0.0
    """Cost of a million tokens read; 0 in both prices: unknown."""
    price_out: float = 0.0

    @property
    def name(self) -> str:
        """`provider:model`; holds no secret. A GGUF file goes by its own name, without its folders."""
        model = PurePath(self.model).name if self.provider == "llamacpp" else self.model
        return model if self.provider == "pydantic-ai" else f"{self.provider}:{model}"


@dataclass
class Ledger:
    """The calls of one turn, in the order in which they ended."""

    calls: list[ModelCall] = field(default_factory=list)


class ChatModel(Protocol):
    """A model that can be asked. Coroutines run on the process's one loop; cancelling one ends its request."""

    @property
    def name(self) -> str:
        """`provider:model`, for traces and as the key of cached grades; holds no secret."""
        ...

    async def structured(
        self,
        role: Role,
        instructions: str,
        prompt: str,
        output: type[T],
        *,
        ledger: Ledger,
        max_tokens: int,
        check: Callable[[T], str | None] | None = None,
    ) -> T:
        """One object of `output`, thinking off, temperature 0. `check` says what is wrong with it, None: nothing.

        What is invalid is asked again once, with what was wrong. Raises `InvalidOutputError` where it is invalid
        again, another `ModelError` where the model could not be asked.
        """
        ...

    def stream(
        self, role: Role, instructions: str, prompt: str, *, ledger: Ledger, max_tokens: int
    ) -> AsyncGenerator[Piece]:
        """The answer as it comes; `Cut` last where it is not complete although something came.

        Raises `ModelError` where nothing came.
        """
        ...

    async def window(self) -> int:
        """Tokens that prompt and answer may have together: as set, as the server says, else 8192."""
        ...

    def count(self, text: str) -> int:
        """About how many tokens `text` has, rather too many than too few."""
        ...
