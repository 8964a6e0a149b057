"""The gate before the web: where a turn waits until a person allows its query, edits it, or declines."""

from __future__ import annotations

import asyncio
import threading


class Gate:
    """One per turn, for one query. `answer` may be called from any thread; the first answer counts."""

    def __init__(self) -> None:
        self._answered = threading.Event()
        self._query: str | None = None
        self._lock = threading.Lock()

    @property
    def answered(self) -> bool:
        return self._answered.is_set()

    def answer(self, query: str | None) -> None:
        """Lets `query` out; None or nothing but white space: nothing leaves."""
        with self._lock:
            if not self._answered.is_set():
                self._query = (query or "").strip() or None
                self._answered.set()

    async def wait(self) -> str | None:
        """The query that may be sent, None where it may not; waits as long as it takes."""
        while not self._answered.is_set():  # noqa: ASYNC110 - set by threads
            await asyncio.sleep(0.05)
        return self._query
