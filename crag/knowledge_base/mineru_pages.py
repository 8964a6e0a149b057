"""MinerU's pages become raw pages: its blocks in its order, its tables and titles, each word with its box.

MinerU gives boxes of lines, on the page as it is displayed, in points. Where a line is also in the file's own text
layer the boxes of its words are taken from there; elsewhere (scans) the words share the line's box.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from crag.errors import PdfError
from crag.knowledge_base.evidence import Rect, turned
from crag.knowledge_base.headings import Outline
from crag.knowledge_base.health import EMPTY, GARBLED, IMAGE, OcrMode, Reading, garble_of, health_of
from crag.knowledge_base.mineru import MinerU, parse
from crag.knowledge_base.mineru_tables import Box, Cell, Grid, Placed, grid_of, place, sliced, squashed, within
from crag.knowledge_base.pdf_loader import read_shape
from crag.knowledge_base.raw_page import RawLine, RawPage, RawTable

_HEADER: Final = 0.15
"""What MinerU sets aside (running headers, page numbers) goes before the text down to this share of the page."""
_TITLE = 1.3
"""Titles are set in this size at least: MinerU gives none."""
_DEEPEST = 20

_RIGHTWARDS = {0: (1.0, 0.0), 90: (0.0, -1.0), 180: (-1.0, 0.0), 270: (0.0, 1.0)}
_DOWNWARDS = {0: (0.0, 1.0), 90: (1.0, 0.0), 180: (0.0, -1.0), 270: (-1.0, 0.0)}
"""Writing directions of the displayed page in the unrotated one, by its rotation."""


@dataclass(frozen=True, slots=True)
class _Block:
    """A block that holds lines; `table` is set where it is a table, with the lines of its caption."""

    lines: tuple[tuple[Placed, ...], ...]
    level: int = 0
    """Of a title, from 1; 0: it is none."""
    table: tuple[Grid, Box] | None = None


@dataclass
class _Making:
    """A raw page in the making, in coordinates of the displayed page."""

    words: list[Placed] = field(default_factory=list)
    lines: list[RawLine] = field(default_factory=list)
    tables: list[RawTable] = field(default_factory=list)

    def line(self, words: Sequence[Placed], like: RawLine) -> None:
        if words:
            start = len(self.words)
            self.words += words
            self.lines.append(like._replace(start=start, end=len(self.words)))


def read_by_mineru(
    path: Path, pages: Sequence[RawPage], service: MinerU, ocr: OcrMode
) -> tuple[list[RawPage], Outline]:
    """The pages as MinerU reads them, and its titles as an outline (page, title, level).

    `pages` are the file's own, as far as they could be read; one that MinerU has nothing for stays as it is, with a
    note where it holds text. Raises MinerUError.
    """
    found = {
        page["page_idx"]: page
        for page in parse(path, service, ocr)
        if isinstance(page, dict) and isinstance(page.get("page_idx"), int)
    }
    shaped = [page if page.width else _shape(path, page) for page in pages]
    layers = [_layer(page) for page in shaped]
    blocks = [_blocks(found.get(page.number - 1), page, layer) for page, layer in zip(shaped, layers, strict=True)]
    body = _body([block for some in blocks for block in some])
    titles = [
        (page.number, " ".join(word.text for line in block.lines for word in line), block.level)
        for page, some in zip(shaped, blocks, strict=True)
        for block in some
        if block.level
    ]
    made = [
        _made(page, some, layer, body) if some else _missing(page)
        for page, some, layer in zip(shaped, blocks, layers, strict=True)
    ]
    return made, titles


def _shape(path: Path, page: RawPage) -> RawPage:
    """A page whose text was lost still has a size, unless that is lost too."""
    try:
        shape = read_shape(path, page.number)
    except PdfError:
        return page
    return replace(page, width=shape.width, height=shape.height, rotation=shape.rotation)


def _layer(page: RawPage) -> list[Placed]:
    """The words of the text layer where they are displayed; none where it is noise."""
    if health_of(page) == GARBLED:
        return []
    plain = [p for line in page.lines if line.block >= 0 for p in range(line.start, line.end)]
    boxes = page.boxes.tolist()
    return [Placed(page.words[p], turned(Rect(*boxes[p]), page.width, page.height, page.rotation)) for p in plain]


def _missing(page: RawPage) -> RawPage:
    if not page.words:
        return page
    note = f"MinerU has no text for page {page.number}: it was read by the built-in parser."
    return replace(page, notes=(*page.notes, note))


# --- from JSON --------------------------------------------------------------------------------------------------


def _blocks(page: Any, raw: RawPage, layer: Sequence[Placed]) -> list[_Block]:
    """The blocks of a page of `pdf_info` that hold text, in its order; what is set aside stands before or behind."""
    if not isinstance(page, dict):
        return []
    displayed = (raw.height, raw.width) if raw.rotation % 180 else (raw.width, raw.height)
    scaled = _scale(page.get("page_size"), displayed)
    where = np.array([word.box for word in layer], np.float64).reshape(-1, 4)
    # per page and as the layout has them; `para_blocks` moves text and rows over page ends
    main = page.get("preproc_blocks")
    main = main if isinstance(main, list) else page.get("para_blocks")
    aside = page.get("discarded_blocks")
    text = [block for one in _list(main) for block in _leaves(one, scaled, layer, where, 0)]
    before: list[_Block] = []
    after: list[_Block] = []
    for block in (block for one in _list(aside) for block in _leaves(one, scaled, layer, where, 0)):
        top = min((word.box[1] for line in block.lines for word in line), default=math.inf)
        (before if top < _HEADER * displayed[1] else after).append(replace(block, level=0))
    return [*before, *text, *after]


def _leaves(
    block: Any, scaled: Callable[[Any], Box | None], layer: Sequence[Placed], where: Any, depth: int
) -> Iterator[_Block]:
    """The innermost blocks: MinerU puts tables, pictures, lists and code together from several."""
    if not isinstance(block, dict) or depth > _DEEPEST:
        return
    inner = _list(block.get("blocks"))
    if block.get("type") == "table":
        yield from _table(block, scaled, layer, where, depth)
        return
    for one in inner:
        yield from _leaves(one, scaled, layer, where, depth + 1)
    lines = tuple(line for one in _list(block.get("lines")) if (line := _line(one, scaled, layer, where)))
    if lines:
        level = block.get("level")
        title = block.get("type") in ("title", "doc_title", "paragraph_title")
        yield _Block(lines, (level if isinstance(level, int) and 0 < level < 10 else 1) if title else 0)


def _table(
    block: dict[str, Any], scaled: Callable[[Any], Box | None], layer: Sequence[Placed], where: Any, depth: int
) -> Iterator[_Block]:
    """Caption and body as one block, what stands below as blocks of their own."""
    caption: tuple[tuple[Placed, ...], ...] = ()
    bodies: list[tuple[Grid, Box]] = []
    below: list[_Block] = []
    for one in [*_list(block.get("blocks")), {**block, "blocks": [], "type": "table_body"}]:
        if not isinstance(one, dict):
            continue
        if one.get("type") != "table_body":
            for leaf in _leaves(one, scaled, layer, where, depth + 1):
                if one.get("type") == "table_caption":
                    caption += leaf.lines
                else:
                    below.append(leaf)
            continue
        for span in (span for line in _list(one.get("lines")) for span in _list(_get(line, "spans"))):
            html, box = _get(span, "html"), scaled(_get(span, "bbox")) or scaled(one.get("bbox"))
            grid = grid_of(html) if isinstance(html, str) and box else None
            if grid is not None and box is not None:
                place(grid, box, [layer[i] for i in within(where, box)])
                bodies.append((grid, box))
    for number, body in enumerate(bodies):
        yield _Block(caption if number == 0 else (), table=body)
    if not bodies and caption:
        yield _Block(caption)
    yield from below


def _line(line: Any, scaled: Callable[[Any], Box | None], layer: Sequence[Placed], where: Any) -> tuple[Placed, ...]:
    spans = [
        (content, box)
        for span in _list(_get(line, "spans"))
        if isinstance(content := _get(span, "content"), str) and content.strip()
        if (box := scaled(_get(span, "bbox")) or scaled(_get(line, "bbox")))
    ]
    words: list[Placed] = []
    for content, box in spans:
        there = [layer[i] for i in within(where, box)]
        same = squashed("".join(word.text for word in there)) == squashed(content)
        words += there if same else sliced(content, box)
    return tuple(words)


def _scale(size: Any, displayed: tuple[float, float]) -> Callable[[Any], Box | None]:
    """Reads a box; those of a page whose size is told otherwise are scaled to it (MinerU rounds sizes down)."""
    told = [float(one) for one in _list(size) if _is_number(one) and one > 0]
    x, y = (
        (a / b if abs(a - b) > 2 and a else 1.0 for a, b in zip(displayed, told, strict=True))
        if len(told) == 2
        else (1, 1)
    )

    def scaled(box: Any) -> Box | None:
        values = [float(one) for one in _list(box) if _is_number(one)]
        if len(values) != 4 or not (values[2] > values[0] and values[3] > values[1]):
            return None
        return values[0] * x, values[1] * y, values[2] * x, values[3] * y

    return scaled


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and abs(value) < 1e6


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


# --- to a raw page ----------------------------------------------------------------------------------------------


def _body(blocks: Sequence[_Block]) -> float:
    """The usual height of a line of text, which stands for its size: MinerU gives none."""
    heights = [_height(line) for block in blocks if not block.level and not block.table for line in block.lines]
    return median(heights) if heights else 10.0


def _height(line: Sequence[Placed]) -> float:
    return min(
        max(word.box[3] for word in line) - min(word.box[1] for word in line),
        max(word.box[2] for word in line) - min(word.box[0] for word in line),
    )


def _made(page: RawPage, blocks: Sequence[_Block], layer: Sequence[Placed], body: float) -> RawPage:
    making = _Making()
    for number, block in enumerate(blocks):
        like = RawLine(0, 0, number, body, False, _RIGHTWARDS[page.rotation])
        if block.table is not None:
            _put_table(making, block, like)
            continue
        for placed in block.lines:
            size = max(_TITLE * body, _height(placed)) if block.level else body
            direction = _DOWNWARDS[page.rotation] if _is_downwards(placed) else like.direction
            making.line(placed, like._replace(size=size, direction=direction))
    sideways = (page.height, page.width) if page.rotation % 180 else (page.width, page.height)
    words = [word.text for word in making.words]
    boxes = [turned(Rect(*word.box), *sideways, -page.rotation) for word in making.words]
    lines = list(making.lines)
    for line in page.lines:  # form fields and notes, which MinerU does not know
        if line.block < 0:
            start = len(words)
            words += page.words[line.start : line.end]
            boxes += [Rect(*box) for box in page.boxes[line.start : line.end].tolist()]
            lines.append(line._replace(start=start, end=len(words)))
    by_ocr = health_of(page) in (IMAGE, EMPTY, GARBLED)
    return replace(
        page,
        words=words,
        boxes=np.array(boxes, np.float32).reshape(-1, 4),
        lines=lines,
        ocr=by_ocr,
        hidden=0.0,
        reading=Reading.READ if by_ocr else Reading.NOT_NEEDED,
        failure="",
        garble=garble_of(page) if by_ocr else None,
        straight=None,
        tables=tuple(making.tables),
        laid_out=True,
    )


def _is_downwards(line: Sequence[Placed]) -> bool:
    x0, y0 = min(word.box[0] for word in line), min(word.box[1] for word in line)
    x1, y1 = max(word.box[2] for word in line), max(word.box[3] for word in line)
    return sum(len(word.text) for word in line) > 1 and y1 - y0 > 2 * (x1 - x0)


def _put_table(making: _Making, block: _Block, like: RawLine) -> None:
    """Caption and rows, a line each; a cell over several rows is written in its first and named in the others."""
    assert block.table is not None
    grid, _ = block.table
    like = like._replace(table=len(making.tables))
    start = len(making.words)
    making.line([word for line in block.lines for word in line], like)
    caption = tuple(range(start, len(making.words)))
    places: dict[int, tuple[int, ...]] = {}
    rows = []
    for row in grid.cells:
        fresh: list[Placed] = []
        for cell in {id(cell): cell for cell in row if cell}.values():
            if id(cell) not in places:
                first = len(making.words) + len(fresh)
                fresh += cell.words
                places[id(cell)] = tuple(range(first, first + len(cell.words)))
        making.line(fresh, like)
        rows.append(tuple(_place(cell, places) for cell in row))
    making.tables.append(RawTable(tuple(rows), grid.header, caption))


def _place(cell: Cell | None, places: dict[int, tuple[int, ...]]) -> tuple[int, ...]:
    return places[id(cell)] if cell else ()
