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


def test_what_is_to_be_done_at_the_end_of_a_job_is_done_before_anybody_sees_it_ended(runtime: Runtime) -> None:
    goes_on, seen = threading.Event(), list[tuple[bool, str | None]]()

    async def source(_: Job[int]) -> AsyncIterator[int]:
        await asyncio.to_thread(goes_on.wait)
        yield 1
        raise KnowledgeBaseError("It failed.")

    job = runtime.start("turn", source)
    job.at_end(lambda: seen.append((job.running, job.error)))
    goes_on.set()
    assert list(job.follow(timeout=5)) == [1]
    assert seen == [(True, "It failed.")]
    job.at_end(lambda: seen.append((job.running, job.error)))
    assert seen[1:] == [(False, "It failed.")]


def test_a_job_that_is_found_again_looks_like_one_that_has_ended() -> None:
    job = Job.ended("turn", "id", [1, 2])
    assert (job.id, job.state, list(job.follow())) == ("id", JobState.FINISHED, [1, 2])
    assert Job.ended("turn", "id", (), "It failed.").state is JobState.FAILED


def test_what_ends_by_itself_when_the_program_is_closed_keeps_its_last_event() -> None:
    runtime = Runtime()

    async def source(job: Job[str]) -> AsyncIterator[str]:
        yield "first"
        while not job.stopping.is_set():  # noqa: ASYNC110 - set by threads
            await asyncio.sleep(0.01)
        yield "last"

    job = runtime.start("turn", source)
    runtime.close()
    assert job.state is JobState.FINISHED
    assert job.events[-1] == "last"
