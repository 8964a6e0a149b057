"""How fast a build goes and how long it will still take: reading and embedding run side by side, the slower counts."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

_ENOUGH_SECONDS = 2.0
"""Before so much of both kinds of work is seen, nothing is foretold."""


def seconds_left(
    *, pages_left: float, pages_per_second: float, passages_left: float, passages_per_second: float
) -> float:
    """Of two kinds of work that overlap, the longer; rates are above 0."""
    return max(pages_left / pages_per_second, passages_left / passages_per_second)


@dataclass
class Pace:
    """Counts a build's work. `bytes_left` are those of files not opened yet. Thread-safe."""

    bytes_left: int = 0
    pages_opened: int = 0
    """Pages of the files that were opened: known, read or not."""
    pages_read: int = 0
    passages_cut: int = 0
    passages_embedded: int = 0
    embedding_seconds: float = 0.0
    began: float = field(default_factory=time.monotonic)
    bytes_opened: int = 0
    pages_cut: int = 0
    """Pages of the files whose passages are known."""

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._last_read = self.began

    def opened(self, size: int, pages: int) -> None:
        with self._lock:
            self.bytes_left = max(0, self.bytes_left - size)
            self.bytes_opened += size
            self.pages_opened += pages

    def passed_over(self, size: int) -> None:
        """A file that needs no reading after all."""
        with self._lock:
            self.bytes_left = max(0, self.bytes_left - size)

    def read(self, pages: int) -> None:
        with self._lock:
            self.pages_read += pages
            self._last_read = time.monotonic()

    def cut(self, passages: int, pages: int) -> None:
        with self._lock:
            self.passages_cut += passages
            self.pages_cut += pages

    def embedded(self, passages: int, seconds: float) -> None:
        with self._lock:
            self.passages_embedded += passages
            self.embedding_seconds += seconds

    def seconds_left(self) -> float | None:
        """An estimate from what was done so far; None as long as nothing honest can be said."""
        with self._lock:
            reading = self._last_read - self.began
            if not (self.pages_read and self.pages_cut and self.passages_embedded and self.bytes_opened):
                return None
            if time.monotonic() - self.began < _ENOUGH_SECONDS:
                return None
            unopened = self.bytes_left * self.pages_opened / self.bytes_opened
            pages = max(0, self.pages_opened - self.pages_read) + unopened
            uncut = max(0, self.pages_opened - self.pages_cut) + unopened
            passages = self.passages_cut - self.passages_embedded + uncut * self.passages_cut / self.pages_cut
            return seconds_left(
                pages_left=pages,
                pages_per_second=self.pages_read / max(reading, 1e-3),
                passages_left=passages,
                passages_per_second=self.passages_embedded / max(self.embedding_seconds, 1e-3),
            )
