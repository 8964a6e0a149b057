"""An embedder over a service: batches, some at a time, repeated where a failure may pass, checked, and stoppable."""

from __future__ import annotations

import asyncio
import functools
import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, wait
from typing import Final

import numpy as np

from crag.embedding.base import StoppedError, Vectors
from crag.embedding.service import Kind, Refusal, Service, sentence
from crag.embedding.tokenizer import clean
from crag.errors import EmbeddingError

PARALLEL: Final = 4
"""Requests at a time, whatever is allowed of chat models: a build has as many batches as it likes."""
MOST_CHARACTERS: Final = 6000
"""Of one text: 8192 tokens is the most that hosted models read, and they refuse what is longer."""
BLANK: Final = "-"
"""Sent in place of a text without characters, which services refuse."""
BACKOFF: Final = 0.5
MOST_BACKOFF: Final = 8.0
LONGEST_WAIT: Final = 60.0
"""Seconds; who asks to be left alone for longer is given up at once."""
PATIENCE: Final = 6
"""So often a build repeats a request after "too much was asked": it is nobody who waits for an answer."""
TICK: Final = 0.05
_CACHED_QUERIES: Final = 256


class RemoteEmbedder:
    """An `Embedder` that is `Sending`. Its requests run on a loop of its own, so that they can be cancelled.

    `retries` and `concurrency` are as for chat models; `backoff` is the first wait in seconds, then doubled. Nothing is
    sent before the first text. Raises EmbeddingError with a sentence for whatever the service does.
    """

    def __init__(self, service: Service, retries: int = 2, concurrency: int = PARALLEL, backoff: float = BACKOFF):
        self.service = service
        numbers = service.dimension or "own"
        self.fingerprint = f"{service.provider} {service.model} dimension-{numbers} prefix-{service.prefixes.version}"
        self.destination = service.name
        """Where texts are sent, as messages call it."""
        self._parallel = min(concurrency, PARALLEL)
        self.portion = service.batch * self._parallel
        self._retries, self._backoff = retries, backoff
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._slots: asyncio.Semaphore | None = None
        self._quiet_until = 0.0
        self._found = 0
        self._query = functools.lru_cache(_CACHED_QUERIES)(self._embed_query)

    @property
    def dimension(self) -> int:
        """Found by a first request, unless vectors have been made already."""
        if not self._found:
            self.embed_query(BLANK)
        return self._found

    def embed_query(self, text: str) -> Vectors:
        """See `Embedder.embed_query`."""
        return self._query(text).copy()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed_passages`."""
        return self._run(texts, "passage", None)

    def embed_until(self, texts: Sequence[str], stopping: threading.Event) -> Vectors:
        """See `Sending.embed_until`."""
        return self._run(texts, "passage", stopping)

    def _embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._run([text], "query", None)[0]
        return vector

    # --- between threads ----------------------------------------------------------------------------------------

    def _run(self, texts: Sequence[str], kind: Kind, stopping: threading.Event | None) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        patience = PATIENCE if stopping is not None else 0
        future = asyncio.run_coroutine_threadsafe(self._all(texts, kind, patience), self._running())
        try:
            _until(future, stopping)
        finally:
            future.cancel()  # nothing where it is done
        return future.result()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="embedding-requests", daemon=True).start()
            return self._loop

    # --- on the loop --------------------------------------------------------------------------------------------

    async def _all(self, texts: Sequence[str], kind: Kind, patience: int) -> Vectors:
        prefix = self.service.prefixes.query if kind == "query" else self.service.prefixes.passage
        ready = [prefix + (clean(text)[:MOST_CHARACTERS] or BLANK) for text in texts]
        size = self.service.batch
        try:
            async with asyncio.TaskGroup() as group:
                asked = [
                    group.create_task(self._batch(ready[start : start + size], kind, patience))
                    for start in range(0, len(ready), size)
                ]
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return np.concatenate([task.result() for task in asked])

    async def _batch(self, texts: Sequence[str], kind: Kind, patience: int) -> Vectors:
        if self._slots is None:
            self._slots = asyncio.Semaphore(self._parallel)
        tries = 0
        while True:
            tries += 1
            async with self._slots:
                await self._leave_alone()
                try:
                    return self._checked(await self._sent(texts, kind), len(texts))
                except Refusal as refusal:
                    most = max(self._retries, patience) if refusal.status in (429, 503) else self._retries
                    delay = refusal.retry_after
                    if not refusal.may_pass or tries > most or (delay or 0) > LONGEST_WAIT:
                        raise EmbeddingError(sentence(self.service, refusal, tries)) from None
            if delay is not None:  # the service means all requests
                self._quiet_until = max(self._quiet_until, time.monotonic() + delay)
            else:
                pause = min(self._backoff * 2 ** (tries - 1), MOST_BACKOFF)
                await asyncio.sleep(pause * random.uniform(1, 1.25))  # noqa: S311 - so that batches do not march in step

    async def _leave_alone(self) -> None:
        while (left := self._quiet_until - time.monotonic()) > 0:  # noqa: ASYNC110 - it may have been put off meanwhile
            await asyncio.sleep(left)

    async def _sent(self, texts: Sequence[str], kind: Kind) -> Sequence[Sequence[float]]:
        try:
            async with asyncio.timeout(self.service.timeout):
                return await self.service.send(texts, kind)
        except Refusal:
            raise
        except TimeoutError:
            raise Refusal("slow") from None
        except Exception:  # the libraries let through whatever reading an unknown answer raises; it may quote the key
            raise Refusal("form") from None

    def _checked(self, rows: Sequence[Sequence[float]], wanted: int) -> Vectors:
        """The rows as unit vectors. Raises Refusal or EmbeddingError where they are none."""
        try:
            vectors = np.asarray(rows, np.float64)
        except (ValueError, TypeError, OverflowError):
            raise Refusal("form") from None
        name = self.service.name
        if len(rows) != wanted:
            raise EmbeddingError(
                f"{name} returned {len(rows)} vectors for {wanted} texts: choose another model or another server."
            )
        if vectors.ndim != 2 or not vectors.shape[1]:
            raise Refusal("form")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EmbeddingError(f"{name} returned no usable numbers: choose another model, or restart the server.")
        self._expect(vectors.shape[1])
        return np.asarray(vectors / lengths, np.float32)

    def _expect(self, dimension: int) -> None:
        asked, found = self.service.dimension, self._found
        if asked and dimension != asked:
            raise EmbeddingError(
                f"{self.service.name} returned vectors of {dimension} numbers instead of {asked}: {self.service.model} "
                "offers no such choice, leave CRAG_EMBEDDING_DIMENSION unset."
            )
        if found and dimension != found:
            raise EmbeddingError(
                f"{self.service.name} returned vectors of {dimension} numbers, and of {found} before: another model "
                f"answers to the name {self.service.model}. Start again, and build the knowledge base anew."
            )
        self._found = dimension


def _until(future: Future[Vectors], stopping: threading.Event | None) -> None:
    """Waits for the end. Raises StoppedError soon after `stopping` is set."""
    if stopping is None:
        wait([future])
        return
    while not wait([future], timeout=TICK).done:
        if stopping.is_set():
            raise StoppedError
