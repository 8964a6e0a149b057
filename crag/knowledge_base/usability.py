"""Whether a file that was read is worth indexing, and what its owner should know about it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from crag.errors import PdfError
from crag.knowledge_base.health import DOUBTFUL, EMPTY, Reading
from crag.knowledge_base.opening import DYNAMIC_FORM, PdfHead
from crag.knowledge_base.page_text import PageText
from crag.knowledge_base.workers import TransientPdfError

_UNREAD = (Reading.NOTHING, Reading.FOREIGN, Reading.FAILED, Reading.OFF, Reading.LOST)
_PLEASE_WAIT = re.compile(r"please wait.{0,40}if this message is not eventually replaced", re.IGNORECASE | re.DOTALL)
_SCRIPTS = "it reads Latin letters, Chinese and Japanese"


def verdict(pages: Sequence[PageText], passages: int, head: PdfHead) -> list[str]:
    """The warnings of a file that can be indexed. Raises PdfError where it holds nothing to index."""
    by_health: dict[str, list[int]] = {}
    by_reading: dict[str, list[int]] = {}
    for page in pages:
        by_health.setdefault(page.health, []).append(page.number)
        by_reading.setdefault(page.facts.reading, []).append(page.number)
    if len(pages) <= 2 and pages and _PLEASE_WAIT.search(pages[0].text):
        raise PdfError(DYNAMIC_FORM)
    little = sum(char.isalnum() for page in pages for char in page.text) < 20
    unread = [page for page in pages if page.facts.reading in _UNREAD]
    if not passages or (little and unread):
        refusal = _refusal(pages, by_reading)
        damaged = "The file is damaged: fetch or export it again." if head.repaired else ""
        raise type(refusal)(" ".join(filter(None, (str(refusal), damaged, head.inside))))
    warnings = [*head.notes, *([head.inside] if head.inside else []), *_of_reading(pages, by_reading)]
    if empty := [n for n in by_health.get(EMPTY, []) if n not in {page.number for page in unread}]:
        warnings.append(f"No text on {_numbers(empty)}.")
    if doubtful := by_health.get(DOUBTFUL):
        warnings.append(f"Some characters on {_numbers(doubtful)} are unreadable and were left out.")
    if little:
        warnings.append("It holds only a few words of text.")
    warnings += _notes(pages)
    if head.repaired:
        warnings.append("The file is damaged and was repaired while reading: parts may be missing.")
    return warnings


def _notes(pages: Sequence[PageText]) -> list[str]:
    """What pages say of themselves, such as that attachments are not read; OCR's failures are told elsewhere."""
    failed = {*_failures(pages), *_failures(pages, Reading.LOST)}
    return list(dict.fromkeys(note for page in pages for note in page.facts.notes if note not in failed))


def _of_reading(pages: Sequence[PageText], by_reading: dict[str, list[int]]) -> list[str]:
    """What OCR did and what it could not do, each page named."""
    warnings = []
    if read := sorted(by_reading.get(Reading.READ, []) + by_reading.get(Reading.UNSURE, [])):
        warnings.append(f"{_numbers(read).capitalize()} {_were(read)} read by OCR.")
    if unsure := by_reading.get(Reading.UNSURE):
        warnings.append(f"OCR is unsure of {_numbers(unsure)}: check what it read against the page.")
    if nothing := by_reading.get(Reading.NOTHING):
        has = "has" if len(nothing) == 1 else "have"
        warnings.append(f"{_numbers(nothing).capitalize()} {has} no text and OCR found none.")
    if foreign := by_reading.get(Reading.FOREIGN):
        warnings.append(f"OCR could not make out the writing on {_numbers(foreign)} ({_SCRIPTS}): not indexed.")
    if off := by_reading.get(Reading.OFF):
        warnings.append(f"{_numbers(off).capitalize()} {_needs(off)} OCR, which is off: set it to auto and read again.")
    for note, numbers in _failures(pages, Reading.LOST).items():
        warnings.append(f"{_numbers(numbers).capitalize()} {_were(numbers)} left out. {note}")
    for note, numbers in _failures(pages).items():
        warnings.append(f"OCR failed on {_numbers(numbers)}: {note}")
    return warnings


def _refusal(pages: Sequence[PageText], by_reading: dict[str, list[int]]) -> PdfError:
    """Why nothing of the file can be indexed, and what to do; a failure may pass, so such a file is tried again."""
    for note, numbers in _failures(pages, Reading.LOST).items():
        return TransientPdfError(f"None of its pages could be read, {_numbers(numbers)} for this reason: {note}")
    for note, numbers in _failures(pages).items():
        return TransientPdfError(f"It has no usable text layer, and OCR failed on {_numbers(numbers)}: {note}")
    if by_reading.get(Reading.OFF):
        return PdfError("It has no usable text layer and needs OCR, which is off: set OCR to auto and read it again.")
    if by_reading.get(Reading.FOREIGN):
        return PdfError(
            f"It has no usable text layer, and OCR could not make out its writing ({_SCRIPTS}): "
            "add a copy with a text layer."
        )
    if nothing := by_reading.get(Reading.NOTHING):
        return PdfError(f"It has no text layer, and OCR found no text on {_numbers(nothing)} ({_SCRIPTS}).")
    return PdfError(f"It holds no text: {_pages(len(pages), 'is empty', 'are empty')}.")


def _failures(pages: Sequence[PageText], reading: Reading = Reading.FAILED) -> dict[str, list[int]]:
    """Pages by the reason why OCR failed on them, or why they were lost."""
    found: dict[str, list[int]] = {}
    for page in pages:
        if page.facts.reading == reading:
            found.setdefault(page.facts.notes[-1] if page.facts.notes else "", []).append(page.number)
    return found


def _were(pages: Sequence[int]) -> str:
    return "was" if len(pages) == 1 else "were"


def _needs(pages: Sequence[int]) -> str:
    return "needs" if len(pages) == 1 else "need"


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
