"""What lies in Files/: the PDFs with size, time and hash, what is left alone, and what has changed."""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from crag.errors import KnowledgeBaseError
from crag.events import FileChange, FileState
from crag.knowledge_base.health import OcrMode
from crag.knowledge_base.plan import options_text, wanted
from crag.knowledge_base.records import Known

_TEMPORARY = (".~", "~$", "._")
"""Lock and shadow files that editors and macOS leave beside a document."""
_UNTOLD = {".gitkeep", ".gitignore", ".DS_Store", "Thumbs.db", "desktop.ini"}
_RACY_NS = 2_000_000_000
"""A file changed within two seconds of being hashed may change again without its time showing it."""


class CancelledScanError(Exception):
    """The scan was asked to stop."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One PDF below Files/. `path` is its name in the catalog, always valid Unicode; `real` opens it."""

    path: str
    real: Path
    size: int = 0
    mtime_ns: int = 0
    error: str | None = None
    """Why it cannot even be opened."""


@dataclass(frozen=True, slots=True)
class Scan:
    entries: list[Entry]
    ignored: list[str]


def scan(folder: Path) -> Scan:
    """Every PDF below `folder`, by path, whatever the case of its ending; links that leave it are not followed.

    Raises KnowledgeBaseError where it, or a folder in it, cannot be listed: what cannot be seen is not removed.
    """
    entries, ignored = list[Entry](), list[str]()
    root = folder.resolve()
    for directory, folders, names in os.walk(folder, onerror=_unlistable):
        folders.sort()
        below = os.path.relpath(directory, folder)
        for name in sorted([*names, *folders]):
            path = _name(name if below == os.curdir else os.path.join(below, name))
            is_pdf = name.lower().endswith(".pdf") and not name.startswith(_TEMPORARY)
            if is_pdf:
                entries.append(_entry(Path(directory, name), path, root))
            elif name in folders:
                if os.path.islink(os.path.join(directory, name)):
                    ignored.append(f"{path}/")
            elif name not in _UNTOLD and not name.startswith(_TEMPORARY):
                ignored.append(path)
    return Scan(_distinct(sorted(entries, key=lambda entry: entry.path)), sorted(ignored))


def find(folder: Path, path: str) -> Entry | None:
    """The PDF that the catalog calls `path`; None where there is none. Raises KnowledgeBaseError like `scan`."""
    plain = Path(folder, path)
    if path.isprintable() and plain.exists() and ".." not in plain.parts:
        return _entry(plain, path, folder.resolve())
    return next((entry for entry in scan(folder).entries if entry.path == path), None)  # a name that is no Unicode


def _distinct(entries: list[Entry]) -> list[Entry]:
    """Two names that are shown alike, since one of them is no Unicode, must not be taken for one file."""
    seen: set[str] = set()
    for place, entry in enumerate(entries):
        while entry.path in seen:
            entry = entries[place] = replace(entry, path=f"{entry.path}\ufffd")
        seen.add(entry.path)
    return entries


def _unlistable(error: OSError) -> None:
    raise KnowledgeBaseError(
        f"The folder {error.filename} cannot be read ({error.strerror}): create it, connect its drive or correct "
        "its permissions. The index stays as it is."
    ) from None


def _name(path: str) -> str:
    """File names are bytes on Linux: what is no Unicode is shown escaped."""
    return os.fsencode(path.replace(os.sep, "/")).decode("utf-8", "backslashreplace")


def _entry(real: Path, path: str, root: Path) -> Entry:
    try:
        found = real.lstat()
        if stat.S_ISLNK(found.st_mode):
            if not real.exists():
                return Entry(path, real, error="It is a link that leads nowhere: put the file itself here.")
            if not real.resolve().is_relative_to(root):
                return Entry(path, real, error="It is a link out of the folder: copy the file itself here.")
            found = real.stat()
    except OSError as error:
        return Entry(path, real, error=_unopened(error))
    if stat.S_ISDIR(found.st_mode):
        return Entry(path, real, error="It is a folder, not a file: rename it if it only holds PDFs.")
    if not stat.S_ISREG(found.st_mode):
        return Entry(path, real, error="It is not a regular file: put the PDF itself here.")
    if not os.access(real, os.R_OK):
        return Entry(path, real, error="It may not be read: give this user the permission to read it.")
    return Entry(path, real, found.st_size, found.st_mtime_ns)


def _unopened(error: OSError) -> str:
    return f"It cannot be opened ({error.strerror or error}): check the file and its permissions."


class Hasher:
    """sha256 of files, remembered by path, size and time of change for as long as these cannot hide a change."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, int, str]] = {}
        self._lock = threading.Lock()

    def remember(self, known: Mapping[str, Known]) -> None:
        """What the catalog knows of files need not be read again to be told."""
        with self._lock:
            for path, file in known.items():
                if file.sha256 and file.mtime_ns > 0:
                    self._known.setdefault(path, (file.size, file.mtime_ns, file.sha256))

    def sha256(self, entry: Entry, cancel: threading.Event | None = None) -> tuple[str, int]:
        """(hex digest, time of change to store: negative where it cannot be trusted yet). Raises OSError."""
        with self._lock:
            known = self._known.get(entry.path)
        if known and known[:2] == (entry.size, entry.mtime_ns):
            return known[2], entry.mtime_ns
        started = time.time_ns()
        digest = hashlib.sha256()
        with entry.real.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
                if cancel is not None and cancel.is_set():
                    raise CancelledScanError
        if started - entry.mtime_ns < _RACY_NS:
            return digest.hexdigest(), -entry.mtime_ns
        with self._lock:
            self._known[entry.path] = (entry.size, entry.mtime_ns, digest.hexdigest())
        return digest.hexdigest(), entry.mtime_ns


def compare(
    entries: Sequence[Entry],
    known: dict[str, Known],
    hasher: Hasher,
    fingerprint: str,
    options: Mapping[str, OcrMode] | None = None,
    usual: OcrMode = "auto",
) -> Iterator[FileChange]:
    """What a rebuild would do with each path. Hashes only what is new or touched; `options` are those of paths,
    `usual` tells how all others are read."""
    ocr = wanted(options or {}, ((path, file.sha256) for path, file in known.items()))
    for entry in entries:
        before = known.get(entry.path)
        state = _state_of(entry, before, hasher, fingerprint)
        if before and before.sha256 and before.options != options_text(ocr.get(before.sha256, usual)):
            state = FileState.CHANGED
        yield FileChange(path=entry.path, state=state)
    for path in known.keys() - {entry.path for entry in entries}:
        yield FileChange(path=path, state=FileState.REMOVED)


def differs(entries: Sequence[Entry], known: Mapping[str, Known]) -> bool:
    """Whether names, sizes or times of change are others than when the index was built; reads no file."""
    if {entry.path for entry in entries} != known.keys():
        return True
    for entry in entries:
        before = known[entry.path]
        if entry.error != before.error:
            return True
        same_time = abs(before.mtime_ns) in (0, abs(entry.mtime_ns))
        if entry.error is None and not (entry.size == before.size and same_time):
            return True
    return False


def _state_of(entry: Entry, before: Known | None, hasher: Hasher, fingerprint: str) -> FileState:
    if before is None:
        return FileState.ADDED
    if entry.error is not None or before.error is not None:
        return FileState.UNCHANGED if entry.error == before.error else FileState.CHANGED
    if before.fingerprint != fingerprint or before.retry or entry.size != before.size:
        return FileState.CHANGED
    if entry.mtime_ns == before.mtime_ns:
        return FileState.UNCHANGED
    try:
        same = hasher.sha256(entry)[0] == before.sha256
    except OSError:
        same = False
    return FileState.UNCHANGED if same else FileState.CHANGED
