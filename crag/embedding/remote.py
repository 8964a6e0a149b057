"""An embedder over a service: batches, some at a time, repeated where a failure may pass, checked, and stoppable."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, wait
from typing import Final

import numpy as np

from crag.agent_model.base import Ledger
from crag.embedding.base import StoppedError, Vectors
from crag.embedding.noted import Noted
from crag.embedding.service import Answer, Kind, Refusal, Service, sentence
from crag.embedding.tokenizer import clean
from crag.errors import EmbeddingError
from crag.schema import ModelCall

PARALLEL: Final = 4
"""Requests at a time, whatever is allowed of chat models: a build has as many batches as it likes."""
MOST_CHARACTERS: Final = 6000
"""Of one text: 8192 tokens is the most that hosted models read, and they refuse what is longer."""
SHORTEST: Final = 250
"""A text of so few characters is not cut further where a service calls it too long."""
BLANK: Final = "-"
"""Sent in place of a text without characters, which services refuse."""
BACKOFF: Final = 0.5
MOST_BACKOFF: Final = 8.0
LONGEST_WAIT: Final = 60.0
"""Seconds; who asks to be left alone for longer is given up at once."""
PATIENCE: Final = 6
"""So often a build repeats a request after "too much was asked": it is nobody who waits for an answer."""
TICK: Final = 0.05
CLOSING: Final = 5.0
"""Seconds that closing may take."""
_CACHED_QUERIES: Final = 256


class RemoteEmbedder:
    """An `Embedder` that is `Sending`. Its requests run on a loop of its own, so that they can be cancelled.

    `retries` and `concurrency` are as for chat models; `backoff` is the first wait in seconds, then doubled; `price`
    is the cost of a million tokens, 0: unknown. Nothing is sent before the first text. Raises EmbeddingError with a
    sentence for whatever the service does.
    """

    def __init__(
        self,
        service: Service,
        retries: int = 2,
        concurrency: int = PARALLEL,
        backoff: float = BACKOFF,
        price: float = 0.0,
    ):
        self.service, self.price = service, price
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
        self._queries: dict[str, Vectors] = {}

    @property
    def dimension(self) -> int:
        """Found by a first request, unless vectors have been made already."""
        if not self._found:
            self.embed_query(BLANK)
        return self._found

    def embed_query(self, text: str, ledger: Ledger | None = None) -> Vectors:
        """See `Embedder.embed_query`. Requests are noted in `ledger`, here and below."""
        with self._lock:
            known = self._queries.get(text)
        if known is None:
            known = self._run([text], "query", None, ledger)[0]
            with self._lock:
                self._queries[text] = known
                for oldest in list(self._queries)[:-_CACHED_QUERIES]:
                    del self._queries[oldest]
        return known.copy()

    def embed_passages(self, texts: Sequence[str], ledger: Ledger | None = None) -> Vectors:
        """See `Embedder.embed_passages`."""
        return self._run(texts, "passage", None, ledger)

    def embed_until(self, texts: Sequence[str], stopping: threading.Event, ledger: Ledger | None = None) -> Vectors:
        """See `Sending.embed_until`."""
        return self._run(texts, "passage", stopping, ledger)

    def noting(self, ledger: Ledger) -> Noted:
        """See `Sending.noting`."""
        return Noted(self, ledger)

    def close(self) -> None:
        """See `Sending.close`. Blocking; from another thread than the one of its loop."""
        with self._lock:
            loop, self._loop, self._slots = self._loop, None, None
        if loop is not None:
            with contextlib.suppress(TimeoutError):  # the loop is stuck; the connections go with the process
                asyncio.run_coroutine_threadsafe(self._end(), loop).result(CLOSING)
            loop.call_soon_threadsafe(loop.stop)

    # --- between threads ----------------------------------------------------------------------------------------

    def _run(
        self, texts: Sequence[str], kind: Kind, stopping: threading.Event | None, ledger: Ledger | None
    ) -> Vectors:
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        if stopping is not None and stopping.is_set():
            raise StoppedError
        patience = PATIENCE if stopping is not None else 0
        working = self._all(texts, kind, patience, Ledger() if ledger is None else ledger)
        future = asyncio.run_coroutine_threadsafe(working, self._running())
        try:
            _until(future, stopping)
        finally:
            future.cancel()  # nothing where it is done
        try:
            return future.result()
        except CancelledError:  # by `close`
            raise EmbeddingError("The program was closed before the vectors were made.") from None

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self.service.open()  # here, so that no request's time passes with it
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name="embedding-requests", daemon=True).start()
            return self._loop

    # --- on the loop --------------------------------------------------------------------------------------------

    async def _end(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self.service.aclose()

    async def _all(self, texts: Sequence[str], kind: Kind, patience: int, ledger: Ledger) -> Vectors:
        prefix = self.service.prefixes.query if kind == "query" else self.service.prefixes.passage
        ready = [prefix + (clean(text)[:MOST_CHARACTERS] or BLANK) for text in texts]
        size = self.service.batch
        try:
            async with asyncio.TaskGroup() as group:
                asked = [
                    group.create_task(self._batch(ready[start : start + size], kind, patience, ledger))
                    for start in range(0, len(ready), size)
                ]
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return np.concatenate([task.result() for task in asked])

    async def _batch(self, texts: Sequence[str], kind: Kind, patience: int, ledger: Ledger) -> Vectors:
        if self._slots is None:
            self._slots = asyncio.Semaphore(self._parallel)
        tries = 0
        while True:
            tries += 1
            async with self._slots:
                await self._leave_alone()
                start = time.perf_counter()
                try:
                    answer = await self._sent(texts, kind)
                    vectors = self._checked(answer.vectors, len(texts))
                    ledger.calls.append(self._call(start, answer.tokens))
                    return vectors
                except EmbeddingError as error:
                    ledger.calls.append(self._call(start, error=str(error)))
                    raise
                except Refusal as refusal:
                    ledger.calls.append(self._call(start, error=sentence(self.service, refusal, 1)))
                    if refusal.too_long and (len(texts) > 1 or len(texts[0]) > SHORTEST):
                        break
                    most = max(self._retries, patience) if refusal.status in (429, 503) else self._retries
                    delay = refusal.retry_after
                    if not refusal.may_pass or tries > most or (delay or 0) > LONGEST_WAIT:
                        raise EmbeddingError(sentence(self.service, refusal, tries)) from None
            if delay is not None:  # the service means all requests
                self._quiet_until = max(self._quiet_until, time.monotonic() + delay)
            else:
                pause = min(self._backoff * 2 ** (tries - 1), MOST_BACKOFF)
                await asyncio.sleep(pause * random.uniform(1, 1.25))  # noqa: S311 - so that batches do not march in step

        return await self._shortened(texts, kind, patience, ledger)

    async def _shortened(self, texts: Sequence[str], kind: Kind, patience: int, ledger: Ledger) -> Vectors:
        """One by one, and what is still too long by halves: a vector depends on its text alone."""
        if len(texts) == 1:
            return await self._batch([texts[0][: len(texts[0]) // 2]], kind, patience, ledger)
        return np.concatenate([await self._batch([text], kind, patience, ledger) for text in texts])

    async def _leave_alone(self) -> None:
        while (left := self._quiet_until - time.monotonic()) > 0:  # noqa: ASYNC110 - it may have been put off meanwhile
            await asyncio.sleep(left)

    def _call(self, start: float, tokens: int | None = None, error: str | None = None) -> ModelCall:
        """One request for a ledger."""
        return ModelCall(
            role="embed",
            model=f"{self.service.provider}:{self.service.model}",
            seconds=time.perf_counter() - start,
            tokens_in=tokens,
            cost=tokens * self.price / 1e6 if tokens is not None and self.price else None,
            error=error,
        )

    async def _sent(self, texts: Sequence[str], kind: Kind) -> Answer:
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
