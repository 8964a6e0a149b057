"""Whether a file that was read is worth indexing, and what its owner should know about it."""

from __future__ import annotations

from collections.abc import Sequence

from crag.errors import PdfError
from crag.knowledge_base.page_text import DOUBTFUL, EMPTY, GARBLED, IMAGE, PageText


def verdict(pages: Sequence[PageText], passages: int, repaired: bool) -> list[str]:
    """The warnings of a file that can be indexed. Raises PdfError where it holds nothing to index."""
    by_health: dict[str, list[int]] = {}
    for page in pages:
        by_health.setdefault(page.health, []).append(page.number)
    images, garbled, empty = (by_health.get(health, []) for health in (IMAGE, GARBLED, EMPTY))
    little = sum(char.isalnum() for page in pages for char in page.text) < 20
    if not passages or (little and images):
        if images:
            raise PdfError(f"It has no text layer: {_pages(len(images), 'is an image', 'are images')}; OCR is needed.")
        if garbled:
            raise PdfError("Its text layer is unreadable (the fonts have no usable character map); OCR is needed.")
        raise PdfError(f"It holds no text: {_pages(len(pages), 'is empty', 'are empty')}.")
    warnings = []
    if images:
        warnings.append(f"No text on {_numbers(images)} (images): not indexed, OCR is needed.")
    if garbled:
        warnings.append(f"Unreadable text layer on {_numbers(garbled)}: not indexed, OCR is needed.")
    if empty:
        warnings.append(f"No text on {_numbers(empty)}.")
    if doubtful := by_health.get(DOUBTFUL):
        warnings.append(f"Some characters on {_numbers(doubtful)} are unreadable and were left out.")
    if little:
        warnings.append("It holds only a few words of text; what pictures show is not read.")
    if repaired:
        warnings.append("The file is damaged and was repaired while reading: parts may be missing.")
    return warnings


def _pages(count: int, one: str, many: str) -> str:
    return f"its only page {one}" if count == 1 else f"{count} pages {many}"


def _numbers(pages: Sequence[int]) -> str:
    """ "page 3", "pages 3-5, 9": runs are drawn together, and a long list is cut."""
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][-1] + 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    shown = [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs[:8]]
    more = f" and {sum(map(len, runs[8:]))} more" if len(runs) > 8 else ""
    return f"page{'s' if len(pages) > 1 else ''} {', '.join(shown)}{more}"
