"""What the events of a job say so far: pure views that the page draws while a turn or a build runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from crag.events import (
    Asking,
    BuildEvent,
    BuildFinished,
    BuildStarted,
    Condensed,
    Decided,
    Drafted,
    FileFinished,
    FileProgress,
    FileRow,
    FileState,
    Finished,
    Graded,
    Refined,
    Retrieved,
    Rewritten,
    Searched,
    Thinking,
    Token,
    TurnEvent,
)
from crag.schema import Decision, Trace

READING_SHARE = 0.2
"""Of the work on one file; the rest is embedding."""


@dataclass
class TurnView:
    """How far a turn has come. `steps` are text keys of the page's catalog with their numbers."""

    steps: list[tuple[str, int]] = field(default_factory=list)
    doing: str = "retrieving"
    understood: str | None = None
    """The follow-up as a question that stands alone."""
    asking: Asking | None = None
    """The query that waits for a person."""
    decision: Decision | None = None
    text: str = ""
    trace: Trace | None = None


def turn_view(events: Iterable[TurnEvent]) -> TurnView:
    view = TurnView()
    for event in events:
        view.asking = event if isinstance(event, Asking) else None
        match event:
            case Condensed():
                view.understood = event.question
            case Drafted():
                view.steps.append(("drafted", 0))
            case Retrieved():
                view.steps.append(("retrieved", len(event.documents)))
                view.doing = "grading"
            case Graded():
                view.steps.append(("graded", len(event.documents)))
                view.doing = "refining" if any(document.url for document in event.documents) else "deciding"
            case Decided():
                view.decision = event.decision
                view.doing = "refining"
            case Rewritten():
                view.steps.append(("rewritten", 0))
                view.doing = "searching" if event.provider else "retrieving_again"
            case Asking():
                view.doing = "asking"
            case Searched():
                view.steps.append(("searched", len(event.documents)))
                view.doing = "grading" if event.documents else "refining"
            case Refined():
                view.steps.append(("kept", sum(strip.kept for strip in event.strips)))
                view.doing = "writing"
            case Thinking():
                view.doing = "thinking"
            case Token():
                view.doing = "writing"
                view.text += event.text
            case Finished():
                view.trace = event.trace
    return view


@dataclass
class BuildView:
    """How far a build has come."""

    started: bool = False
    to_do: tuple[str, ...] = ()
    """Paths of the added and changed files, in the order in which they are read."""
    passed: int = 0
    """So many of them are done; what was known under another name is passed over in silence."""
    finished: list[FileRow] = field(default_factory=list)
    current: FileProgress | None = None
    end: BuildFinished | None = None

    @property
    def share(self) -> float:
        """In [0, 1]; only grows."""
        if self.end is not None:
            return 1.0
        return min(1.0, (self.passed + self._of_current()) / len(self.to_do)) if self.to_do else 0.0

    @property
    def publishing(self) -> bool:
        """Every file is through."""
        return self.started and self.passed >= len(self.to_do)

    def _of_current(self) -> float:
        if self.current is None:
            return 0.0
        part = self.current.done / self.current.total if self.current.total else 0.0
        reading = dict.fromkeys(("reading", "ocr", "mineru"), READING_SHARE * part)
        stages = {**reading, "embedding": READING_SHARE + (1 - READING_SHARE) * part}
        return stages.get(self.current.stage, 1.0)


def build_view(events: Iterable[BuildEvent]) -> BuildView:
    view = BuildView()
    place: dict[str, int] = {}
    for event in events:
        match event:
            case BuildStarted():
                view.started = True
                states = (FileState.ADDED, FileState.CHANGED)
                view.to_do = tuple(change.path for change in event.changes if change.state in states)
                place = {path: i for i, path in enumerate(view.to_do)}
            case FileProgress():
                view.current = event
                view.passed = place.get(event.path, view.passed)
            case FileFinished():
                view.current = None
                view.finished.append(event.row)
                view.passed = max(view.passed, place.get(event.row.path, -1) + 1)
                if event.index == event.files:  # behind it there is nothing, not even what is passed over
                    view.passed = len(view.to_do)
            case BuildFinished():
                view.end = event
    return view
