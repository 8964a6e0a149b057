"""Worker processes that read PDFs: slow, crashing and greedy files end their own task and nothing else."""

from __future__ import annotations

import logging
import sys
import threading
import types
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import TypeVar

import pebble

from crag.errors import KnowledgeBaseError, PdfError
from crag.knowledge_base.chunker import digest
from crag.knowledge_base.health import Need, Reading, need_of
from crag.knowledge_base.ocr import TIME_FACTOR, read_by_ocr
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

    def __init__(self, timeout: float, ocr_cache: Path) -> None:
        """`timeout` is in seconds, for a slice of pages; `ocr_cache` is a folder for what OCR reads."""
        self._timeout = timeout
        self._ocr_cache = ocr_cache
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

        `ocr` tells which pages are read from their pictures: none ("off"), those without usable text, or all ("force").
        Raises PdfError where the file is to blame, CancelledError.
        """
        head = self._call("opening it", 1, cancel, partial(read_head, path))
        raw: list[RawPage] = []
        yield 0, head.pages
        for start in range(0, head.pages, SLICE):
            stop = min(start + SLICE, head.pages)
            what = f"reading pages {start + 1}-{stop}" if stop > start + 1 else f"reading page {stop}"
            some = self._call(what, 1, cancel, partial(read_pages, path, start, stop))
            raw += yield from self._read_pictures(path, some, head.pages, cancel, ocr)
            yield stop, head.pages
        slices = 1 + head.pages // SLICE
        pages, passages = self._call(
            "sorting its text", slices, cancel, partial(digest, content, fingerprint, raw, head.outline)
        )
        return head, pages, passages

    def _read_pictures(
        self, path: Path, pages: Sequence[RawPage], total: int, cancel: threading.Event, mode: OcrMode
    ) -> Generator[tuple[int, int], None, list[RawPage]]:
        """The pages, those that need it read by OCR, each as a task of its own: a page that fails stays as it was."""
        done = []
        for page in pages:
            need = need_of(page, mode)
            if need is not None:
                yield page.number - 1, total
                page = self._read_picture(path, page, need, cancel)
            elif mode == "off" and need_of(page, "auto") in (Need.WHOLE, Need.FILL):
                page = replace(page, reading=Reading.OFF)
            done.append(page)
        return done

    def _read_picture(self, path: Path, page: RawPage, need: Need, cancel: threading.Event) -> RawPage:
        what = f"reading the picture of page {page.number}"
        try:
            return self._call(what, TIME_FACTOR, cancel, partial(read_by_ocr, path, page, need, self._ocr_cache))
        except PdfError as error:
            _log.warning("OCR: %s", error)
            return replace(page, reading=Reading.FAILED, failure=str(error))

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
