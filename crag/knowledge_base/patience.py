"""When reading a file has to end: it loses page after page, or takes more time than any honest file of its size."""

from __future__ import annotations

from dataclasses import dataclass

from crag.knowledge_base.health import Reading
from crag.knowledge_base.pdf_loader import RawPage

_SLOW_IN_A_ROW = 3
_SLOW = 20
_DAMAGED_IN_A_ROW = 100
_LIMITS = 30
_PER_PAGE = 2.0


@dataclass(slots=True)
class Patience:
    """Of one file: `limit` is in seconds for a page."""

    pages: int
    limit: float
    spent: float = 0.0
    """Seconds that reading its text took so far; OCR has limits of its own."""
    slow: int = 0
    """Pages that ended the reader."""
    slow_in_a_row: int = 0
    lost_in_a_row: int = 0

    def note(self, page: RawPage, ended: bool) -> None:
        """Counts a page that was read or lost; `ended` tells that it took too long, or took the reader with it."""
        self.slow += ended
        self.slow_in_a_row = self.slow_in_a_row + 1 if ended else 0
        self.lost_in_a_row = self.lost_in_a_row + 1 if page.reading == Reading.LOST else 0

    def over(self) -> str:
        """Why reading ends here, as the end of a sentence; "" while it goes on."""
        if self.slow_in_a_row >= _SLOW_IN_A_ROW or self.slow >= _SLOW:
            return "too many of its pages take too long or crash the reader"
        if self.lost_in_a_row >= _DAMAGED_IN_A_ROW:
            return f"{self.lost_in_a_row} pages in a row are missing or damaged"
        if self.spent > _LIMITS * self.limit + _PER_PAGE * self.pages:
            return f"it took {self.spent:.0f} s so far"
        return ""
