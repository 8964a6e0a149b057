"""`python -m crag build`: brings the index in step with the PDFs, and tells of every file."""

from __future__ import annotations

import argparse
import contextlib
import getpass
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType

from config import Settings
from crag.cli.console import DONE, FAILED, INTERRUPTED, errors, opened, printable, progress
from crag.errors import ConfigurationError
from crag.events import BuildEvent, BuildFinished, BuildStarted, FileFinished, FileProgress, FileState, VectorsAhead
from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.opening import wants_password
from crag.text import counted


def build(options: argparse.Namespace, settings: Settings) -> int:
    """Runs the command; returns the exit code."""
    with opened(settings) as house:
        if options.publish_staged:
            return _built(house.knowledge_base.publish_staged())
        _take_passwords(options, house.knowledge_base)
        cancel = threading.Event()
        if options.read_again:
            again = house.knowledge_base.read_again(options.read_again, options.ocr, cancel)
            return _follow_build(again, cancel)
        if options.ocr:
            raise ConfigurationError("--ocr belongs to --read-again FILE: name the file that it is for.")
        _tell_ahead(house.knowledge_base.vectors_ahead())
        code = _follow_build(house.knowledge_base.build(cancel), cancel)
        return code or (FAILED if _still_locked(options, house.knowledge_base) else DONE)


def _tell_ahead(ahead: VectorsAhead | None) -> None:
    """What becomes of the vectors, before any is made."""
    if ahead is None:
        return
    if ahead.before:
        many = counted(ahead.passages, "passage")
        if ahead.before == ahead.after:
            errors.print(f"The index was made by another version of this program: its {many} are made anew.")
        else:
            errors.print(
                f"The index was built with {ahead.before}: its {many} are read again and embedded with {ahead.after}. "
                "Until that is done it cannot be asked."
            )
    if ahead.destination:
        errors.print(f"The text of new and changed PDFs is sent to {ahead.destination}.")


def _take_passwords(options: argparse.Namespace, base: KnowledgeBase) -> None:
    """Asks on the terminal without echo, or takes a line of standard input: arguments can be seen by others."""
    for path in options.password:
        base.set_password(path, getpass.getpass(f"Password of {printable(path)}: "))
    if options.password_stdin:
        base.set_password(options.password_stdin, sys.stdin.readline().rstrip("\r\n"))


def _still_locked(options: argparse.Namespace, base: KnowledgeBase) -> bool:
    """Whether a file whose password was given is still locked: its row has said that the password does not fit."""
    named = {*options.password, options.password_stdin}
    return any(row.path in named and wants_password(row.error) for row in base.rows())


def _follow_build(events: Iterator[BuildEvent], cancel: threading.Event) -> int:
    result: BuildFinished | None = None
    with progress() as bar, _interrupt_sets(cancel):
        task = bar.add_task("Looking at the files …", total=None)
        for event in events:
            if isinstance(event, BuildStarted):
                counts = ((state, sum(change.state is state for change in event.changes)) for state in FileState)
                errors.print(", ".join(f"{count} {state}" for state, count in counts))
            elif isinstance(event, FileProgress):
                text = f"[{event.index}/{event.files}] {event.stage} {printable(event.path)}{_left(event.seconds_left)}"
                bar.update(task, description=text, completed=event.done, total=event.total)
            elif isinstance(event, FileFinished):
                errors.print(_row_line(event))
            elif isinstance(event, BuildFinished):
                result = event
    assert result is not None, "a build always ends with its result"
    return _built(result)


@contextlib.contextmanager
def _interrupt_sets(cancel: threading.Event) -> Iterator[None]:
    """The first Ctrl-C cancels in good order; a second one ends the program at once."""

    def interrupted(_number: int, _frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        errors.print("Stopping …")
        cancel.set()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _left(seconds: float | None) -> str:
    """How long it will still take, in words that promise no more than an estimate can."""
    if seconds is None:
        return ""
    return f", about {seconds / 60:.0f} min left" if seconds >= 90 else f", about {max(seconds, 1):.0f} s left"


def _row_line(event: FileFinished) -> str:
    row = event.row
    place = f"[{event.index}/{event.files}] {printable(row.path)}: "
    if row.error:
        return place + f"not indexed. {row.error}"
    notes = "".join(f" Note: {warning}" for warning in row.warnings)
    return place + f"{counted(row.pages, 'page')}, {counted(row.passages, 'passage')}, {row.seconds:.1f} s.{notes}"


def _built(event: BuildFinished) -> int:
    if not event.published:
        errors.print(
            f"Stopped. {event.staged} finished files are kept aside: `python -m crag build` goes on from there, "
            "`python -m crag build --publish-staged` makes them available now."
        )
        return INTERRUPTED
    failed = f", {event.failed} not readable" if event.failed else ""
    errors.print(
        f"{counted(event.files, 'file')}, {counted(event.passages, 'passage')}{failed} ({event.seconds:.1f} s)."
    )
    if event.tokens is not None:
        errors.print(f"The embedding service read {event.tokens:,} tokens.")
    return DONE
