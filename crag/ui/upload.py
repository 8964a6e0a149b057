"""Uploaded PDFs into Files/: checked by content, under a safe name, never over another file unasked."""

from __future__ import annotations

import logging
import os
import re
import tempfile
import threading
import unicodedata
from enum import StrEnum
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

HEAD: Final = 1024
"""A PDF's signature stands within its first 1024 bytes (PDF 1.7, implementation note 13)."""
LONGEST_NAME: Final = 200
"""Bytes of UTF-8 with the extension; most file systems allow 255, and ` (12)` may follow."""

_UNSAFE = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"|?*\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?=$|\.)", re.IGNORECASE)
_one_at_a_time = threading.Lock()


class Outcome(StrEnum):
    """What became of an upload."""

    SAVED = "saved"
    SAME = "same"
    """The name and the bytes are there already: nothing to do."""
    CONFLICT = "conflict"
    """The name is taken by other bytes: nothing was written, the user decides."""
    EMPTY = "empty"
    TOO_LARGE = "too large"
    NO_PDF = "no pdf"
    DISK = "disk"
    """It could not be written; the log has the reason."""


class OnConflict(StrEnum):
    ASK = "ask"
    KEEP_BOTH = "keep both"
    REPLACE = "replace"


def safe_name(name: str) -> str:
    """The last part of `name` as a file name that every system takes, ending in `.pdf`; Unicode stays.

    Path separators, control and invisible characters, leading dots, names reserved by Windows and over-long names
    are handled; what leaves nothing becomes `document.pdf`.
    """
    stem = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    stem = _UNSAFE.sub("", stem)
    if stem.lower().endswith(".pdf"):
        stem = stem[:-4]
    stem = " ".join(stem.split()).strip(". ")
    if _RESERVED.match(stem):
        stem = f"_{stem}"
    stem = stem.encode()[: LONGEST_NAME - len(".pdf")].decode(errors="ignore").rstrip(". ")
    return f"{stem or 'document'}.pdf"


def refusal(data: bytes, most_bytes: int) -> Outcome | None:
    """Why `data` is not taken: empty, larger than `most_bytes`, or no PDF by its content; None if it is."""
    if not data:
        return Outcome.EMPTY
    if len(data) > most_bytes:
        return Outcome.TOO_LARGE
    return None if b"%PDF-" in data[:HEAD] else Outcome.NO_PDF


def save(
    folder: Path, name: str, data: bytes, most_bytes: int, on_conflict: OnConflict = OnConflict.ASK
) -> tuple[Outcome, str]:
    """Writes `data` below `folder` under the safe form of `name`: the outcome and the name it has there.

    Written aside and renamed, so that no half file is ever seen.
    """
    target = folder / safe_name(name)
    if refused := refusal(data, most_bytes):
        return refused, target.name
    try:
        with _one_at_a_time:
            folder.mkdir(parents=True, exist_ok=True)
            if _holds(target, data):
                return Outcome.SAME, target.name
            if os.path.lexists(target) and on_conflict is OnConflict.ASK:
                return Outcome.CONFLICT, target.name
            if on_conflict is OnConflict.KEEP_BOTH:
                target = _free(target)
            _write(target, data)
    except OSError:
        log.exception("an uploaded file could not be written")
        return Outcome.DISK, target.name
    return Outcome.SAVED, target.name


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data


def _free(path: Path) -> Path:
    number, free = 2, path
    while os.path.lexists(free):
        free = path.with_name(f"{path.stem} ({number}).pdf")
        number += 1
    return free


def _write(target: Path, data: bytes) -> None:
    descriptor, aside = tempfile.mkstemp(prefix=".upload-", suffix=".part", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(aside, 0o644)
        os.replace(aside, target)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
