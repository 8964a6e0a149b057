"""One page as a reader gives it: words, boxes, lines and tables, before anything is cleaned or composed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class RawLine(NamedTuple):
    """Words `[start, end)` of its page that stand on one line, as the file orders them."""

    start: int
    end: int
    block: int
    size: float
    """Font size in points of most of its characters."""
    bold: bool
    direction: tuple[float, float]
    """Unit vector of the writing direction in the unrotated page; (1, 0) is left to right."""
    unmapped: bool = False
    """Whether most of its characters are glyph numbers, for want of a character map: noise."""
    table: int = -1
    """Which of the page's tables it is the caption or a row of."""


class RawTable(NamedTuple):
    """A table as positions of its page's words; a word may stand in several cells (a heading over columns)."""

    rows: tuple[tuple[tuple[int, ...], ...], ...]
    """The words of each cell; the rows of an irregular form differ in length."""
    header: int
    """1 if the first row names the columns, else 0."""
    caption: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RawPage:
    """One page as the file holds it: coordinates in points of the unrotated page, origin top left."""

    number: int
    """1-based."""
    width: float
    height: float
    rotation: int
    words: list[str]
    boxes: npt.NDArray[np.float32]
    """x0, y0, x1, y1 of each word, shape (words, 4)."""
    lines: list[RawLine]
    images: float
    """Share of the page covered by images, [0, 1]."""
    ocr: bool = False
    """Whether words were read from the page's picture."""
    hidden: float = 0.0
    """Share of the characters that are not drawn (the text layer of a scan), [0, 1]."""
    reading: str = ""
    """What came of OCR, see `health.Reading`; "" where it was not needed."""
    failure: str = ""
    """Why OCR failed, as a sentence; "" where it did not."""
    garble: float | None = None
    """Share of unreadable characters of the text layer that OCR replaced, [0, 1]."""
    straight: npt.NDArray[np.float32] | None = None
    """The boxes as they would stand if the page were not skewed: by them words are put in order."""
    tables: tuple[RawTable, ...] = ()
    laid_out: bool = False
    """Whether a layout model has put its blocks in order, and its pictures are read: both stay as they are."""
    notes: tuple[str, ...] = ()
    """Sentences for the user, such as that attachments are not read."""
