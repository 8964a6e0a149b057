"""Reads a page from its picture: rendering, recognition, and the words put into the page as if it had a text layer."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import SecretStr

from crag.knowledge_base import pdf_loader, recognition
from crag.knowledge_base.health import DOUBTFUL, HEALTHY, Need, Reading, garble_of, health_of, is_better
from crag.knowledge_base.ocr_cache import OcrCache
from crag.knowledge_base.ocr_layout import Placed, arrange, skew_of
from crag.knowledge_base.pdf_loader import RawLine, RawPage
from crag.knowledge_base.recognition import OcrLine
from crag.knowledge_base.rulings import Rules
from crag.knowledge_base.table_reader import with_tables

OCR_VERSION = "ocr-2"
"""Part of the index fingerprint: raise it whenever the same lines would give another page."""

TIME_FACTOR = 15
"""A page that is read from its picture may take so many times the limit of one that is read as text."""

_LONGEST = 1800
"""Pixels of a page's longer side: A4 at 154 dpi, from where on more gains nothing and costs memory."""
_FINEST = 300 / 72
_FINER = 3.0
_SMALL = 18.0
"""Pixels; where most lines are lower than this they are read once more from a finer picture."""
_NOISE = 0.6
_LETTERS = 4
"""Fewer characters are a shape that was taken for one."""
"""Lines read with less confidence are left out."""
_FOREIGN, _UNSURE = 0.82, 0.92
"""Confidence: pages in Latin letters, Chinese or Japanese reach 0.95 and more, other scripts 0.5 to 0.78."""
_WRITING = 0.25
"""Lines that could not be made out are writing when together they are as long as this share of the page's width."""
_CONTRAST = 24
_FAINT = 140

_log = logging.getLogger(__name__)


def read_by_ocr(path: Path, page: RawPage, need: Need, folder: Path, password: SecretStr | None = None) -> RawPage:
    """The page with what its picture shows; `reading` tells what came of it. `folder` keeps what was read.

    The text layer stays where the picture gives nothing better. Raises PdfError where the page cannot be drawn or OCR
    is not installed.
    """
    picture = pdf_loader.read_picture(path, page.number, _LONGEST, _FINEST, password)
    pixels = picture.pixels
    if int(pixels.max()) - int(pixels.min()) < _CONTRAST:
        return replace(page, reading=Reading.BLANK)
    kept = [line for line in page.lines if not line.unmapped] if need in (Need.FILL, Need.MIXED) else []
    if need == Need.MIXED and not _is_paper(pixels):
        return page
    pixels = _prepared(_painted_over(pixels, _displayed(page, kept, picture)))
    lines = _recognised(path, page.number, pixels, picture.zoom, _cache(folder), password)
    sure = [line for line in lines if line.score >= _NOISE and any(char.isalnum() for char in line.text)]
    confidence = recognition.confidence(lines)
    if not sure or confidence < _FOREIGN:
        if need == Need.MIXED:
            return page
        if page.words and health_of(page) in (HEALTHY, DOUBTFUL):
            return page  # OCR was wanted, but the text layer says more
        long = sum(float(np.ptp(line.quad, axis=0).max()) for line in lines) > _WRITING * pixels.shape[1]
        writing = long and sum(len(line.text) for line in lines) >= _LETTERS
        return replace(page, reading=Reading.FOREIGN if writing else Reading.NOTHING)
    if need == Need.CHECK and not is_better([line.text for line in sure], page.words):
        return page
    reading = Reading.READ if confidence >= _UNSURE else Reading.UNSURE
    return replace(_with_lines(page, kept, sure, picture), reading=reading)


@cache
def _cache(folder: Path) -> OcrCache:
    found = OcrCache(folder)
    found.prune()
    return found


def _recognised(
    path: Path, number: int, pixels: recognition.Picture, zoom: float, kept: OcrCache, password: SecretStr | None
) -> list[OcrLine]:
    key = kept.key(pixels)
    lines = kept.get(key)
    if lines is None:
        lines = recognition.recognise(pixels)
        heights = [float(np.linalg.norm(line.quad[3] - line.quad[0])) for line in lines]
        if lines and (usual := float(np.median(heights))) < _SMALL:
            factor = min(_FINER, 1.5 * _SMALL / usual)
            finer = pdf_loader.read_picture(path, number, round(_LONGEST * factor), zoom * factor, password)
            lines = recognition.read_again(lines, _prepared(finer.pixels), finer.zoom / zoom)
        kept.put(key, lines)
    return lines


# --- the picture ------------------------------------------------------------------------------------------------


def _prepared(pixels: recognition.Picture) -> recognition.Picture:
    """Dark on light, and faint writing with its whole range of greys."""
    if np.median(pixels) < 110:
        pixels = (255 - pixels.astype(np.int16)).astype(np.uint8)
    low, high = (int(value) for value in np.percentile(pixels, (0.5, 99.5)))
    if _CONTRAST <= high - low < _FAINT:
        stretched = (pixels.astype(np.float32) - low) * (255 / (high - low))
        pixels = np.clip(stretched, 0, 255).astype(np.uint8)
    return pixels


def _is_paper(pixels: recognition.Picture) -> bool:
    """Whether much of the picture has one shade, as paper has and a photograph has not."""
    counts = np.bincount(pixels[::4, ::4].ravel(), minlength=256)
    usual = int(np.argmax(counts))
    return bool(counts[max(0, usual - 16) : usual + 17].sum() > 0.5 * counts.sum())


def _painted_over(pixels: recognition.Picture, boxes: npt.NDArray[np.float64]) -> recognition.Picture:
    """Words that are known already, in pixels, get the shade of their background."""
    pixels = pixels.copy()
    for x0, y0, x1, y1 in boxes.round().astype(int).clip(0):
        region = pixels[y0:y1, x0:x1]
        if region.size:
            region[:] = np.median(region)
    return pixels


def _displayed(page: RawPage, lines: Sequence[RawLine], picture: pdf_loader.Picture) -> npt.NDArray[np.float64]:
    """Boxes of the words of `lines` in pixels of the picture, shape (words, 4)."""
    chosen = [i for line in lines for i in range(line.start, line.end)]
    boxes = page.boxes[chosen].astype(np.float64)
    corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]].reshape(-1, 4, 2)
    a, b, c, d, e, f = picture.to_page
    back = np.linalg.inv(np.array([[a, b], [c, d]]))
    return _hulls((corners - (e, f)) @ back * picture.zoom)


def _hulls(quads: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.concatenate([quads.min(axis=1), quads.max(axis=1)], axis=1).reshape(-1, 4)


# --- the page ---------------------------------------------------------------------------------------------------


class _Found(NamedTuple):
    """A line for the page: its words with their boxes, on the page, as if it were straight, and in the picture."""

    line: RawLine
    words: list[str]
    boxes: npt.NDArray[np.float64]
    straight: npt.NDArray[np.float64]
    shown: npt.NDArray[np.float64]


def _with_lines(
    page: RawPage, kept: Sequence[RawLine], lines: Sequence[OcrLine], picture: pdf_loader.Picture
) -> RawPage:
    """The page with the lines of its text layer that are `kept` and those read from its picture."""
    found = _merged(
        _of_layer(page, kept, picture), _of_picture(lines, picture, 1 + max((line.block for line in kept), default=-1))
    )
    words: list[str] = []
    raw: list[RawLine] = []
    for line in found:
        raw.append(line.line._replace(start=len(words), end=len(words) + len(line.words), table=-1))
        words += line.words
    boxes, straight = (
        np.concatenate([getattr(line, name) for line in found]).astype(np.float32) for name in ("boxes", "straight")
    )
    read = replace(page, words=words, boxes=boxes, straight=straight, lines=raw, tables=())
    return with_tables(replace(read, ocr=True, hidden=0.0, garble=garble_of(page)), Rules([], []))


def _of_layer(page: RawPage, lines: Sequence[RawLine], picture: pdf_loader.Picture) -> list[_Found]:
    found = []
    for line in lines:
        boxes = page.boxes[line.start : line.end].astype(np.float64)
        shown = _displayed(page, [line], picture)
        found.append(_Found(line, page.words[line.start : line.end], boxes, boxes, shown))
    return found


def _of_picture(lines: Sequence[OcrLine], picture: pdf_loader.Picture, block: int) -> list[_Found]:
    height, width = picture.pixels.shape
    skew = np.radians(skew_of(lines)[1])
    turn = np.array([[np.cos(skew), -np.sin(skew)], [np.sin(skew), np.cos(skew)]])
    middle = np.array([width / 2, height / 2])
    a, b, c, d, e, f = picture.to_page
    matrix = np.array([[a, b], [c, d]])

    def on_page(quads: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return _hulls(quads / picture.zoom @ matrix + (e, f))

    found = []
    for placed in arrange(lines):
        quads = _word_quads(placed)
        straight = (quads - middle) @ turn + middle
        along = (straight[0, 1] - straight[0, 0]) @ matrix
        along = along / (np.linalg.norm(along) or 1.0)
        size = round(placed.size / picture.zoom, 1)
        line = RawLine(0, 0, block + placed.block, size, False, (float(along[0]), float(along[1])))
        words = [word.text for word in placed.line.words]
        found.append(_Found(line, words, on_page(quads), on_page(straight), _hulls(quads)))
    return found


def _word_quads(placed: Placed) -> npt.NDArray[np.float64]:
    """Corners of the line's words in pixels, shape (words, 4, 2)."""
    start, end, end_bottom, start_bottom = placed.line.quad
    quads = [
        (
            start + word.start * (end - start),
            start + word.end * (end - start),
            start_bottom + word.end * (end_bottom - start_bottom),
            start_bottom + word.start * (end_bottom - start_bottom),
        )
        for word in placed.line.words
    ]
    return np.array(quads)


def _merged(layer: list[_Found], read: list[_Found]) -> list[_Found]:
    """Blocks read from the picture go behind the last line of the text layer that stands above them."""
    behind: dict[int, list[_Found]] = {}
    block, position = None, 0
    for line in read:
        if line.line.block != block:
            block = line.line.block
            position = max((i for i, other in enumerate(layer, 1) if _is_above(other, line)), default=0)
        behind.setdefault(position, []).append(line)
    merged = behind.get(0, [])
    for number, line in enumerate(layer, 1):
        merged = [*merged, line, *behind.get(number, [])]
    return merged


def _is_above(other: _Found, line: _Found) -> bool:
    """Whether `other` ends above `line`, and over it, as the page is displayed."""
    a, b = other.shown, line.shown
    shared = min(a[:, 2].max(), b[:, 2].max()) - max(a[:, 0].min(), b[:, 0].min())
    return bool(a[:, 3].max() <= b[:, 1].min() + 4 and shared > 0)
