"""The share and the steps that the page shows follow from the events alone."""

from __future__ import annotations

from ui_stage import CORRECT, INCORRECT, events

from crag.events import BuildFinished, BuildStarted, FileChange, FileFinished, FileProgress, FileRow, FileState
from crag.ui.progress import build_view, turn_view


def test_a_turn_tells_its_steps_as_they_happen() -> None:
    log = events(CORRECT)
    assert turn_view([]).doing == "retrieving"
    assert turn_view(log[:2]).steps == [("retrieved", 8), ("graded", 8)]
    assert turn_view(log[:3]).decision is not None
    assert turn_view(log).text.startswith("From your documents")
    assert turn_view(log).trace is not None


def test_after_a_second_look_the_last_decision_counts() -> None:
    view = turn_view(events(INCORRECT, [0.5]))
    assert view.decision is not None
    assert view.decision.sentence.lower().startswith("second look")
    assert ("rewritten", 0) in view.steps


def test_the_share_of_a_build_only_grows_and_ends_at_one() -> None:
    changes = tuple(FileChange(path=name, state=FileState.ADDED) for name in ("a", "b"))
    log = [
        BuildStarted(changes=changes),
        *(FileProgress(path="a", index=1, files=2, stage="reading", done=n, total=4) for n in range(5)),
        *(FileProgress(path="a", index=1, files=2, stage="embedding", done=n, total=4) for n in range(5)),
        FileFinished(row=FileRow(path="a", content="a"), index=1, files=2),
        FileProgress(path="b", index=2, files=2, stage="reading", done=0, total=0),
        FileFinished(row=FileRow(path="b", content="b", error="broken"), index=2, files=2),
        BuildFinished(version=1, published=True),
    ]
    shares = [build_view(log[:n]).share for n in range(len(log) + 1)]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)


def test_a_build_publishes_when_every_file_is_through() -> None:
    changes = tuple(FileChange(path=name, state=FileState.ADDED) for name in ("a", "b"))
    log = [
        BuildStarted(changes=changes),
        FileFinished(row=FileRow(path="a", content="a"), index=1, files=2),
        FileFinished(row=FileRow(path="b", content="b"), index=2, files=2),
    ]
    assert [build_view(log[:n]).publishing for n in range(4)] == [False, False, False, True]


def test_a_build_with_nothing_to_do_has_no_share_until_it_ends() -> None:
    log = [BuildStarted(changes=()), BuildFinished(version=1, published=True)]
    assert [build_view(log[:n]).share for n in (0, 1, 2)] == [0.0, 0.0, 1.0]


def test_files_that_are_known_already_do_not_count() -> None:
    names = {"a": FileState.UNCHANGED, "b": FileState.ADDED, "c": FileState.ADDED, "d": FileState.REMOVED}
    log = [
        BuildStarted(changes=tuple(FileChange(path=path, state=state) for path, state in names.items())),
        FileProgress(path="c", index=3, files=3, stage="embedding", done=1, total=2),
    ]
    view = build_view(log)
    assert (view.to_do, view.passed) == (("b", "c"), 1)
    assert 0.5 < view.share < 1
