"""Small real PDFs, and builds over them, for the tests of the knowledge base."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pymupdf
from hashing import HashingEmbedder

from crag.events import BuildEvent, BuildFinished
from crag.knowledge_base.base import KnowledgeBase

Write = Callable[..., Path]


def pdf_bytes(pages: Sequence[str], width: int = 80, size: float = 11, **options: object) -> bytes:
    """Each page's paragraphs (blank lines between them) set in lines; `# ` starts a heading; Chinese in china-s."""
    document = pymupdf.open()
    for text in pages:
        page = document.new_page()
        y = 72.0
        for paragraph in text.strip().split("\n\n") if text.strip() else []:
            heading = paragraph.startswith("# ")
            chinese = any("\u4e00" <= char <= "\u9fff" for char in paragraph)
            font = "china-s" if chinese else "hebo" if heading else "helv"
            large = size * 1.5 if heading else size
            columns = 40 if chinese else width
            for line in _lines(paragraph.removeprefix("# "), columns):
                page.insert_text((72, y), line, fontname=font, fontsize=large)
                y += large * 1.25
            y += large
    data: bytes = document.tobytes(deflate=True, **options)
    document.close()
    return data


def _lines(paragraph: str, columns: int) -> list[str]:
    if "\n" in paragraph:
        return paragraph.split("\n")
    if any("\u4e00" <= char <= "\u9fff" for char in paragraph):
        return [paragraph[i : i + columns] for i in range(0, len(paragraph), columns)]
    return textwrap.wrap(paragraph, columns)


def built(base: KnowledgeBase) -> BuildFinished:
    """Builds to the end and returns the last event."""
    last = list(base.build())[-1]
    assert isinstance(last, BuildFinished)
    return last


def texts(base: KnowledgeBase) -> set[str]:
    """The text of every passage that can be found by vector search."""
    with base.snapshot() as snapshot:
        ids = snapshot.dense(np.ones(HashingEmbedder.dimension, np.float32), 10_000)
        assert len(ids) == len(set(ids)) == snapshot.size
        return {document.text for document in snapshot.documents(ids)}


def of_kind(events: Sequence[BuildEvent], kind: str) -> list[BuildEvent]:
    return [event for event in events if event.kind == kind]
