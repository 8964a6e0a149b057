"""One model per spec: equal specs share it with its connections, and the house closes them all."""

from __future__ import annotations

import asyncio
import importlib
import threading
from concurrent.futures import TimeoutError as TooLong

from crag.agent_model import gguf
from crag.agent_model.base import ModelSpec
from crag.agent_model.chat import PydanticAiModel

CLOSING = 5.0
"""Seconds that the connections of one loop may take to close."""
LIBRARIES = ("pydantic_ai.direct", "pydantic_ai.models.openai", "pydantic_ai.providers.openai_compatible")


class Models:
    """The models of a house. Thread-safe."""

    def __init__(self) -> None:
        self._models: dict[ModelSpec, PydanticAiModel] = {}
        self._lock = threading.Lock()

    def get(self, spec: ModelSpec) -> PydanticAiModel:
        """The model of `spec`; nothing is loaded or sent before it is asked."""
        with self._lock:
            return self._models.setdefault(spec, PydanticAiModel(spec))

    def warm_up(self) -> None:
        """Imports what the first call would otherwise wait for: seconds on a slow machine. Sends nothing."""
        for name in LIBRARIES:
            importlib.import_module(name)

    def close(self) -> None:
        """Closes all connections, also those of the loop of another thread, and stops what serves GGUF files."""
        with self._lock:
            models, self._models = list(self._models.values()), {}
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        for model in models:
            for loop in model.loops():
                if loop is here:
                    loop.create_task(model.aclose())
                elif loop.is_running():
                    try:
                        asyncio.run_coroutine_threadsafe(model.aclose(), loop).result(CLOSING)
                    except TooLong:
                        continue  # the loop is stuck; the connections go with the process
        gguf.stop_all()
