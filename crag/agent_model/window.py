"""How many tokens fit into a model's window: as set, as its server says, as is known of it, or a cautious guess."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from crag.agent_model import gguf
from crag.agent_model.base import ModelSpec
from crag.agent_model.profiles import address, is_openai

if TYPE_CHECKING:
    import httpx2

WINDOW: Final = 8192
OLLAMA_DEFAULT: Final = 4096
"""What Ollama gives a model on a small machine where nothing else is set; a longer prompt is cut without a word."""
PATIENCE: Final = 5.0
ASK_AGAIN: Final = 60.0
"""Seconds for which a guess is kept before the server is asked anew."""
QWEN: Final = (
    ("qwen3-max", 262_144),
    ("qwen3-coder", 262_144),
    ("qwen3.", 262_144),
    ("qwen3-0.6b", 32_768),
    ("qwen3-1.7b", 32_768),
    ("qwen3-", 81_920),
    ("qwen-plus", 131_072),
    ("qwen-flash", 131_072),
    ("qwen-turbo", 131_072),
    ("qwq-", 131_072),
    ("qwen-max", 32_768),
    ("qwen2.5-", 32_768),
)
"""Windows of DashScope's models by the beginning of their names, the first that fits; the smallest that a model of the
name has had. From Alibaba Cloud's list of models and genai-prices 0.2.3, December 2026. DashScope itself does not tell.
"""


@dataclass(frozen=True)
class Window:
    """Tokens that prompt and answer may have together."""

    tokens: int
    certain: bool = True
    """Whether it was set, told by the server, or is known of the model."""
    notice: str = ""
    """What the user should know of it; empty: nothing."""


class Windows:
    """The window of one model, asked for once. `listed` gives what pydantic-ai knows of the model, None: nothing."""

    def __init__(self, spec: ModelSpec, listed: Callable[[], Awaitable[int | None]]) -> None:
        self._spec, self._listed = spec, listed
        self._found: Window | None = None
        self._asked = 0.0

    async def known(self) -> Window:
        """Never raises: a server that cannot be asked has the cautious default, and is asked again later."""
        if self._found is None or (not self._found.certain and time.monotonic() > self._asked + ASK_AGAIN):
            self._found, self._asked = await window(self._spec, self._listed), time.monotonic()
        return self._found


async def window(spec: ModelSpec, listed: Callable[[], Awaitable[int | None]]) -> Window:
    """Asks the server where nothing is set, and looks up what no server tells; else a guess of 8192 tokens."""
    if spec.context:
        return await _of_what_is_set(spec)
    if spec.provider == "llamacpp":
        return Window(gguf.CONTEXT)
    found: Window | int | None
    if spec.provider == "dashscope":
        found = next((tokens for name, tokens in QWEN if spec.model.startswith(name)), None)
    elif spec.provider == "ollama" or (spec.provider == "openai" and not is_openai(address(spec))):
        found = await _told(spec)
    else:
        found = await listed()
    if isinstance(found, int):
        return Window(found)
    return found or Window(WINDOW, certain=False)


async def _of_what_is_set(spec: ModelSpec) -> Window:
    """What is set; less where Ollama says that it reads less, since it would cut the rest without a word."""
    if spec.provider != "ollama":
        return Window(spec.context)  # others refuse what is too long
    told = await _told(spec)
    if told is None or not told.certain or told.tokens >= spec.context:
        return Window(spec.context, certain=told is not None and told.certain)
    notice = (
        f"Ollama reads {told.tokens} tokens of {spec.model}, fewer than CRAG_LLM_CONTEXT says ({spec.context}): start "
        "it with OLLAMA_CONTEXT_LENGTH set to the same, or lower CRAG_LLM_CONTEXT."
    )
    return Window(told.tokens, notice=notice)


async def _told(spec: ModelSpec) -> Window | None:
    """By the server; None where it cannot be asked or does not tell."""
    import httpx2

    key = spec.key.get_secret_value()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with httpx2.AsyncClient(timeout=min(PATIENCE, spec.timeout), headers=headers) as client:
            return await (_ollama if spec.provider == "ollama" else _openai)(client, spec)
    except (httpx2.HTTPError, ValueError, TypeError, AttributeError):  # not there, or it speaks otherwise
        return None


async def _ollama(client: httpx2.AsyncClient, spec: ModelSpec) -> Window | None:
    """`/api/show` tells what the model can and `num_ctx` of its Modelfile, `/api/ps` what it was loaded with."""
    root = address(spec).removesuffix("/v1")
    shown = (await client.post(f"{root}/api/show", json={"model": spec.model})).raise_for_status().json()
    sizes = [size for name, size in (shown.get("model_info") or {}).items() if name.endswith(".context_length")]
    most = _whole(sizes[0]) if sizes else None
    own = re.search(r"^\s*num_ctx\s+(\d+)", shown.get("parameters") or "", re.MULTILINE)
    loaded = await client.get(f"{root}/api/ps")
    running = loaded.json().get("models") or [] if loaded.is_success else []
    names = (spec.model, f"{spec.model}:latest")
    now = [_whole(row.get("context_length")) for row in running if row.get("model", row.get("name")) in names]
    said = (now[0] if now else None) or (int(own[1]) if own else None)
    tokens = min(size for size in (said or OLLAMA_DEFAULT, most) if size)
    notice = ""
    if most and tokens < most:
        notice = (
            f"Ollama reads {tokens} of the {most} tokens that {spec.model} can: for more, start it with "
            "OLLAMA_CONTEXT_LENGTH, and set CRAG_LLM_CONTEXT to the same."
        )
    return Window(tokens, certain=said is not None, notice=notice)


async def _openai(client: httpx2.AsyncClient, spec: ModelSpec) -> Window | None:
    """vLLM tells `max_model_len` in its list of models, llama.cpp `n_ctx` in `/props` or in that list."""
    root = address(spec)
    listed = await client.get(f"{root}/models")
    rows = listed.json().get("data") or [] if listed.is_success else []
    row: dict[str, Any] = next((row for row in rows if row.get("id") == spec.model), rows[0] if len(rows) == 1 else {})
    if size := _whole(row.get("max_model_len")) or _whole(row.get("context_length")):
        return Window(size)
    props = await client.get(f"{root.removesuffix('/v1')}/props")
    told = props.json() if props.is_success else {}
    size = _whole((told.get("default_generation_settings") or {}).get("n_ctx"))
    size = size or _whole((row.get("meta") or {}).get("n_ctx"))
    return Window(size) if size else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
