"""Jobs outlive who started them, can be followed from the start by anyone, and end with a sentence."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator

import pytest

from crag.errors import KnowledgeBaseError
from crag.runtime import KEPT_JOBS, Job, JobState, Runtime, in_pool


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    made = Runtime()
    yield made
    made.close()


def test_two_readers_see_every_event_although_one_came_late(runtime: Runtime) -> None:
    async def source(_: Job[int]) -> AsyncIterator[int]:
        for number in range(3):
            yield number
            await asyncio.sleep(0.01)

    job = runtime.start("turn", source)
    assert list(job.follow()) == [0, 1, 2]
    assert list(job.follow()) == [0, 1, 2]
    assert job.state is JobState.FINISHED


def test_stop_is_seen_by_the_work_and_keeps_what_came_before(runtime: Runtime) -> None:
    async def source(job: Job[int]) -> AsyncIterator[int]:
        number = 0
        while not job.stopping.is_set():
            yield number
            number += 1
            await asyncio.sleep(0.005)

    job = runtime.start("turn", source)
    first = next(job.follow())
    job.stop()
    events = list(job.follow(timeout=2))
    assert events[0] == first
    assert job.state is JobState.FINISHED


def test_our_errors_are_shown_as_they_are_and_others_without_their_text(runtime: Runtime) -> None:
    async def ours(_: Job[int]) -> AsyncIterator[int]:
        raise KnowledgeBaseError("The index is gone: rebuild it.")
        yield 0

    async def strange(_: Job[int]) -> AsyncIterator[int]:
        raise ValueError("secret-key-123")
        yield 0

    jobs = [runtime.start("turn", ours), runtime.start("turn", strange)]
    for job in jobs:
        assert list(job.follow(timeout=2)) == []
    assert jobs[0].error == "The index is gone: rebuild it."
    assert jobs[1].error is not None
    assert "ValueError" in jobs[1].error
    assert "secret" not in jobs[1].error


def test_a_second_build_joins_the_running_one(runtime: Runtime) -> None:
    gate = threading.Event()

    def source(_: Job[str]) -> Iterator[str]:
        gate.wait(5)
        yield "built"

    first = runtime.start_blocking("build", source)
    second = runtime.start_blocking("build", source)
    assert second is first
    gate.set()
    assert list(first.follow(timeout=5)) == ["built"]
    assert runtime.start_blocking("build", source) is not first


def test_following_gives_up_after_the_timeout_while_the_job_goes_on(runtime: Runtime) -> None:
    gate = threading.Event()

    def source(_: Job[str]) -> Iterator[str]:
        yield "one"
        gate.wait(5)
        yield "two"

    job = runtime.start_blocking("build", source)
    assert list(job.follow(timeout=0.05)) == ["one"]
    assert job.running
    gate.set()
    assert list(job.follow(timeout=5)) == ["one", "two"]


def test_old_jobs_are_forgotten_but_never_a_running_one(runtime: Runtime) -> None:
    gate = threading.Event()

    async def endless(_: Job[int]) -> AsyncIterator[int]:
        await in_pool(gate.wait, 10)
        yield 1

    async def quick(_: Job[int]) -> AsyncIterator[int]:
        yield 1

    running = runtime.start("turn", endless)
    done = [runtime.start("turn", quick) for _ in range(KEPT_JOBS + 20)]
    for job in done:
        list(job.follow(timeout=5))
    newest = runtime.start("turn", quick)
    assert runtime.job(running.id) is running
    assert runtime.job(newest.id) is newest
    assert runtime.job(done[0].id) is None
    gate.set()
