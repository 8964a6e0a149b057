"""What stands on a page beside its text: form fields with their labels, annotations, the names of attachments."""

from __future__ import annotations

import importlib
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crag.knowledge_base.raw_page import RawLine, RawPage
from crag.knowledge_base.table_words import rows_of_words, runs, turn, words_of

_log = logging.getLogger(__name__)

Box = tuple[float, float, float, float]

_LABEL_WORDS = 15
_NEAR = 12.0
"""A label above its field ends within this distance of it, in points."""
_LONGEST = 5000
"""Characters of one value or note that are read; more than a person writes by hand."""
_MOST = 2000
"""Fields of one page that are read."""
_MOST_NOTES = 400
"""MuPDF takes time with the square of their number: 800 take seconds."""
_MOST_NAMED = 20
"""Attached files that are told by the names they had on disk."""
_SIZE = 10.0
_PASSWORD = 1 << 13
_HIDDEN = (1, 3)
_UNSEEN = 2 | 32
"""Annotation flags of what is hidden or not to be viewed."""
_CODE = re.compile(
    r"[a-z]{0,3}\d+([_.\-]\d+)*|(text|check ?box|button|group|field|undefined|radio)[\s_]*\d*", re.IGNORECASE
)
_ON = frozenset({"yes", "on", "1", "true", "oui", "ja", "是"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that is not in the page's text, and the box of the field or mark that it comes from."""

    text: str
    box: Box
    replaces: bool = False
    """Whether it repeats what the page shows in the box."""


def with_fields(page: RawPage, source: Any) -> tuple[RawPage, list[Box]]:
    """The page with a line for each filled field, note and attachment, and the boxes of all its fields (points).

    `source` is the PyMuPDF page. What is damaged is left out; the page's text stays as it is.
    """
    boxes: list[Box] = []
    entries: list[Entry] = []
    notes: list[str] = []
    try:
        fields = [field for _, field in zip(range(_MOST), source.widgets(), strict=False)]
        boxes = [tuple(field.rect) for field in fields]
        entries += _fields(page, fields) if fields else ()
    except MemoryError:
        raise
    except Exception:  # MuPDF's errors have no common base; a damaged form must not cost the page
        _log.info("the form fields of page %d cannot be read", page.number)
    try:
        marks = [mark for _, mark in zip(range(_MOST_NOTES), source.annots(), strict=False)]
        entries += _notes(page, marks)
        if (there := len(source.annot_xrefs())) > len(marks) == _MOST_NOTES:
            notes.append(f"Page {page.number} has {there} annotations: only the first {_MOST_NOTES} are read.")
        names = _attachments(page, source.parent, marks)
    except MemoryError:
        raise
    except Exception:
        _log.info("the annotations of page %d cannot be read", page.number)
        names = []
    if names:
        listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
        entries.append(Entry(f"Attachments: {listed}", (0.0, page.height, 0.0, page.height)))
        notes.append(f"It carries attachments that are not read: {listed}.")
    return replace(_with_entries(page, entries), notes=(*page.notes, *notes)), boxes


def _with_entries(page: RawPage, entries: Sequence[Entry]) -> RawPage:
    """The entries as lines behind the page's own, each a block of its own with a number below 0."""
    if not entries:
        return page
    covered = [entry.box for entry in entries if entry.replaces]
    words: list[str] = []
    boxes: list[Sequence[float]] = []
    lines: list[RawLine] = []
    for line in page.lines:
        kept = [p for p in range(line.start, line.end) if not any(_holds(box, page.boxes[p]) for box in covered)]
        if kept:
            lines.append(line._replace(start=len(words), end=len(words) + len(kept)))
            words += [page.words[p] for p in kept]
            boxes += [page.boxes[p] for p in kept]
    for number, entry in enumerate(entries, start=1):
        added = entry.text.split()
        if not added:
            continue
        lines.append(RawLine(len(words), len(words) + len(added), -number, _SIZE, False, (1.0, 0.0)))
        words += added
        boxes += [entry.box] * len(added)
    return replace(page, words=words, boxes=np.array(boxes, np.float32).reshape(-1, 4), lines=lines)


def _holds(box: Box, word: Sequence[float]) -> bool:
    x, y = (word[0] + word[2]) / 2, (word[1] + word[3]) / 2
    return box[0] - 1 <= x <= box[2] + 1 and box[1] - 1 <= y <= box[3] + 1


# --- form fields --------------------------------------------------------------------------------------------------


def _fields(page: RawPage, fields: Sequence[Any]) -> Iterator[Entry]:
    """ "label: value" of each filled field; of an empty one its hint, where the page does not say it."""
    boxes = [tuple(field.rect) for field in fields]
    labels = Labels(page, boxes)
    shown = " ".join(page.words).lower()
    hints: set[str] = set()
    for field, box in zip(fields, boxes, strict=True):
        if _is_secret(field):
            yield Entry("", box, replaces=True)
            continue
        value = _value(field)
        hint = " ".join(str(field.field_label or "").split())[:300]
        if value:
            tick = field.field_type_string in ("CheckBox", "RadioButton")
            label = hint or labels.of(box, right=tick) or _name(field)
            text = f"{label.rstrip(' :：')}: {value}" if label else value
            yield Entry(" ".join(text.split())[:_LONGEST], box, replaces=True)
        elif hint and value is not None and hint not in hints and hint.lower() not in shown:
            hints.add(hint)
            yield Entry(hint, box)


def _is_secret(field: Any) -> bool:
    return field.field_type_string == "Text" and bool(field.field_flags & _PASSWORD)


def _value(field: Any) -> str | None:
    """What the field holds: "" where it is empty, None where nobody is asked anything or may know the answer."""
    kind, value = field.field_type_string, field.field_value
    if (
        field.field_display in _HIDDEN
        or kind in ("Button", "Unknown")
        or (kind == "Text" and field.field_flags & _PASSWORD)
    ):
        return None
    if kind == "Signature":
        return "signed" if getattr(field, "is_signed", None) else "not signed"
    if isinstance(value, (list, tuple)):
        value = ", ".join(map(str, value))
    text = str(value or "").strip()
    if kind in ("CheckBox", "RadioButton"):
        if not text or text == "Off" or value is False or text != str(field.on_state()):
            return ""
        return "yes" if text.lower() in _ON or _CODE.fullmatch(text) or value is True else text
    return text


def _name(field: Any) -> str:
    """The field's own name, unless it is only a number of the program that made the form."""
    name = re.sub(r"\[\d+\]$", "", str(field.field_name or "").rpartition(".")[2]).strip()
    return "" if _CODE.fullmatch(name) or not re.fullmatch(r"[\w\s\-]+", name) else name.replace("_", " ")


class Labels:
    """The words next to a box: those before it on its line, behind it for a box to tick, else those above."""

    def __init__(self, page: RawPage, fields: Sequence[Box]) -> None:
        counts = [(line.end - line.start, line.direction) for line in page.lines]
        x, y = max(counts, default=(0, (1.0, 0.0)))[1]
        self._direction = (round(x), round(y))
        turned = turn(np.array(fields, np.float32).reshape(-1, 4), self._direction)
        self._fields = [tuple(map(float, box)) for box in turned]
        inside = list(words_of(page, self._direction))
        left, top, right, bottom = np.array(self._fields, np.float64).reshape(-1, 4).T
        middles = np.array([(word.x, word.y) for word in inside], np.float64).reshape(-1, 2, 1)
        across, down = middles[:, 0], middles[:, 1]
        held = (left - 1 <= across) & (across <= right + 1) & (top - 1 <= down) & (down <= bottom + 1)
        free = [inside[i] for i in np.flatnonzero(~held.any(axis=1)).tolist()]
        self._rows = [runs(row, 1.5) for row in rows_of_words(free)]

    def of(self, box: Box, *, right: bool) -> str:
        """The label of a box in the page's coordinates, at most 15 words; "" where nothing stands near."""
        x0, y0, x1, y1 = (float(value) for value in turn(np.array([box], np.float32), self._direction)[0])
        beside = [run for row in self._rows for run in row if run[0].y0 - 1 < (y0 + y1) / 2 < run[0].y1 + 1]
        before = [run for run in beside if run[-1].x1 <= x0 + 3 and not self._between(run[-1].x1, x0, y0, y1)]
        behind = [run for run in beside if run[0].x0 >= x1 - 3 and not self._between(x1, run[0].x0, y0, y1)]
        above = [
            run
            for row in self._rows
            for run in row
            if 0 <= y0 - run[0].y1 + 3 < _NEAR and run[0].x0 < x1 and run[-1].x1 > x0
        ]
        left = max(before, key=lambda run: run[-1].x1, default=None)
        first = min(behind, key=lambda run: run[0].x0, default=None)
        over = max(above, key=lambda run: run[0].y1, default=None)
        for run in (first, left, over) if right else (left, over):
            words = [word.text for word in run or () if not re.fullmatch(r"[.…_·\s]+", word.text)]
            if any(char.isalpha() for word in words for char in word):
                return " ".join(words[:_LABEL_WORDS] if run is first else words[-_LABEL_WORDS:])
        return ""

    def _between(self, left: float, right: float, top: float, bottom: float) -> bool:
        """Whether another field stands between: then the words belong to that."""
        return any(
            a >= left - 3 and c <= right + 3 and min(bottom, d) - max(top, b) > 0.5 * min(bottom - top, d - b)
            for a, b, c, d in self._fields
            if c - a > 0 and right > left
        )


# --- annotations and attachments ----------------------------------------------------------------------------------


def _notes(page: RawPage, marks: Sequence[Any]) -> Iterator[Entry]:
    """Notes, comments and free text with their authors; what the page's text shows already is not repeated."""
    for mark in marks:
        content = " ".join(str(mark.info.get("content") or "").split())[:_LONGEST]
        kind = mark.type[1]
        if not content or mark.flags & _UNSEEN or kind == "FileAttachment":
            continue
        box: Box = tuple(mark.rect)
        seen = [word for word, at in zip(page.words, page.boxes, strict=True) if _holds(box, at)]
        if kind == "FreeText" and set(content.split()) <= set(seen):
            continue
        author = " ".join(str(mark.info.get("title") or "").split())[:100]
        marked = " ".join(seen[:_LABEL_WORDS]) if kind in ("Highlight", "Underline", "Squiggly", "StrikeOut") else ""
        text = f"Note{f' by {author}' if author else ''}{f' on “{marked}”' if marked else ''}: {content}"
        yield Entry(text, box)


def _attachments(page: RawPage, document: Any, marks: Sequence[Any]) -> list[str]:
    """Names of the files that the document carries (told on page 1) and of those pinned to this page."""
    names = []
    if page.number == 1:
        listed = document.embfile_names()
        for number in range(min(len(listed), _MOST_NAMED)):  # each call lists all names anew
            info = document.embfile_info(number)
            names.append(info.get("ufilename") or info.get("filename") or info.get("name"))
        names += listed[_MOST_NAMED:]
    names += [mark.file_info.get("filename") for mark in marks if mark.type[0] == _pinned()]
    clean = (" ".join(str(name).split())[:200] for name in names if name)
    return list(dict.fromkeys(name for name in clean if name.isprintable()))


def _pinned() -> int:
    return int(importlib.import_module("pymupdf").PDF_ANNOT_FILE_ATTACHMENT)
