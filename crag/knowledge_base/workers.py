"""Worker processes that read PDFs: slow, crashing and greedy files end their own task and nothing else."""

from __future__ import annotations

import logging
import sys
import threading
import time
import types
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import partial
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import NamedTuple, TypeVar

import pebble
from pydantic import SecretStr

from crag.errors import KnowledgeBaseError, LockedPdfError, PdfError
from crag.knowledge_base.chunker import digest
from crag.knowledge_base.health import Need, OcrMode, Reading, need_of
from crag.knowledge_base.mineru import MinerU, MinerUError
from crag.knowledge_base.mineru_pages import read_by_mineru
from crag.knowledge_base.ocr import TIME_FACTOR, read_by_ocr
from crag.knowledge_base.page_text import PageText
from crag.knowledge_base.patience import Patience
from crag.knowledge_base.pdf_loader import (
    SLICE,
    PdfHead,
    RawPage,
    initialise_worker,
    lost_page,
    read_head,
    read_pages,
    read_shape,
)
from crag.schema import Passage

R = TypeVar("R")


class Step(NamedTuple):
    """How far the reading of a file has come: `done` of `total` pages. `stage`: reading, ocr or mineru."""

    done: int
    total: int
    stage: str = "reading"


_SLICE_SECONDS = 2.0
"""A task begins no further page after these: so its limit is that of one page."""
_VERY_MANY_WORDS = 20_000

_log = logging.getLogger(__name__)
_launch = threading.Lock()


class CancelledError(Exception):
    """The build was asked to stop."""


class TransientPdfError(PdfError):
    """The file may well be readable another time: it is tried again with every build."""


class _Worker(SpawnProcess):
    """A process that does not import the parent's main module: under Streamlit that is the page itself."""

    def start(self) -> None:
        """Starts the process while `__main__` is an empty module."""
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

    def __init__(self, timeout: float, ocr_cache: Path, mineru: MinerU | None = None) -> None:
        """`timeout` is in seconds, for a page; `ocr_cache` is a folder for what OCR reads; with `mineru` the files are
        sent to this service, and read here where it fails."""
        self._timeout = timeout
        self._ocr_cache = ocr_cache
        self._mineru = mineru
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
        self,
        path: Path,
        content: str,
        fingerprint: str,
        cancel: threading.Event,
        ocr: OcrMode = "auto",
        password: SecretStr | None = None,
    ) -> Generator[Step, None, tuple[PdfHead, list[PageText], list[Passage]]]:
        """Reads a whole PDF and cuts it into passages; yields how far it is now and then.

        `ocr` tells which pages are read from their pictures: none ("off"), those without usable text, or all ("force").
        Pages that take too long or crash the reader are left out. Raises PdfError where the file is to blame,
        LockedPdfError, CancelledError.
        """
        head = self._head(path, cancel, password)
        raw: list[RawPage] = []
        patience = Patience(head.pages, self._timeout)
        yield Step(0, head.pages)
        while len(raw) < head.pages and not patience.over():
            stop = min(len(raw) + SLICE, head.pages)
            some = self._read_slice(path, len(raw), stop, cancel, password, patience)
            if self._mineru is None:
                some = yield from self._read_pictures(path, some, head.pages, cancel, ocr, password)
                yield Step(len(raw) + len(some), head.pages)
            raw += some
        if why := patience.over():
            gone = f"Reading stopped after page {len(raw)} of {head.pages}: {why}."
            head = replace(head, notes=[*head.notes, gone])
        if self._mineru is not None:
            yield Step(0, head.pages, "mineru")
            raw, head = self._laid_out(path, raw, head, self._mineru, cancel, ocr, password)
            raw = yield from self._read_pictures(path, raw, head.pages, cancel, ocr, password)
            yield Step(len(raw), head.pages)
        pages, passages = self._digest(content, fingerprint, raw, head, cancel)
        return head, pages, passages

    def _laid_out(
        self,
        path: Path,
        raw: list[RawPage],
        head: PdfHead,
        service: MinerU,
        cancel: threading.Event,
        ocr: OcrMode,
        password: SecretStr | None,
    ) -> tuple[list[RawPage], PdfHead]:
        """The pages as MinerU reads them, and its titles for an outline; as they are, with a note, where it fails."""
        try:
            if password is not None:
                raise MinerUError("a file with a password is not sent")
            task = partial(read_by_mineru, path, raw, service, ocr)
            limit = 2 * service.timeout + self._timeout  # it keeps its own time; this is for what hangs all the same
            pages, titles = self._call("reading MinerU's answer", limit / self._timeout, cancel, task)
        except PdfError as error:
            _log.warning("MinerU: %s", error)
            why = str(error).rstrip(".")
            note = f"MinerU did not read it, the built-in parser did: {why}."
            return raw, replace(head, notes=[*head.notes, note])
        return pages, replace(head, outline=list(titles) or head.outline)

    def _head(self, path: Path, cancel: threading.Event, password: SecretStr | None) -> PdfHead:
        """A file whose outline is what takes too long is read without it."""
        try:
            return self._call("opening it", 1, cancel, partial(read_head, path, password))
        except TransientPdfError:
            return self._call("opening it", 1, cancel, partial(read_head, path, password, outline=False))

    def _read_slice(
        self,
        path: Path,
        start: int,
        stop: int,
        cancel: threading.Event,
        password: SecretStr | None,
        patience: Patience,
    ) -> list[RawPage]:
        """At least one page from `start` on; where they fail together they are read singly."""
        begun = time.monotonic()
        pages: list[RawPage] = []
        try:
            task = partial(read_pages, path, start, stop, password, _SLICE_SECONDS)
            pages = self._call("reading this page" if stop == start + 1 else "reading pages", 1, cancel, task)
            for page in pages:
                patience.note(page, ended=False)
        except LockedPdfError:
            raise
        except PdfError as error:
            failed = str(error) if stop == start + 1 else None
            for number in range(start, stop):
                page, ended = self._read_one(path, number, cancel, password, failed)
                pages.append(page)
                patience.note(page, ended)
                failed = None
                if patience.over():
                    break
        patience.spent += time.monotonic() - begun
        return pages

    def _read_one(
        self, path: Path, number: int, cancel: threading.Event, password: SecretStr | None, failed: str | None
    ) -> tuple[RawPage, bool]:
        """A page, and whether it ended the reader, for which `failed` is the reason if that is known already."""
        try:
            if failed is None:
                task = partial(read_pages, path, number, number + 1, password)
                return self._call("reading this page", 1, cancel, task)[0], False
        except PdfError as error:
            failed = str(error)
        _log.warning("page %d left out: %s", number + 1, failed)
        return lost_page(number + 1, failed), True

    def _digest(
        self, content: str, fingerprint: str, raw: list[RawPage], head: PdfHead, cancel: threading.Event
    ) -> tuple[list[PageText], list[Passage]]:
        """Pages and passages; where this fails, the page with the most words is left out if they are very many."""
        slices = 3 * (1 + len(raw) // SLICE)
        while True:
            try:
                task = partial(digest, content, fingerprint, raw, head.outline)
                return self._call("sorting its text", slices, cancel, task)
            except PdfError:
                largest = max(raw, key=lambda page: len(page.words))
                if len(largest.words) < _VERY_MANY_WORDS:
                    raise
                why = f"Its {len(largest.words)} words are more than can be sorted: split the page."
                raw[largest.number - 1] = replace(
                    lost_page(largest.number, why), width=largest.width, height=largest.height
                )

    def _read_pictures(
        self,
        path: Path,
        pages: Sequence[RawPage],
        total: int,
        cancel: threading.Event,
        mode: OcrMode,
        password: SecretStr | None,
    ) -> Generator[Step, None, list[RawPage]]:
        """The pages, those that need it read by OCR, each as a task of its own: a page that fails stays as it was."""
        done = []
        for page in pages:
            if page.reading == Reading.LOST:
                if mode != "off":
                    yield Step(page.number - 1, total, "ocr")
                    page = self._drawn_at_least(path, page, cancel, password)
            elif need := need_of(page, mode):
                yield Step(page.number - 1, total, "ocr")
                page = self._read_picture(path, page, need, cancel, password, TIME_FACTOR)
            elif mode == "off" and need_of(page, "auto") in (Need.WHOLE, Need.FILL):
                page = replace(page, reading=Reading.OFF)
            done.append(page)
        return done

    def _drawn_at_least(
        self, path: Path, page: RawPage, cancel: threading.Event, password: SecretStr | None
    ) -> RawPage:
        """A page whose text cannot be read can often be drawn: then OCR reads it."""
        try:
            shape = self._call("measuring this page", 1, cancel, partial(read_shape, path, page.number, password))
        except PdfError:
            return page
        found = self._read_picture(path, shape, Need.WHOLE, cancel, password, 2)
        if found.reading in (Reading.READ, Reading.UNSURE):
            return found
        return replace(shape, reading=Reading.LOST, failure=page.failure)

    def _read_picture(
        self, path: Path, page: RawPage, need: Need, cancel: threading.Event, password: SecretStr | None, limits: int
    ) -> RawPage:
        what = f"reading the picture of page {page.number}"
        try:
            task = partial(read_by_ocr, path, page, need, self._ocr_cache, password)
            return self._call(what, limits, cancel, task)
        except PdfError as error:
            _log.warning("OCR: %s", error)
            return replace(page, reading=Reading.FAILED, failure=str(error))

    def _call(self, what: str, slices: float, cancel: threading.Event, function: Callable[[], R]) -> R:
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

    def _attempt(self, what: str, slices: float, cancel: threading.Event, function: Callable[[], R]) -> R:
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
            if not self._pool.active and not wait([future], timeout=1.0).done:
                raise BrokenProcessPool("it ended before the task was taken")  # a pool that ends forgets its queue
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
