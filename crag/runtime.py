"""Where work runs: the one event-loop thread, a bounded pool for what blocks, and jobs with append-only event logs."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from functools import partial
from typing import Any, Generic, TypeVar

from crag.errors import CragError

log = logging.getLogger(__name__)

E = TypeVar("E")
T = TypeVar("T")

POOL_THREADS = 4
KEPT_JOBS = 200
LAST_STEPS = 0.5
"""Seconds in which what is stopped with the program may end by itself, and so keep what it has."""

_pool = ThreadPoolExecutor(POOL_THREADS, thread_name_prefix="crag-pool")


async def in_pool(work: Callable[..., T], *args: Any) -> T:
    """Runs blocking `work(*args)` on the bounded pool, so that the event loop stays free."""
    return await asyncio.get_running_loop().run_in_executor(_pool, work, *args)


class JobState(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"


class Job(Generic[E]):
    """A piece of work that outlives the page that started it.

    Its events are only ever appended, so any number of readers follow it, each from where it stopped reading.
    Thread-safe. `error` is a sentence for the user, set when `state` is FAILED.
    """

    def __init__(self, kind: str) -> None:
        self.id = uuid.uuid4().hex
        self.kind = kind
        self.state = JobState.RUNNING
        self.error: str | None = None
        self.stopping = threading.Event()
        self._events: list[E] = []
        self._last: list[Callable[[], None]] = []
        self._changed = threading.Condition()

    @classmethod
    def ended(cls, kind: str, job_id: str, events: Iterable[E] = (), error: str | None = None) -> Job[E]:
        """One that ended earlier, as it is found again: finished, or with `error` failed."""
        job = cls(kind)
        job.id, job.error, job._events = job_id, error, list(events)
        job.state = JobState.FINISHED if error is None else JobState.FAILED
        return job

    @property
    def running(self) -> bool:
        return self.state is JobState.RUNNING

    @property
    def events(self) -> tuple[E, ...]:
        with self._changed:
            return tuple(self._events)

    def stop(self) -> None:
        """Asks the work to end early; what it has produced so far stays. Nothing else ends a job."""
        self.stopping.set()

    def follow(self, timeout: float | None = None) -> Iterator[E]:
        """All events from the first, waiting for those to come, until the job ends or `timeout` seconds pass."""
        seen = 0
        while True:
            with self._changed:
                grown = self._changed.wait_for(partial(self._has_more, seen), timeout)
                fresh = self._events[seen:]
            if not fresh and (not grown or not self.running):
                return
            seen += len(fresh)
            yield from fresh

    def _has_more(self, seen: int) -> bool:
        return len(self._events) > seen or not self.running

    def append(self, event: E) -> None:
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()

    def at_end(self, act: Callable[[], None]) -> None:
        """Runs `act`, something quick, when the work has ended and before anybody sees that; at once where it has."""
        with self._changed:
            if self.running:
                self._last.append(act)
                return
        act()

    def end(self, error: BaseException | None = None) -> None:
        """Marks the job as finished or, with `error`, as failed, and wakes whoever follows it."""
        state = JobState.FINISHED if error is None else JobState.FAILED
        told = None if error is None else sentence(error)
        with self._changed:
            self.error = told
            for act in self._last:
                act()
            self.state = state
            self._changed.notify_all()


def sentence(error: BaseException) -> str:
    """What the user reads of an error; what is not ours goes to the log with its traceback."""
    if isinstance(error, CragError):
        return str(error)
    if isinstance(error, asyncio.CancelledError):
        return "The program was closed before this was finished."
    if isinstance(error, OSError) and error.strerror:
        place = f" ({error.filename})" if error.filename else ""
        return f"The system refused: {error.strerror}{place}. Make room or correct the permissions, and try again."
    log.error("unexpected failure", exc_info=error)
    return f"Something unexpected failed ({type(error).__name__}). Try again; the log has the details."


class Runtime:
    """Owns the loop thread and the registry of jobs; one per process."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._jobs: dict[str, Job[Any]] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self.loop.run_forever, name="crag-loop", daemon=True)
        self._thread.start()

    def start(self, kind: str, source: Callable[[Job[E]], AsyncIterator[E]]) -> Job[E]:
        """Runs an async source of events on the loop as a job."""

        async def run() -> None:
            try:
                async for event in source(job):
                    job.append(event)
            except BaseException as error:
                job.end(error)
                if isinstance(error, asyncio.CancelledError):
                    raise
            else:
                job.end()

        job = self._register(Job[E](kind))
        asyncio.run_coroutine_threadsafe(run(), self.loop)
        return job

    def start_blocking(self, kind: str, source: Callable[[Job[E]], Iterator[E]]) -> Job[E]:
        """Runs a blocking source of events on a thread of its own. A second one of its kind joins the running one."""

        def run() -> None:
            try:
                for event in source(job):
                    job.append(event)
            except BaseException as error:
                job.end(error)
            else:
                job.end()

        with self._lock:
            running = next((job for job in self._jobs.values() if job.kind == kind and job.running), None)
            if running is not None:
                return running
            job = Job[E](kind)
            self._jobs[job.id] = job
        threading.Thread(target=run, name=f"crag-{kind}", daemon=True).start()
        return job

    def job(self, job_id: str) -> Job[Any] | None:
        """The job with this id, None once it is unknown or forgotten (the newest 200 are kept)."""
        return self._jobs.get(job_id)

    def latest(self, kind: str) -> Job[Any] | None:
        """The newest job of a kind."""
        with self._lock:
            return next((job for job in reversed(self._jobs.values()) if job.kind == kind), None)

    def busy(self, *but: str) -> bool:
        """Whether a job runs that is of none of these kinds."""
        with self._lock:
            return any(job.running and job.kind not in but for job in self._jobs.values())

    def close(self) -> None:
        """Stops the jobs, cancels what soon has not ended by itself, and ends the loop thread."""
        jobs, last = list(self._jobs.values()), time.monotonic() + LAST_STEPS
        for job in jobs:
            job.stop()
        while any(job.running for job in jobs) and time.monotonic() < last:
            time.sleep(0.01)
        asyncio.run_coroutine_threadsafe(_cancel_all(), self.loop).result(timeout=5)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=5)

    def _register(self, job: Job[E]) -> Job[E]:
        with self._lock:
            self._jobs[job.id] = job
            ended = [key for key, old in self._jobs.items() if not old.running]
            for key in ended[: max(0, len(self._jobs) - KEPT_JOBS)]:
                del self._jobs[key]
        return job


async def _cancel_all() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
