"""How many tokens fit into a model's window: as set, as its server says, or cautious guesses."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from crag.agent_model import gguf
from crag.agent_model.base import ModelSpec
from crag.agent_model.profiles import address

if TYPE_CHECKING:
    import httpx2

WINDOW: Final = 8192
OLLAMA_DEFAULT: Final = 4096
"""What Ollama gives a model on a small machine where nothing else is set; a longer prompt is cut without a word."""
PATIENCE: Final = 5.0
ASK_AGAIN: Final = 60.0
"""Seconds for which a guess is kept before the server is asked anew."""


@dataclass(frozen=True)
class Window:
    """Tokens that prompt and answer may have together."""

    tokens: int
    certain: bool = True
    """Whether it was set or told by the server."""
    notice: str = ""
    """What the user should know of it; empty: nothing."""


class Windows:
    """The window of one model, asked for once."""

    def __init__(self, spec: ModelSpec) -> None:
        self._spec = spec
        self._found: Window | None = None
        self._asked = 0.0

    async def known(self) -> Window:
        """Never raises: a server that cannot be asked has the cautious default, and is asked again later."""
        if self._found is None or (not self._found.certain and time.monotonic() > self._asked + ASK_AGAIN):
            self._found, self._asked = await window(self._spec), time.monotonic()
        return self._found


async def window(spec: ModelSpec) -> Window:
    """Asks the server where nothing is set; a guess of 8192 tokens where it does not tell."""
    if spec.context:
        return Window(spec.context)
    if spec.provider == "llamacpp":
        return Window(gguf.CONTEXT)
    if spec.provider not in ("ollama", "openai"):
        return Window(WINDOW, certain=False)
    import httpx2

    key = spec.key.get_secret_value()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with httpx2.AsyncClient(timeout=min(PATIENCE, spec.timeout), headers=headers) as client:
            found = await (_ollama if spec.provider == "ollama" else _openai)(client, spec)
    except (httpx2.HTTPError, ValueError, TypeError, AttributeError):  # not there, or it speaks otherwise
        found = None
    return found or Window(WINDOW, certain=False)


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
