"""Images of pages: drawn in a worker process with a time limit, kept in a bounded cache."""

from __future__ import annotations

import importlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import pebble
from pydantic import SecretStr

from crag.errors import LockedPdfError, PageImageError
from crag.knowledge_base.evidence import Look, Mark
from crag.knowledge_base.opening import open_document
from crag.knowledge_base.pdf_loader import initialise_worker
from crag.knowledge_base.workers import WorkerContext

R = TypeVar("R")

TIME_LIMIT: Final = 30.0
"""Seconds for one page, and for each portion of thumbnails."""
IDLE: Final = 120.0
"""Seconds without a page after which the process ends and gives its memory back."""
MOST_PIXELS: Final = 12_000_000
"""A larger page is drawn at a lower resolution: PDF pages may measure 200 inches."""
CACHE_BYTES: Final = 64 << 20

INK: Final[dict[Look, tuple[tuple[float, float, float], float, str]]] = {
    Look.CITED: ((0.10, 0.42, 0.24), 1.8, ""),
    Look.KEPT: ((0.18, 0.62, 0.38), 0.8, ""),
    Look.DROPPED: ((0.46, 0.48, 0.52), 0.8, "[3 2] 0"),
    Look.CUT: ((0.36, 0.31, 0.55), 0.6, "[1 2] 0"),
}
"""Colour, width in points and dashes of the line, by look."""
FILL: Final = {Look.CITED: 0.26, Look.KEPT: 0.20, Look.DROPPED: 0.10, Look.CUT: 0.06}

_log = logging.getLogger(__name__)


class PageImages:
    """Draws pages. Thread-safe; blocking. Raises PageImageError, whose `reason` names the case."""

    def __init__(self, time_limit: float = TIME_LIMIT) -> None:
        self._time_limit = time_limit
        self._lock = threading.Lock()
        self._pool: pebble.ProcessPool | None = None
        self._timer: threading.Timer | None = None
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()

    def page(self, content: str, path: Path, number: int, dpi: int, password: str | None = None) -> bytes:
        """PNG of one page (from 1); `content` is the file's sha256 and keys the cache."""
        key = (content, number, dpi)
        if (image := self._recall(key)) is None:
            image = self._call(partial(draw_page, path, number, dpi, password))
            self._keep(key, image)
        return image

    def marked(
        self, path: Path, number: int, marks: Sequence[Mark], size: tuple[float, float], dpi: int, password: str | None
    ) -> bytes:
        """PNG of one page with its marks, which are places on a page of `size` points."""
        return self._call(partial(draw_page, path, number, dpi, password, marks, size))

    def thumbnails(
        self, content: str, path: Path, numbers: Sequence[int], width: int, password: str | None = None
    ) -> dict[int, bytes]:
        """PNGs `width` pixels wide by page number; a page that cannot be drawn is missing."""
        known = {number: image for number in numbers if (image := self._recall((content, number, -width)))}
        if missing := [number for number in numbers if number not in known]:
            drawn = self._call(partial(draw_thumbnails, path, missing, width, password))
            for number, image in drawn.items():
                self._keep((content, number, -width), image)
            known |= drawn
        return known

    def close(self) -> None:
        """Ends the process and forgets the images."""
        with self._lock:
            self._kept.clear()
        self._end()

    def _recall(self, key: Hashable) -> bytes | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _keep(self, key: Hashable, image: bytes) -> None:
        with self._lock:
            self._kept[key] = image
            while sum(map(len, self._kept.values())) > CACHE_BYTES and len(self._kept) > 1:
                self._kept.popitem(last=False)

    def _call(self, function: Callable[[], R]) -> R:
        """The result from the process; one that died between two tasks is started once more."""
        for last in (False, True):
            try:
                result: R = self._opened().schedule(function, timeout=self._time_limit).result()
                return result
            except PageImageError:
                raise
            except TimeoutError:
                raise PageImageError("slow") from None
            except pebble.ProcessExpired:
                raise PageImageError("broken") from None
            except RuntimeError as error:  # the pool was ended by its timer, or broke, before it took the task
                self._end()
                if last:
                    _log.warning("no page can be drawn: %s", error)
                    raise PageImageError("broken") from None
            except Exception as error:  # whatever a hostile file provokes, it costs this image only
                _log.info("a page could not be drawn: %s", type(error).__name__)
                raise PageImageError("broken") from None
        raise AssertionError("unreachable")

    def _opened(self) -> pebble.ProcessPool:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = threading.Timer(IDLE + self._time_limit, self._end)
            self._timer.daemon = True
            self._timer.start()
            if self._pool is None or not self._pool.active:
                self._pool = pebble.ProcessPool(
                    max_workers=1, max_tasks=200, initializer=initialise_worker, context=WorkerContext()
                )
            return self._pool

    def _end(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
        if pool is not None:
            pool.stop()  # type: ignore[no-untyped-call]
            pool.join()


# --- in the worker process --------------------------------------------------------------------------------------


def draw_page(
    path: Path,
    number: int,
    dpi: int,
    password: str | None = None,
    marks: Sequence[Mark] = (),
    size: tuple[float, float] = (0.0, 0.0),
) -> bytes:
    """PNG of a page (from 1), with marks drawn on top. Raises PageImageError."""
    with _document(path, password) as document:
        page = _page(document, number)
        pixmap = _pixmap(page, dpi / 72)
        if marks and min(size) > 0:
            pixmap = _with_marks(pixmap, marks, size)
        return bytes(pixmap.tobytes("png"))


def draw_thumbnails(path: Path, numbers: Sequence[int], width: int, password: str | None = None) -> dict[int, bytes]:
    """Small PNGs by page number; pages that cannot be drawn are left out. Raises PageImageError for the file."""
    drawn = {}
    with _document(path, password) as document:
        for number in numbers:
            try:
                page = _page(document, number)
                drawn[number] = bytes(_pixmap(page, width / max(1.0, page.rect.width)).tobytes("png"))
            except Exception as error:  # MuPDF's errors have no common base; the other pages can still be shown
                _log.info("no thumbnail of page %s: %s", number, type(error).__name__)
    return drawn


@contextmanager
def _document(path: Path, password: str | None) -> Iterator[Any]:
    """The opened file; whatever MuPDF raises meanwhile (its errors have no common base) becomes a PageImageError."""
    try:
        with open_document(path, SecretStr(password) if password else None) as document:
            yield document
    except LockedPdfError as error:
        raise PageImageError("locked") from error
    except PageImageError:
        raise
    except Exception as error:
        raise PageImageError("broken") from error


def _mupdf() -> Any:
    return importlib.import_module("pymupdf")  # only the worker loads it


def _page(document: Any, number: int) -> Any:
    if not 1 <= number <= document.page_count:
        raise PageImageError("broken")
    return document[number - 1]


def _pixmap(page: Any, zoom: float) -> Any:
    area = max(1.0, page.rect.width * page.rect.height)
    zoom = min(zoom, (MOST_PIXELS / area) ** 0.5)
    return page.get_pixmap(matrix=_mupdf().Matrix(zoom, zoom), alpha=False)


def _with_marks(pixmap: Any, marks: Sequence[Mark], size: tuple[float, float]) -> Any:
    """The image again with marks, drawn on a page of our own: the document itself is never written to."""
    pymupdf = _mupdf()
    width, height = size
    with pymupdf.open() as clean:
        page = clean.new_page(width=width, height=height)
        page.insert_image(page.rect, pixmap=pixmap)
        for mark in sorted(marks, key=lambda mark: mark.look == Look.CITED):
            colour, line, dashes = INK[mark.look]
            for rect in mark.rects:
                page.draw_rect(
                    pymupdf.Rect(rect.x0 - 1, rect.y0 - 1, rect.x1 + 1, rect.y1 + 1),
                    color=colour,
                    fill=colour,
                    fill_opacity=FILL[mark.look],
                    width=line,
                    dashes=dashes or None,
                )
        return page.get_pixmap(matrix=pymupdf.Matrix(pixmap.width / width, pixmap.height / height), alpha=False)
