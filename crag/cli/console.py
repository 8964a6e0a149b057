"""What the commands share: exit codes, standard error, progress, and the opened house."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

from config import Settings
from crag.assembly import House, open_house

DONE, FAILED, USAGE, NOTHING_INDEXED, LOCKED, INTERRUPTED = 0, 1, 2, 3, 4, 130

errors = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)


@contextlib.contextmanager
def opened(settings: Settings) -> Iterator[House]:
    """The house for one command; the first conversion of the model is followed on standard error."""
    with progress() as bar:
        task = bar.add_task("Opening", total=1.0, visible=False)

        def show(message: str, share: float) -> None:
            if bar.live.is_started and errors.is_terminal:
                bar.update(task, description=message, completed=share, visible=True)
            elif share in (0.0, 1.0):
                errors.print(message)

        house = open_house(settings, show)
    try:
        yield house
    finally:
        house.close()


def progress() -> Progress:
    """A bar on a terminal; in a pipe nothing is drawn and what is printed are plain lines on standard error."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    )


def printable(text: str) -> str:
    """A name as the terminal may see it: no escape sequences, no direction overrides, one line."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text)
