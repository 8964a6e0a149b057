"""What passes between the catalog and a build: state, paths, and what came of reading one content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crag.events import FileChange, FileRow, VectorsAhead
from crag.knowledge_base.page_text import PageText
from crag.schema import Passage

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class State:
    """What is published (version 0, generation 0: nothing yet), and the generation under construction (0: none)."""

    version: int
    generation: int
    fingerprint: str
    embedding: str
    next_generation: int
    next_fingerprint: str
    sealed: str = ""
    vectors: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """What is published and what lies in the folder, seen at one time."""

    rows: tuple[FileRow, ...]
    """The published files by path."""
    changes: tuple[FileChange, ...]
    """What a rebuild would do with each path, sorted."""
    ignored: tuple[str, ...]
    """Names of what else lies in the folder and is left alone."""
    ahead: VectorsAhead | None
    """As of `KnowledgeBase.vectors_ahead`."""


@dataclass(frozen=True, slots=True)
class Target:
    """One path as the next version shall have it."""

    path: str
    content_id: int | None
    size: int
    mtime_ns: int
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """A published path."""

    sha256: str
    fingerprint: str
    size: int
    mtime_ns: int
    error: str | None
    retry: bool
    options: str = ""


@dataclass(frozen=True, slots=True)
class Held:
    """A content that the catalog holds under one fingerprint, whatever its status."""

    id: int
    sha256: str
    options: str
    revision: int
    usable: bool
    """It need not be read again: neither dead nor failed for a reason that may pass."""
    failed: bool = False
    """Nothing of it could be indexed."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of reading one content: pages and passages with their vectors, or the reason why not."""

    sha256: str
    fingerprint: str
    pages: Sequence[PageText] = ()
    passages: Sequence[Passage] = ()
    vectors: Vectors | None = None
    seconds: float = 0.0
    warnings: Sequence[str] = ()
    error: str | None = None
    transient: bool = False
    names: str = ""
    options: str = ""
    """How it was read where that is not the default, see `tables.content`."""
    revision: int = 0
