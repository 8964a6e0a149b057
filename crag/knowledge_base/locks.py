"""Locks: one writer per index, shared holds on what must not vanish, and a gate inside the process.

All file locks are the operating system's: a dead process holds none.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import portalocker

from crag.errors import BuildLockedError, KnowledgeBaseError


@contextmanager
def build_lock(path: Path) -> Iterator[None]:
    """The writer lock. Raises BuildLockedError that names the holder; who holds it stands beside it as JSON."""
    holder = path.with_suffix(".holder")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        try:
            portalocker.lock(file, portalocker.LOCK_EX | portalocker.LOCK_NB)
        except portalocker.LockException:
            raise BuildLockedError(f"{_who(holder)}: wait until it has finished, or stop it there.") from None
        try:
            now = time.strftime("%Y-%m-%d %H:%M:%S")
            holder.write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": now}))
            yield
        finally:
            holder.unlink(missing_ok=True)
            portalocker.unlock(file)


def held(path: Path) -> str | None:
    """Who holds the writer lock, as a sentence without its end; None where nobody does."""
    if not path.exists():
        return None
    with path.open("a+") as file:
        try:
            portalocker.lock(file, portalocker.LOCK_SH | portalocker.LOCK_NB)
        except portalocker.LockException:
            return _who(path.with_suffix(".holder"))
        portalocker.unlock(file)
        return None


def _who(holder: Path) -> str:
    try:
        who = json.loads(holder.read_text())
        return f"The index is being built by process {who['pid']} on {who['host']} since {who['since']}"
    except (OSError, ValueError, KeyError):
        return "The index is being built by another process"


def hold(path: Path, *, wait: bool = True) -> IO[str]:
    """Takes the shared lock on `path`; closing the returned file gives it back. Raises KnowledgeBaseError."""
    file = path.open("a+")
    try:
        portalocker.lock(file, portalocker.LOCK_SH if wait else portalocker.LOCK_SH | portalocker.LOCK_NB)
    except portalocker.LockException:
        file.close()
        raise KnowledgeBaseError("The index is being written by another process: wait until it has finished.") from None
    return file


@contextmanager
def sole(path: Path, timeout: float = 0.0) -> Iterator[bool]:
    """Whether the exclusive lock on `path` could be had within `timeout` seconds: nobody, in any process, holds it."""
    deadline = time.monotonic() + timeout
    with path.open("a+") as file:
        while True:
            try:
                portalocker.lock(file, portalocker.LOCK_EX | portalocker.LOCK_NB)
                break
            except portalocker.LockException:
                if time.monotonic() >= deadline:
                    yield False
                    return
                time.sleep(0.05)
        try:
            yield True
        finally:
            portalocker.unlock(file)


class Gate:
    """Many may read at once; who changes waits for them and keeps new ones out."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._readers = 0
        self._changing = False

    @contextmanager
    def read(self) -> Iterator[None]:
        """Holds the gate open for a reader; waits while somebody changes what is read."""
        with self._condition:
            self._condition.wait_for(lambda: not self._changing)
            self._readers += 1
        try:
            yield
        finally:
            with self._condition:
                self._readers -= 1
                self._condition.notify_all()

    @contextmanager
    def change(self) -> Iterator[None]:
        """Shuts the gate; waits until the last reader has gone."""
        with self._condition:
            self._condition.wait_for(lambda: not self._changing)
            self._changing = True
            self._condition.wait_for(lambda: self._readers == 0)
        try:
            yield
        finally:
            with self._condition:
                self._changing = False
                self._condition.notify_all()
