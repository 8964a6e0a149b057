"""Text recognition: finds and reads the lines of a picture with RapidOCR (ONNX, offline; English, Chinese, Latin).

Only worker processes load the engine (0.35 GB, up to 0.85 GB on a full page), and only when a page needs it.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt

from crag.errors import PdfError
from crag.knowledge_base.clean import is_unspaced
from crag.schema import Frozen
from crag.text import is_cjk

Picture = npt.NDArray[np.uint8]
"""Grey levels, shape (height, width)."""
Points = npt.NDArray[np.float64]
"""x, y pairs in pixels, shape (n, 2)."""

_TALL = 1.5
"""From this ratio of height to width on the engine reads a box as a line that runs downwards."""
_SURE = 0.9
"""A page read with this confidence stands the right way up: one that is upside down scores 0.7."""
_SAMPLE = 5
_INK = 40
"""Grey levels from the paper's."""
_MARGIN = 80
"""Pixels of paper left around what is shown."""


class OcrWord(Frozen):
    """A word, or one Chinese character; `start` and `end` are shares of its line's length, [0, 1]."""

    text: str
    start: float
    end: float


class OcrLine(Frozen):
    """A line in pixels of the picture. `corners` begin at its first letter's top and go round as the text is read:
    start top, end top, end bottom, start bottom (x, y each)."""

    text: str
    score: float
    """The engine's confidence, [0, 1]."""
    corners: tuple[float, float, float, float, float, float, float, float]
    words: tuple[OcrWord, ...]

    @property
    def quad(self) -> Points:
        return np.array(self.corners).reshape(4, 2)


@cache
def engine_version() -> str:
    """The engine with its models, which are part of its wheel."""
    return f"rapidocr {version('rapidocr')}"


@cache
def _engine() -> Any:
    try:
        rapidocr = importlib.import_module("rapidocr")
    except ImportError as error:
        raise PdfError(f"OCR is not installed ({error}): run `pip install -r requirements.txt`.") from None
    return rapidocr.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_cls": False,  # it turns upright lines; orientation is decided for the whole page
            "Global.text_score": 0.0,
            "Det.box_thresh": 0.3,  # at its default of 0.5 a page with a single line may seem empty
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            "Rec.rec_batch_num": 1,
        }
    )


def recognise(picture: Picture) -> list[OcrLine]:
    """The lines of a picture whichever way up it lies, in no particular order. Raises PdfError without the engine."""
    top, left, inked = _inked(picture)
    lines = _read(inked)
    turns = _turns(inked, lines)
    if turns:
        lines = [_turned_back(line, turns, inked.shape) for line in _read(np.rot90(inked, turns))]
    return [_moved(line, left, top) for line in lines]


def _inked(picture: Picture) -> tuple[int, int, Picture]:
    """(top, left, the part of the picture that shows anything): the engine overlooks a line on a page of white."""
    shown = np.abs(picture.astype(np.int16) - int(np.median(picture))) > _INK
    rows, columns = np.flatnonzero(shown.any(axis=1)), np.flatnonzero(shown.any(axis=0))
    if not rows.size:
        return 0, 0, picture
    top, left = max(0, int(rows[0]) - _MARGIN), max(0, int(columns[0]) - _MARGIN)
    return top, left, picture[top : int(rows[-1]) + _MARGIN, left : int(columns[-1]) + _MARGIN]


def _moved(line: OcrLine, right: int, down: int) -> OcrLine:
    corners = tuple(value + (down if place % 2 else right) for place, value in enumerate(line.corners))
    return line.model_copy(update={"corners": corners})


def read_again(lines: Sequence[OcrLine], picture: Picture, factor: float) -> list[OcrLine]:
    """The same lines read from a picture that is `factor` times as large; where it is surer, its text counts."""
    found = []
    for line in lines:
        text, score = _recognised(_cut_out(picture, line.quad * factor))
        better = score > line.score and bool(text.strip())
        found.append(_line(text, score, line.quad, ()) if better else line)
    return found


def _read(picture: Picture) -> list[OcrLine]:
    found = _engine()(
        _coloured(picture), use_det=True, use_cls=False, use_rec=True, return_word_box=True, return_single_char_box=True
    )
    if found.txts is None:
        return []
    aligned = len(found.word_results) == len(found.txts)
    lines = []
    for position, (text, score, corners) in enumerate(zip(found.txts, found.scores, found.boxes, strict=True)):
        quad = np.array(corners, np.float64)
        if _is_tall(quad):
            quad = np.roll(quad, -1, axis=0)  # such lines are read downwards, their first letter's top is at the right
        characters = found.word_results[position] if aligned else ()
        lines.append(_line(text, float(score), quad, characters))
    return _read_upright(picture, lines)


def _line(text: str, score: float, quad: Points, characters: Sequence[Any]) -> OcrLine:
    """`characters` are (character, score, quad) without spaces; where they do not fit, places are estimated."""
    plain = "".join(text.split())
    if "".join(character for character, *_ in characters) == plain and len(characters) == len(plain):
        places = [_share(np.array(box, np.float64), quad) for _, _, box in characters]
    else:
        shown = text.strip()
        step = 1 / max(len(shown), 1)
        places = [(i * step, (i + 1) * step) for i, character in enumerate(shown) if not character.isspace()]
    corners = tuple(round(float(value), 1) for value in quad.ravel())
    return OcrLine(text=" ".join(text.split()), score=round(score, 4), corners=corners, words=_words(text, places))


def _share(box: Points, quad: Points) -> tuple[float, float]:
    """Where a character starts and ends along its line, as shares of the line's length."""
    along = quad[1] - quad[0]
    shares = (box - quad[0]) @ along / max(float(along @ along), 1e-9)
    return float(np.clip(shares.min(), 0, 1)), float(np.clip(shares.max(), 0, 1))


def _words(text: str, places: Sequence[tuple[float, float]]) -> tuple[OcrWord, ...]:
    """Words between spaces; characters of scripts without spaces stand alone and touch their neighbours."""
    words: list[OcrWord] = []
    position = 0
    for token in text.split():
        pieces: list[str] = []
        for unspaced, run in groupby(token, is_unspaced):
            together = "".join(run)
            pieces += list(together) if unspaced else [together]
        for number, piece in enumerate(pieces):
            start, end = places[position][0], places[position + len(piece) - 1][1]
            if number:
                start = words[-1].end
            words.append(OcrWord(text=piece, start=round(start, 4), end=round(max(start, end), 4)))
            position += len(piece)
    return tuple(words)


def _read_upright(picture: Picture, lines: list[OcrLine]) -> list[OcrLine]:
    """Lone narrow characters ("1", "l") among lines that run across are read again as they stand."""
    across = [line for line in lines if not _runs_down(line)]
    if len(across) * 2 < len(lines) or not across:
        return lines
    height = float(np.median([_sides(line.quad)[1] for line in across]))
    for number, line in enumerate(lines):
        if _runs_down(line) and _sides(line.quad)[0] < 2.5 * height:
            quad = np.roll(line.quad, 1, axis=0)
            text, score = _recognised(_cut_out(picture, quad))
            lines[number] = _line(text, score, quad, ())
    return [line for line in lines if line.words]


def _turns(picture: Picture, lines: Sequence[OcrLine]) -> int:
    """Quarter turns (counter-clockwise) that set the picture upright; 0 for Chinese and Japanese set vertically."""
    length = sum(len(line.text) for line in lines)
    if not length:
        return 0
    down = sum(len(line.text) for line in lines if _runs_down(line)) > 0.5 * length
    if not down and confidence(lines) >= _SURE:
        return 0
    sample = sorted(
        (line for line in lines if _runs_down(line) == down), key=lambda line: _sides(line.quad)[0], reverse=True
    )[:_SAMPLE]
    as_read = np.mean([line.score for line in sample])
    flipped = np.mean([_recognised(np.rot90(_cut_out(picture, line.quad), 2))[1] for line in sample])
    upside_down = flipped > as_read + 0.05
    if not down:
        return 2 if upside_down else 0
    if upside_down:
        return 3
    characters = [char for line in sample for char in line.text if char.isalpha()]
    return 0 if sum(map(is_cjk, characters)) * 2 > len(characters) else 1


def confidence(lines: Sequence[OcrLine]) -> float:
    """Mean score, [0, 1], by the length of the lines on the page: of a script that the model does not know it makes a
    few signs from a long line. 0 without lines."""
    lengths = [_sides(line.quad)[0] for line in lines]
    weighed = sum(line.score * length for line, length in zip(lines, lengths, strict=True))
    return weighed / sum(lengths) if lengths else 0.0


def _recognised(crop: Picture) -> tuple[str, float]:
    found = _engine()(
        _coloured(crop),
        use_det=False,
        use_cls=False,
        use_rec=True,
        return_word_box=False,
        return_single_char_box=False,
    )
    return (found.txts[0], float(found.scores[0])) if found.txts else ("", 0.0)


def _cut_out(picture: Picture, quad: Points) -> Picture:
    """The line as an upright strip."""
    cv2: Any = importlib.import_module("cv2")
    width, height = (max(2, math.ceil(side)) for side in _sides(quad))
    target = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    matrix = cv2.getPerspectiveTransform(quad.astype(np.float32), target)
    strip: Picture = cv2.warpPerspective(picture, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return strip


def _turned_back(line: OcrLine, turns: int, shape: tuple[int, ...]) -> OcrLine:
    """The line of a picture that was turned, in pixels of the picture before."""
    height, width = shape
    x, y = line.quad.T
    back = {1: (width - y, x), 2: (width - x, height - y), 3: (y, height - x)}[turns]
    corners = tuple(round(float(value), 1) for value in np.stack(back, axis=1).ravel())
    return line.model_copy(update={"corners": corners})


def _sides(quad: Points) -> tuple[float, float]:
    """Length along the text and height across it."""
    return float(np.linalg.norm(quad[1] - quad[0])), float(np.linalg.norm(quad[3] - quad[0]))


def _is_tall(quad: Points) -> bool:
    width, height = _sides(quad)
    return round(height / max(width, 1e-6), 2) >= _TALL


def _runs_down(line: OcrLine) -> bool:
    along = line.quad[1] - line.quad[0]
    return bool(abs(along[1]) > abs(along[0]))


def _coloured(picture: Picture) -> npt.NDArray[np.uint8]:
    return np.repeat(np.ascontiguousarray(picture)[:, :, None], 3, axis=2)
