"""A folder to write small real PDFs into, and a knowledge base over it with a fast, deterministic embedder."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from hashing import HashingEmbedder
from small_pdfs import Write, pdf_bytes

from crag.knowledge_base import builder
from crag.knowledge_base.base import KnowledgeBase


@pytest.fixture(autouse=True)
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first build publishes once, however slow the machine is; tests of rounds set their own time."""
    monkeypatch.setattr(builder, "ROUND", math.inf)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "Files"
    folder.mkdir()
    return folder


@pytest.fixture
def write(files: Path) -> Write:
    """Writes a PDF of text pages below Files/: `write("a.pdf", "page one", "page two")`."""

    def write(name: str, *pages: str, **options: object) -> Path:
        path = files / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pdf_bytes(pages, **options))  # type: ignore[arg-type]
        return path

    return write


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
def base(files: Path, tmp_path: Path, embedder: HashingEmbedder) -> Iterator[KnowledgeBase]:
    opened = KnowledgeBase(files, tmp_path / "chroma_db", embedder, parse_timeout=30)
    yield opened
    opened.close()
