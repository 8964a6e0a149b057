"""Reads files ahead in worker processes while the builder embeds what was read: in order, within a bound on memory."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from crag.errors import PdfError
from crag.knowledge_base.pace import Pace
from crag.knowledge_base.page_text import PageText
from crag.knowledge_base.plan import Order, Plan
from crag.knowledge_base.scan import Entry, Hasher
from crag.knowledge_base.usability import verdict
from crag.knowledge_base.workers import CancelledError, Step, TransientPdfError, Workers
from crag.schema import Passage

PAGES_AHEAD = 400
"""So many pages may lie read and waiting; a reader that has them begins no further file."""
_MOST_READERS = 4


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one file. `unopened` tells why it could not be hashed; `held` is the content that has it already;
    with `order` it was read: pages and passages, or the error."""

    sha256: str = ""
    mtime_ns: int = 0
    unopened: str | None = None
    held: int | None = None
    order: Order | None = None
    pages: Sequence[PageText] = ()
    passages: Sequence[Passage] = ()
    warnings: Sequence[str] = ()
    seconds: float = 0.0
    error: PdfError | None = None


@dataclass(slots=True)
class Coming:
    """One file on its way: a step and its pages a second any number of times, then how it ended."""

    entry: Entry
    index: int
    messages: queue.SimpleQueue[tuple[Step, float] | Outcome | BaseException] = field(default_factory=queue.SimpleQueue)


def readers_for(cores: int) -> int:
    """How many files are read at once: embedding needs cores too."""
    return max(1, min(_MOST_READERS, cores // 2))


class ReadAhead:
    """Readers, a thread and a worker process each, that take the files in order. A context: its end stops them."""

    def __init__(self, entries: Sequence[Entry], plan: Plan, hasher: Hasher, pace: Pace, workers: Sequence[Workers]):
        self.coming = [Coming(entry, index) for index, entry in enumerate(entries, 1)]
        self._plan, self._hasher, self._pace = plan, hasher, pace
        self._todo: Iterator[Coming] = iter(self.coming)
        self._stop = threading.Event()
        self._turn = threading.Lock()
        self._room = threading.Condition()
        self._waiting = 0
        self._threads = [
            threading.Thread(target=self._run, args=(one,), name="crag-reader", daemon=True) for one in workers
        ]

    def __enter__(self) -> ReadAhead:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        with self._room:
            self._room.notify_all()
        for thread in self._threads:
            thread.join()

    def follow(self, coming: Coming, cancel: threading.Event) -> Generator[tuple[Step, float], None, Outcome]:
        """Yields the progress of one file, waiting for it, and returns its outcome. To be called in order.

        Raises CancelledError, and what no file is to blame for.
        """
        while True:
            if cancel.is_set():
                raise CancelledError
            try:
                message = coming.messages.get(timeout=0.1)
            except queue.Empty:
                continue
            if isinstance(message, BaseException):
                raise message
            if isinstance(message, Outcome):
                self._taken(len(message.pages))
                return message
            yield message

    def _taken(self, pages: int) -> None:
        with self._room:
            self._waiting -= pages
            self._room.notify_all()

    def _run(self, workers: Workers) -> None:
        with workers:
            while (step := self._next()) is not None:
                coming, order, mtime_ns = step
                try:
                    outcome = self._read(workers, coming, order, mtime_ns)
                except BaseException as error:  # it is the builder that has to end
                    coming.messages.put(error)
                    return
                with self._room:
                    self._waiting += len(outcome.pages)
                coming.messages.put(outcome)

    def _next(self) -> tuple[Coming, Order, int] | None:
        """The next file that has to be read; those before it that need no reading are answered on the way."""
        with self._turn:
            while True:
                with self._room:
                    self._room.wait_for(lambda: self._stop.is_set() or self._waiting < PAGES_AHEAD)
                coming = next(self._todo, None)
                if coming is None or self._stop.is_set():
                    return None
                try:
                    found = self._identified(coming.entry)
                except BaseException as error:  # it is the builder that has to end
                    coming.messages.put(error)
                    return None
                if found.order is not None:
                    return coming, found.order, found.mtime_ns
                self._pace.passed_over(coming.entry.size)
                coming.messages.put(found)

    def _identified(self, entry: Entry) -> Outcome:
        if entry.error is not None:
            return Outcome(mtime_ns=entry.mtime_ns, unopened=entry.error)
        try:
            sha256, mtime_ns = self._hasher.sha256(entry, self._stop)
        except OSError as error:
            reason = f"It cannot be read ({error.strerror or error}): check the file and its permissions."
            return Outcome(mtime_ns=entry.mtime_ns, unopened=reason)
        decided = self._plan.decide(sha256)
        if isinstance(decided, Order):
            return Outcome(sha256, mtime_ns, order=decided)
        return Outcome(sha256, mtime_ns, held=decided)

    def _read(self, workers: Workers, coming: Coming, order: Order, mtime_ns: int) -> Outcome:
        begun = time.monotonic()
        entry, sha256 = coming.entry, order.sha256
        told: dict[str, Any] = {"sha256": sha256, "mtime_ns": mtime_ns, "order": order}
        before, known = 0, False
        try:
            password = self._plan.passwords.get(sha256)
            steps = workers.read(entry.real, sha256, order.key, self._stop, order.ocr, password)
            while True:
                try:
                    step = next(steps)
                except StopIteration as end:
                    head, pages, passages = end.value
                    break
                if not known:
                    self._pace.opened(entry.size, step.total)
                    known = True
                self._pace.read(step.done - before)
                before = step.done
                coming.messages.put((step, step.done / max(time.monotonic() - begun, 0.001)))
            _refuse_if_changed(entry)
            warnings = verdict(pages, len(passages), head)
        except PdfError as error:
            if not known:
                self._pace.passed_over(entry.size)
            return Outcome(**told, seconds=time.monotonic() - begun, error=error)
        self._pace.cut(len(passages), len(pages))
        return Outcome(**told, pages=pages, passages=passages, warnings=warnings, seconds=time.monotonic() - begun)


def open_workers(open_one: Callable[[], Workers]) -> list[Workers]:
    """One worker process for each reader, each started with its first file."""
    return [open_one() for _ in range(readers_for(os.cpu_count() or 1))]


def _refuse_if_changed(entry: Entry) -> None:
    try:
        now = entry.real.stat()
    except OSError:
        raise TransientPdfError("It was removed while it was read: build again.") from None
    if (now.st_size, now.st_mtime_ns) != (entry.size, entry.mtime_ns):
        raise TransientPdfError("It was changed while it was read: build again.")
