"""What happens while a question is answered and while the knowledge base is built, as frozen events."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from crag.schema import Decision, Document, Frozen, GradedDocument, GradedStrip, Knowledge, Trace, WebSearched

# --- a question, in this order ------------------------------------------------------------------------------


class Condensed(Frozen):
    """The follow-up has been made into a question that stands alone."""

    kind: Literal["condensed"] = "condensed"
    question: str


class Drafted(Frozen):
    """A model has drafted an answer to search for (HyDE)."""

    kind: Literal["drafted"] = "drafted"
    text: str


class Retrieved(Frozen):
    kind: Literal["retrieved"] = "retrieved"
    query: str
    documents: tuple[Document, ...]


class Graded(Frozen):
    """Everything that has been graded so far: of the files, then of the web."""

    kind: Literal["graded"] = "graded"
    documents: tuple[GradedDocument, ...]


class Decided(Frozen):
    kind: Literal["decided"] = "decided"
    decision: Decision


class Rewritten(Frozen):
    """W has made a query; what follows is the second look, or with `provider` a search of the web by that one."""

    kind: Literal["rewritten"] = "rewritten"
    query: str
    provider: str | None = None


class Asking(Frozen):
    """The query waits to be sent until a person allows it, edits it, or declines."""

    kind: Literal["asking"] = "asking"
    query: str
    provider: str


class Searched(WebSearched):
    """The web has answered, or failed (see `error`); `documents` are the usable results, not graded yet."""

    kind: Literal["searched"] = "searched"
    documents: tuple[Document, ...] = ()


class Refined(Frozen):
    kind: Literal["refined"] = "refined"
    strips: tuple[GradedStrip, ...]
    knowledge: Knowledge


class Thinking(Frozen):
    """What the model thinks before it writes."""

    kind: Literal["thinking"] = "thinking"
    text: str


class Token(Frozen):
    kind: Literal["token"] = "token"
    text: str


class Finished(Frozen):
    kind: Literal["finished"] = "finished"
    trace: Trace


TurnEvent = (
    Condensed
    | Drafted
    | Retrieved
    | Graded
    | Decided
    | Rewritten
    | Asking
    | Searched
    | Refined
    | Thinking
    | Token
    | Finished
)


# --- a build ------------------------------------------------------------------------------------------------


class FileState(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    UNCHANGED = "unchanged"


class FileChange(Frozen):
    """What a rebuild would do with one path below Files/."""

    path: str
    state: FileState


class VectorsAhead(Frozen):
    """What a rebuild would do with vectors, to be told before it starts."""

    after: str
    """The model that makes them."""
    before: str = ""
    """The one that made those of the index, where all of them are to be made anew; the same one where the reader is
    what has changed."""
    passages: int = 0
    """Passages of the index that are read and embedded again."""
    destination: str = ""
    """Who gets the text of new and changed files; empty: it stays on this machine."""


class FileRow(Frozen):
    """One file of the knowledge base as the page lists it. `error` is the reason why it is not indexed."""

    path: str
    content: str
    pages: int = 0
    passages: int = 0
    seconds: float = 0.0
    ocr_pages: int = 0
    """Pages whose text was read from their picture."""
    warnings: tuple[str, ...] = ()
    error: str | None = None


class BuildStarted(Frozen):
    kind: Literal["build_started"] = "build_started"
    changes: tuple[FileChange, ...]
    fresh: bool = False
    """A new index generation is built because the fingerprint changed."""


class FileProgress(Frozen):
    """File `index` (from 1) of `files`. `stage` is reading, embedding or staged; `done` of `total` counts pages while
    reading, passages after. While a bloated index is made anew, after the last file, `stage` is compacting and `path`
    empty."""

    kind: Literal["file_progress"] = "file_progress"
    path: str
    index: int
    files: int
    stage: str
    done: int
    total: int
    pages_per_second: float = 0.0
    pages: int = 0
    """Pages read so far in this build, also of files that are read ahead."""
    passages: int = 0
    """Passages embedded so far in this build."""
    seconds_left: float | None = None
    """An estimate from the speed so far; None while nothing honest can be said."""


class FileFinished(Frozen):
    kind: Literal["file_finished"] = "file_finished"
    row: FileRow
    index: int
    files: int


class BuildFinished(Frozen):
    """`published` False: cancelled, with `staged` finished files kept aside, invisible to questions."""

    kind: Literal["build_finished"] = "build_finished"
    version: int
    published: bool
    staged: int = 0
    files: int = 0
    passages: int = 0
    failed: int = 0
    seconds: float = 0.0
    tokens: int | None = None
    """That a service read to make vectors; None: nothing was sent, or it does not say."""
    cost: float | None = None
    """Of these vectors; None: unknown."""


BuildEvent = BuildStarted | FileProgress | FileFinished | BuildFinished
