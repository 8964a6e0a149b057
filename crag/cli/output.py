"""Files that a command writes: found to be writable before the work begins, then written in one step."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from crag.cli.console import errors, printable
from crag.errors import ConfigurationError
from crag.runtime import sentence


def target(option: str, name: str, keep: Mapping[str, str | None] | None = None) -> Path:
    """The file that `option` names, links followed, found to be writable and nothing that must be kept.

    Asked before the work: to learn afterwards that nothing can be written would be late. `keep` names by what they
    are the files that may not be overwritten. Raises ConfigurationError.
    """
    path = _allowed(option, name, keep or {})
    try:
        with _beside(path) as temporary:
            temporary.touch(exist_ok=False)
    except OSError as error:
        raise ConfigurationError(
            f"{option} {name} cannot be written ({error.strerror}): give a file in a folder that can."
        ) from None
    return path


def _allowed(option: str, name: str, keep: Mapping[str, str | None]) -> Path:
    try:
        path = Path(name).resolve()
        there = path.exists()
    except (OSError, RuntimeError) as error:  # too long a name; links in a circle
        raise ConfigurationError(f"{option} {name} cannot be written ({error}): give another file name.") from None
    if path.is_dir() or not path.parent.is_dir():
        raise ConfigurationError(f"{option} {name} cannot be written: give a file name in a folder that exists.")
    if there and not path.is_file():
        raise ConfigurationError(f"{option} {name} is no regular file: give the name of a file.")
    for what, kept in keep.items():
        if kept is not None and same(path, Path(kept)):
            raise ConfigurationError(f"{option} {name} would overwrite {what}: give another file name.")
    if ".pdf" in (path.suffix.lower(), Path(name).suffix.lower()) or (there and _holds_pdf(path)):
        raise ConfigurationError(f"{option} {name} is a PDF, and no PDF is ever overwritten: give another file name.")
    if there and not os.access(path, os.W_OK):
        raise ConfigurationError(f"{option} {name} is write-protected: give another file name.")
    return path


def same(one: Path, other: Path) -> bool:
    """Whether both, the first one resolved, are one file."""
    return one == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


def _holds_pdf(path: Path) -> bool:
    """Whether it is a PDF whatever its name; readers look for the mark in the first KiB."""
    try:
        with path.open("rb") as stream:
            return b"%PDF-" in stream.read(1024)
    except OSError:
        return False  # what cannot be read is told by the attempt to write


def write(path: Path, make: Callable[[], bytes]) -> bool:
    """Whether it was written, in one step, so that an older file stays whole if the disk is full; why not is told."""
    try:
        content = make()
        with _beside(path) as temporary:
            temporary.write_bytes(content)
            temporary.replace(path)
    except Exception as error:  # whatever it is, what was worked out before can still be printed
        errors.print(f"Not written: {printable(str(path))}. {printable(sentence(error))}")
        return False
    errors.print(f"Written: {printable(str(path))}")
    return True


@contextmanager
def _beside(path: Path) -> Iterator[Path]:
    """A name for a temporary file in the folder of `path`, that nobody else has; what is left there is removed."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
