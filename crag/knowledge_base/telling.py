"""What a build tells while it runs and at its end, put together from what it knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from crag.agent_model.base import Ledger
from crag.events import BuildFinished, FileProgress, FileRow
from crag.knowledge_base.pace import Pace
from crag.knowledge_base.records import Reading


class Spent(TypedDict):
    tokens: int | None
    cost: float | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a build stands: file `index` (from 1) of `files`."""

    path: str
    index: int
    files: int


def progress(place: Place, stage: str, done: int, total: int, speed: float, pace: Pace) -> FileProgress:
    """`speed` in pages a second; see `FileProgress`."""
    return FileProgress(
        path=place.path,
        index=place.index,
        files=place.files,
        stage=stage,
        done=done,
        total=total,
        pages_per_second=round(speed, 1),
        pages=pace.pages_read,
        passages=pace.passages_embedded,
        seconds_left=pace.seconds_left(),
    )


def row_of(path: str, reading: Reading) -> FileRow:
    """A file that was just read, as the page lists it."""
    return FileRow(
        path=path,
        content=reading.sha256,
        pages=len(reading.pages),
        passages=len(reading.passages),
        seconds=round(reading.seconds, 3),
        ocr_pages=sum(page.facts.ocr for page in reading.pages),
        warnings=tuple(reading.warnings),
        error=reading.error,
    )


def told_of(rows: Sequence[FileRow], version: int, seconds: float, sent: Ledger) -> BuildFinished:
    """The end of a build that published `rows`; passages of equal files count once."""
    return BuildFinished(
        version=version,
        published=True,
        files=sum(row.error is None for row in rows),
        passages=sum(row.passages for row in {row.content: row for row in rows if not row.error}.values()),
        failed=sum(row.error is not None for row in rows),
        seconds=seconds,
        **spent(sent),
    )


def spent(sent: Ledger) -> Spent:
    """What making the vectors took of a service, as fields of `BuildFinished`."""
    tokens = [call.tokens_in for call in sent.calls if call.tokens_in is not None]
    costs = [call.cost for call in sent.calls if call.cost is not None]
    return {"tokens": sum(tokens) if tokens else None, "cost": sum(costs) if costs else None}
