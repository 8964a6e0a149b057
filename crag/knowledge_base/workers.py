"""Worker processes that read PDFs: slow, crashing and greedy files end their own task and nothing else."""

from __future__ import annotations

import logging
import sys
import threading
import types
from collections.abc import Callable, Generator
from concurrent.futures import wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import TypeVar

import pebble

from crag.errors import KnowledgeBaseError, PdfError
from crag.knowledge_base.chunker import digest
from crag.knowledge_base.page_text import PageText
from crag.knowledge_base.pdf_loader import SLICE, PdfHead, RawPage, initialise_worker, read_head, read_pages
from crag.knowledge_base.records import OcrMode
from crag.schema import Passage

R = TypeVar("R")

_log = logging.getLogger(__name__)
_launch = threading.Lock()


class CancelledError(Exception):
    """The build was asked to stop."""


class TransientPdfError(PdfError):
    """The file may well be readable another time: it is tried again with every build."""


class _Worker(SpawnProcess):
    """A process that does not import the parent's main module: under Streamlit that is the page itself."""

    def start(self) -> None:
        with _launch:
            main, blank = sys.modules["__main__"], types.ModuleType("__main__")
            sys.modules["__main__"] = blank
            try:
                super().start()
            finally:
                if sys.modules["__main__"] is blank:
                    sys.modules["__main__"] = main


class WorkerContext(SpawnContext):
    """For a pool of such processes."""

    Process = _Worker


class Workers:
    """A pool that is started with the first file and ended with the build."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._pool: pebble.ProcessPool | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        if self._pool is not None:
            self._pool.stop()  # type: ignore[no-untyped-call]
            self._pool.join()
            self._pool = None

    def read(
        self, path: Path, content: str, fingerprint: str, cancel: threading.Event, ocr: OcrMode = "auto"
    ) -> Generator[tuple[int, int], None, tuple[PdfHead, list[PageText], list[Passage]]]:
        """Reads a whole PDF and cuts it into passages; yields (pages done, pages in all) now and then.

        Raises PdfError where the file is to blame, CancelledError.
        """
        head = self._call("opening it", 1, cancel, partial(read_head, path))
        raw: list[RawPage] = []
        yield 0, head.pages
        for start in range(0, head.pages, SLICE):
            stop = min(start + SLICE, head.pages)
            what = f"reading pages {start + 1}-{stop}" if stop > start + 1 else f"reading page {stop}"
            raw += self._call(what, 1, cancel, partial(read_pages, path, start, stop))
            yield stop, head.pages
        slices = 1 + head.pages // SLICE
        pages, passages = self._call(
            "sorting its text", slices, cancel, partial(digest, content, fingerprint, raw, head.outline)
        )
        return head, pages, passages

    def _call(self, what: str, slices: int, cancel: threading.Event, function: Callable[[], R]) -> R:
        """The result of `function` from a worker. A worker that dies between two tasks takes pebble's whole pool
        with it, which is nobody's fault: a fresh pool is tried once."""
        try:
            return self._attempt(what, slices, cancel, function)
        except BrokenProcessPool:
            self._end()
        try:
            return self._attempt(what, slices, cancel, function)
        except BrokenProcessPool as error:
            raise KnowledgeBaseError(f"The PDF reader cannot be started ({error}): reinstall pymupdf.") from error

    def _attempt(self, what: str, slices: int, cancel: threading.Event, function: Callable[[], R]) -> R:
        limit = self._timeout * slices
        if self._pool is None:
            self._pool = pebble.ProcessPool(
                max_workers=1, max_tasks=500, initializer=initialise_worker, context=WorkerContext()
            )
        future = self._pool.schedule(function, timeout=limit)
        while not wait([future], timeout=0.1).done:
            if cancel.is_set():
                future.cancel()  # type: ignore[no-untyped-call]
                raise CancelledError
        try:
            result: R = future.result()
        except (PdfError, BrokenProcessPool):
            raise
        except TimeoutError:
            raise TransientPdfError(
                f"It takes too long: {what} was given up after {limit:g} s; "
                "print it to PDF again, or raise CRAG_PARSE_TIMEOUT."
            ) from None
        except pebble.ProcessExpired:
            raise TransientPdfError(f"The PDF reader crashed while {what}: print the file to PDF again.") from None
        except MemoryError:
            raise PdfError(f"It needs too much memory ({what}): split it or print it to PDF again.") from None
        except Exception as error:  # whatever a hostile file provokes, it costs that file only
            _log.exception("unexpected error while %s", what)
            raise PdfError(f"It cannot be read ({type(error).__name__} while {what}): print it to PDF again.") from None
        return result
