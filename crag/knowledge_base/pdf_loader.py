"""Reads pages of one PDF into words, boxes and lines. Imports PyMuPDF (165 MB): only worker processes load it.

The seam for other readers (layout, tables, OCR): whatever yields `RawPage` in reading order can stand here.
"""

from __future__ import annotations

import math
import os
import re
import sys
import time
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import SecretStr

from crag.errors import PdfError
from crag.knowledge_base.form_fields import with_fields
from crag.knowledge_base.opening import PdfHead as PdfHead
from crag.knowledge_base.opening import brief, mupdf, open_document
from crag.knowledge_base.opening import read_head as read_head
from crag.knowledge_base.raw_page import RawLine as RawLine
from crag.knowledge_base.raw_page import RawPage as RawPage
from crag.knowledge_base.right_to_left import is_right_to_left, logical_words
from crag.knowledge_base.rulings import Rules, rules_of
from crag.knowledge_base.table_reader import with_tables

PARSER_VERSION = "layout-4"
"""Part of the index fingerprint: raise it whenever the same PDF would give other pages."""

SLICE = 8
"""Pages read by one task at most."""

_MEMORY_LIMIT = 4 << 30
_LITTLE_TEXT = 20
_DRAWN = 16 | 32 | 64
"""Of `char_flags`: filled, stroked, used as a clip."""
_GLYPH_NUMBERS = 128 | 256
"""Of `char_flags`: the character is the number of its CID or glyph."""


class Picture(NamedTuple):
    """A page as it is displayed."""

    pixels: npt.NDArray[np.uint8]
    """Grey levels, shape (height, width)."""
    zoom: float
    """Pixels per point."""
    to_page: tuple[float, float, float, float, float, float]
    """a, b, c, d, e, f: points of the displayed page (x, y) stand at (ax + cy + e, bx + dy + f) of the unrotated."""


def initialise_worker() -> None:
    """Quiet MuPDF, and a memory limit, so that a decompression bomb ends its own process only."""
    sys.modules["pymupdf.layout"] = None  # type: ignore[assignment] # not used, and it costs 0.7 s and 55 MB
    pymupdf = mupdf()
    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    if sys.platform == "linux":
        import resource

        os.nice(5)  # the page goes first
        resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_LIMIT, _MEMORY_LIMIT))


def read_pages(
    path: Path, start: int, stop: int, password: SecretStr | None = None, seconds: float = math.inf
) -> list[RawPage]:
    """Pages `[start, stop)`, counted from 0, of which there are at least so many; fewer, but one, where these took
    more than `seconds`. A page that MuPDF cannot read comes back empty, and says why. Raises PdfError."""
    document, begun = open_document(path, password), time.monotonic()
    try:
        pages: list[RawPage] = []
        while start + len(pages) < stop and (not pages or time.monotonic() - begun < seconds):
            pages.append(_read_page(document, start + len(pages)))
        return pages
    finally:
        document.close()


def lost_page(number: int, failure: str) -> RawPage:
    """A page of which nothing is known but why, as a sentence."""
    return RawPage(number, 0.0, 0.0, 0, [], np.zeros((0, 4), np.float32), [], 0.0, reading="lost", failure=failure)


def read_shape(path: Path, number: int, password: SecretStr | None = None) -> RawPage:
    """Page `number` (1-based) with its size and nothing on it. Raises PdfError."""
    document = open_document(path, password)
    try:
        page = document[number - 1]
        size, rotation = page.cropbox, page.rotation
        return replace(lost_page(number, ""), width=size.width, height=size.height, rotation=rotation, reading="")
    except Exception as error:
        raise PdfError(f"Page {number} is damaged ({brief(error)}): fetch or export the file again.") from None
    finally:
        document.close()


def read_picture(path: Path, number: int, longest: int, most: float, password: SecretStr | None = None) -> Picture:
    """Page `number` (1-based) with a longer side of `longest` pixels, at most `most` per point. Raises PdfError."""
    pymupdf = mupdf()
    document = open_document(path, password)
    try:
        page = document[number - 1]
        zoom = min(longest / max(page.rect.width, page.rect.height, 1.0), most)
        image = page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), colorspace=pymupdf.csGRAY, alpha=False)
        pixels = np.frombuffer(image.samples, np.uint8).reshape(image.height, image.stride)[:, : image.width]
        return Picture(pixels.copy(), zoom, tuple(page.derotation_matrix))
    except MemoryError:
        raise PdfError(f"Page {number} needs more memory than allowed: split or re-export the file.") from None
    except Exception as error:
        raise PdfError(f"Page {number} cannot be drawn ({brief(error)}): print the file to PDF again.") from None
    finally:
        document.close()


def _read_page(document: Any, index: int) -> RawPage:
    pymupdf = mupdf()
    try:
        page = document[index]
        textpage = page.get_textpage(flags=pymupdf.TEXTFLAGS_WORDS)
        words = page.get_text("words", textpage=textpage)
        blocks = page.get_text("dict", textpage=textpage)["blocks"]
        if _is_tagged(document):
            words, blocks = _with_replaced(page, words, blocks)
        if is_right_to_left("".join(word[4] for word in words)):
            words = logical_words(words, page.get_text("rawdict", textpage=textpage)["blocks"])
    except MemoryError:
        return lost_page(index + 1, "It needs more memory than allowed: split or re-export the file.")
    except Exception as error:  # MuPDF's errors have no common base; one bad page must not cost the others
        return lost_page(index + 1, f"It is damaged ({brief(error)}): fetch or export the file again.")
    styles = {
        (number, place): (*_style(line["spans"]), _is_unmapped(line["spans"]), line["dir"])
        for number, block in enumerate(blocks)
        for place, line in enumerate(block.get("lines", ()))
    }
    lines: list[RawLine] = []
    end = 0
    for key, group in groupby(words, key=itemgetter(5, 6)):
        together = list(group)
        start, end = end, end + len(together)
        height = together[0][3] - together[0][1]
        size, bold, unmapped, direction = styles.get(key, (height, False, False, (1.0, 0.0)))
        lines.append(RawLine(start, end, key[0], size, bold, tuple(direction), unmapped))
    boxes = np.array([word[:4] for word in words], np.float32).reshape(-1, 4)
    texts = [word[4] for word in words]
    images = _images(page) if page.get_images() or sum(map(len, texts)) < _LITTLE_TEXT else 0.0
    size_of, hidden = page.cropbox, _hidden(blocks)
    raw = RawPage(index + 1, size_of.width, size_of.height, page.rotation, texts, boxes, lines, images, hidden=hidden)
    raw, fields = with_fields(raw, page)
    return with_tables(raw, _rules(page, raw.width, raw.height), fields)


def _is_tagged(document: Any) -> bool:
    return bool(document.xref_get_key(document.pdf_catalog(), "StructTreeRoot")[0] != "null")


def _with_replaced(page: Any, words: list[Any], blocks: list[Any]) -> tuple[list[Any], list[Any]]:
    """Words that a tag's ActualText, which may be empty, stands for, where it leaves their place on the page bare."""
    pymupdf = mupdf()
    shown = page.get_textpage(flags=pymupdf.TEXTFLAGS_WORDS | pymupdf.TEXT_IGNORE_ACTUALTEXT)
    found = page.get_text("words", textpage=shown)
    if len(found) <= len(words):
        return words, blocks
    there = np.array([word[:4] for word in words], np.float64).reshape(-1, 4)
    first = len(blocks)
    bare = [(*word[:5], word[5] + first, *word[6:]) for word in found if _is_bare(word[:4], there)]
    return [*words, *bare], [*blocks, *page.get_text("dict", textpage=shown)["blocks"]]


def _is_bare(box: tuple[float, float, float, float], there: npt.NDArray[np.float64]) -> bool:
    """Whether no word covers a third of the box each way."""
    x0, y0, x1, y1 = box
    across = np.minimum(there[:, 2], x1) - np.maximum(there[:, 0], x0) > 0.3 * (x1 - x0)
    down = np.minimum(there[:, 3], y1) - np.maximum(there[:, 1], y0) > 0.3 * (y1 - y0)
    return not bool((across & down).any())


def _rules(page: Any, width: float, height: float) -> Rules:
    """The ruling lines of the page, in the coordinates of its words; none where its drawings are damaged."""
    try:
        return rules_of(page.get_cdrawings(), width, height)
    except MemoryError:
        raise
    except Exception:  # MuPDF's errors have no common base; the words are there all the same
        return Rules([], [])


def _style(spans: list[dict[str, Any]]) -> tuple[float, bool]:
    """Font size of most characters, and whether the line is bold (font flag 16 or a bold face's name).

    A line is bold when most of it is and it ends so: a bold lead-in belongs to the sentence that follows it.
    """
    sizes: dict[float, int] = {}
    bold = total = 0
    ends_bold = False
    for span in spans:
        length = len(span["text"].strip())
        sizes[round(span["size"], 1)] = sizes.get(round(span["size"], 1), 0) + length
        total += length
        is_bold = span["flags"] & 16 or _is_bold_face(span["font"])
        bold += length * bool(is_bold)
        ends_bold = bool(is_bold) if length else ends_bold
    return max(sizes, key=lambda size: (sizes[size], size), default=0.0), bold * 2 > total and ends_bold


@lru_cache(maxsize=1024)
def _is_bold_face(font: str) -> bool:
    return re.search(r"bold|black|heavy|simhei", font, re.IGNORECASE) is not None


def _is_unmapped(spans: list[dict[str, Any]]) -> bool:
    """Whether MuPDF found no character map for most of a line and gave the numbers of its glyphs instead."""
    lost = sum(len(span["text"].strip()) for span in spans if span["char_flags"] & _GLYPH_NUMBERS)
    return lost > 0 and 2 * lost > sum(len(span["text"].strip()) for span in spans)


def _hidden(blocks: list[dict[str, Any]]) -> float:
    """Share of the characters that are neither filled nor stroked nor clipped to."""
    spans = [span for block in blocks for line in block.get("lines", ()) for span in line["spans"]]
    total = sum(len(span["text"]) for span in spans)
    return sum(len(span["text"]) for span in spans if not span["char_flags"] & _DRAWN) / total if total else 0.0


def _images(page: Any) -> float:
    pymupdf = mupdf()
    area = abs(page.rect) or 1.0
    try:
        covered = sum(abs(pymupdf.Rect(info["bbox"]) & page.rect) for info in page.get_image_info())
    except Exception:
        return 0.0
    return float(min(1.0, covered / area))
