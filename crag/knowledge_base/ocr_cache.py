"""What OCR read, kept by the picture it was read from: another build, or another chunker, does not read again."""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
import zlib
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from crag.knowledge_base.recognition import OcrLine, Picture, engine_version

READER_VERSION = "2"
"""Raise it whenever the same picture would give other lines with the same engine."""
LIMIT = 500_000_000
"""Bytes kept; about 50 000 pages. Beyond it the pages not used for longest go, down to nine tenths."""

_lines = TypeAdapter(tuple[OcrLine, ...])


class OcrCache:
    """Files in one folder, one per picture; several processes may share it. Whoever deletes it loses time only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def key(self, picture: Picture) -> str:
        """Picture, engine and reader; the resolution shows in the picture's size."""
        identity = f"{engine_version()}|{READER_VERSION}|{picture.shape}|".encode()
        return hashlib.sha256(identity + picture.tobytes()).hexdigest()

    def get(self, key: str) -> list[OcrLine] | None:
        """The lines of an earlier reading; None where there is none or the entry is damaged."""
        path = self._path(key)
        try:
            found = _lines.validate_json(gzip.decompress(path.read_bytes()))
            os.utime(path)
        except (OSError, EOFError, zlib.error, ValidationError):  # gzip's own error is an OSError
            return None
        return list(found)

    def put(self, key: str, lines: list[OcrLine]) -> None:
        """Keeps the lines; a folder that cannot be written costs time at the next build and nothing else."""
        path = self._path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as file:
                file.write(gzip.compress(_lines.dump_json(tuple(lines)), 6))
            os.replace(file.name, path)
        except OSError:
            return

    def prune(self, limit: int = LIMIT) -> None:
        """Drops the entries not used for longest until nine tenths of `limit` bytes remain."""
        entries = []
        for path in self._folder.glob("*/*"):
            try:
                status = path.stat()
            except OSError:  # another process was faster
                continue
            entries.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        if total <= limit:
            return
        for _, size, path in sorted(entries):
            if total <= 0.9 * limit:
                break
            path.unlink(missing_ok=True)
            total -= size

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json.gz"
