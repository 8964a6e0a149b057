"""The pages of indexed files, to look at: text, health, passages and strips as they were cut, and their images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from crag.errors import KnowledgeBaseError, PageImageError
from crag.knowledge_base.catalog import Catalog
from crag.knowledge_base.evidence import Mark, PageWords, display_size
from crag.knowledge_base.page_images import PageImages
from crag.knowledge_base.page_text import PageFacts
from crag.knowledge_base.rows import SPANS, STRIPS, word_boxes
from crag.knowledge_base.scan import Entry, Hasher, find
from crag.knowledge_base.tables import LIVE, content, file, page, passage
from crag.schema import Frozen, Passage

GONE = "This file is no longer in the index: choose another, or put it back and rebuild."


class PageRow(Frozen):
    """One page of a file as the catalog keeps it, without its text."""

    number: int
    """1-based."""
    width: float
    """Of the unrotated page in points; so is `height`."""
    height: float
    rotation: int
    health: str
    """See `page_text.PageText.health`."""
    facts: PageFacts


class Page:
    """One page with its canonical text, where its words stand, and what was cut from it."""

    def __init__(self, row: PageRow, words: PageWords, passages: tuple[Passage, ...]) -> None:
        self.row = row
        self.words = words
        self.passages = passages

    @property
    def size(self) -> tuple[float, float]:
        """Width and height as displayed, in points."""
        return display_size(self.words)


class Pages:
    """Looks into the published index. Thread-safe; blocking. Raises KnowledgeBaseError, PageImageError."""

    def __init__(
        self, files_dir: Path, catalog: Catalog, hasher: Hasher, password_of: Callable[[str], str | None]
    ) -> None:
        """`password_of` gives the password of a path where this process has been told one."""
        self._files_dir = files_dir
        self._catalog = catalog
        self._hasher = hasher
        self._password_of = password_of
        self._images = PageImages()

    # --- from the catalog ---------------------------------------------------------------------------------------

    def of(self, path: str) -> list[PageRow]:
        """All pages of a file, by number; empty for a file that could not be indexed or is not published."""
        query = (
            sa.select(page.c.number, page.c.width, page.c.height, page.c.rotation, page.c.health, page.c.facts)
            .join_from(page, file, page.c.content_id == file.c.content_id)
            .where(file.c.path == path)
            .order_by(page.c.number)
        )
        with self._catalog.engine.connect() as connection:
            return [_row(row) for row in connection.execute(query)]

    def page(self, path: str, number: int) -> Page:
        """One page (from 1) of a file."""
        on_page = passage.c.spans.like(f'%"page":{int(number)},%')
        with self._catalog.engine.connect() as connection:
            row = connection.execute(
                sa.select(page, content.c.sha256)
                .join_from(page, content)
                .join(file, file.c.content_id == content.c.id)
                .where(file.c.path == path, page.c.number == number)
            ).first()
            if row is None:
                raise KnowledgeBaseError(GONE)
            query = sa.select(passage).where(passage.c.content_id == row.content_id, on_page)
            passages = tuple(
                Passage(
                    id=found.id,
                    content=row.sha256,
                    number=found.number,
                    text=found.text,
                    heading=found.heading,
                    spans=SPANS.validate_json(found.spans),
                    strips=STRIPS.validate_json(found.strips),
                )
                for found in connection.execute(query.order_by(passage.c.number))
            )
        words = PageWords(row.text, *word_boxes(row.words), row.width, row.height, row.rotation)
        return Page(_row(row), words, passages)

    def path_of(self, sha256: str) -> str | None:
        """A published path with this content; None where no file has it any more."""
        query = sa.select(file.c.path).join_from(file, content).where(content.c.sha256 == sha256)
        with self._catalog.engine.connect() as connection:
            found: str | None = connection.scalar(query.where(content.c.status == LIVE).order_by(file.c.path))
            return found

    def sizes(self) -> dict[str, int]:
        """Bytes of each published path."""
        with self._catalog.engine.connect() as connection:
            return {row.path: row.size for row in connection.execute(sa.select(file.c.path, file.c.size))}

    # --- from the file ------------------------------------------------------------------------------------------

    def image(self, path: str, number: int, dpi: int) -> bytes:
        """PNG of a page; only of the very file that was indexed."""
        sha256, entry = self._unchanged(path)
        return self._images.page(sha256, entry.real, number, dpi, self._password_of(path))

    def marked(self, path: str, number: int, marks: Sequence[Mark], size: tuple[float, float], dpi: int) -> bytes:
        """PNG of a page with marks on it, which are places on the displayed page of `size` points."""
        _, entry = self._unchanged(path)
        return self._images.marked(entry.real, number, marks, size, dpi, self._password_of(path))

    def thumbnails(self, path: str, numbers: Sequence[int], width: int) -> dict[int, bytes]:
        """Small PNGs by page number; a page that cannot be drawn is missing."""
        sha256, entry = self._unchanged(path)
        return self._images.thumbnails(sha256, entry.real, numbers, width, self._password_of(path))

    def close(self) -> None:
        """Ends the process that draws."""
        self._images.close()

    def _unchanged(self, path: str) -> tuple[str, Entry]:
        """(sha256, the file) where it still has the bytes that were indexed."""
        query = sa.select(content.c.sha256).join_from(file, content).where(file.c.path == path)
        with self._catalog.engine.connect() as connection:
            sha256 = connection.scalar(query)
        entry = find(self._files_dir, path)
        if sha256 is None or entry is None or entry.error is not None:
            raise PageImageError("gone")
        try:
            same = self._hasher.sha256(entry)[0] == sha256
        except OSError:
            raise PageImageError("gone") from None
        if not same:
            raise PageImageError("changed")
        return str(sha256), entry


def _row(row: Any) -> PageRow:
    return PageRow(
        number=row.number,
        width=row.width,
        height=row.height,
        rotation=row.rotation,
        health=row.health,
        facts=PageFacts.model_validate_json(row.facts),
    )
