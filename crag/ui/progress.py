"""What the events of a job say so far: pure views that the page draws while a turn or a build runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from crag.schema import (
    BuildEvent,
    BuildFinished,
    BuildStarted,
    Decided,
    Decision,
    FileFinished,
    FileProgress,
    FileRow,
    FileState,
    Finished,
    Graded,
    Refined,
    Retrieved,
    Rewritten,
    Token,
    Trace,
    TurnEvent,
)

READING_SHARE = 0.2
"""Of the work on one file; the rest is embedding."""


@dataclass
class TurnView:
    """How far a turn has come. `steps` are text keys of the page's catalog with their numbers."""

    steps: list[tuple[str, int]] = field(default_factory=list)
    doing: str = "retrieving"
    decision: Decision | None = None
    text: str = ""
    trace: Trace | None = None


def turn_view(events: Iterable[TurnEvent]) -> TurnView:
    view = TurnView()
    for event in events:
        match event:
            case Retrieved():
                view.steps.append(("retrieved", len(event.documents)))
                view.doing = "grading"
            case Graded():
                view.steps.append(("graded", len(event.documents)))
                view.doing = "deciding"
            case Decided():
                view.decision = event.decision
                view.doing = "refining"
            case Rewritten():
                view.steps.append(("rewritten", 0))
                view.doing = "retrieving_again"
            case Refined():
                view.steps.append(("kept", sum(strip.kept for strip in event.strips)))
                view.doing = "writing"
            case Token():
                view.text += event.text
            case Finished():
                view.trace = event.trace
    return view


@dataclass
class BuildView:
    """How far a build has come. `share` in [0, 1]; `files` is how many it works on."""

    files: int = 0
    finished: list[FileRow] = field(default_factory=list)
    current: FileProgress | None = None
    end: BuildFinished | None = None

    @property
    def share(self) -> float:
        if self.end is not None:
            return 1.0
        return min(1.0, (len(self.finished) + self._of_current()) / self.files) if self.files else 0.0

    def _of_current(self) -> float:
        if self.current is None:
            return 0.0
        part = self.current.done / self.current.total if self.current.total else 0.0
        return {"reading": READING_SHARE * part, "embedding": READING_SHARE + (1 - READING_SHARE) * part}.get(
            self.current.stage, 1.0
        )


def build_view(events: Iterable[BuildEvent]) -> BuildView:
    view = BuildView()
    for event in events:
        match event:
            case BuildStarted():
                view.files = sum(change.state in (FileState.ADDED, FileState.CHANGED) for change in event.changes)
            case FileProgress():
                view.files, view.current = event.files, event
            case FileFinished():
                view.files = event.files
                view.finished.append(event.row)
                if view.current is not None and view.current.path == event.row.path:
                    view.current = None
            case BuildFinished():
                view.end = event
    return view
