"""`python -m crag files` and `delete`: what is indexed, how large the index is, and how to be rid of a file."""

from __future__ import annotations

import argparse

from config import Settings
from crag.cli.console import DONE, errors, opened, printable
from crag.events import FileRow
from crag.text import counted


def files(_: argparse.Namespace, settings: Settings) -> int:
    """Lists every published file; returns the exit code."""
    with opened(settings) as house:
        base = house.knowledge_base
        rows, options, size = base.rows(), base.options(), base.size_on_disk()
        for row in rows:
            print(_line(row, options.get(row.path)))
        refused = sum(row.error is not None for row in rows)
        contents = {row.content: row for row in rows if row.error is None}
        print(
            f"{counted(len(rows) - refused, 'file')} indexed, {refused} not, "
            f"{counted(sum(row.passages for row in contents.values()), 'passage')}; the index takes {_megabytes(size)}."
        )
        if building := base.being_built():
            errors.print(f"{building}: this list is what was published before.")
        elif base.changed_since_build():
            errors.print("The folder has changed since the last build: run `python -m crag build`.")
    return DONE


def delete(options: argparse.Namespace, settings: Settings) -> int:
    """Deletes one PDF and what the index holds of it; returns the exit code."""
    with opened(settings) as house:
        house.knowledge_base.delete(options.file)
    errors.print(f"Deleted: {printable(options.file)}")
    return DONE


def _line(row: FileRow, ocr: str | None) -> str:
    path = printable(row.path)
    if row.error:
        return f"{path}: not indexed. {row.error}"
    read = f" ({row.ocr_pages} read by OCR)" if row.ocr_pages else ""
    how = f", OCR {ocr}" if ocr else ""
    return f"{path}: {counted(row.pages, 'page')}{read}, {counted(row.passages, 'passage')}{how}" + "".join(
        f". Note: {warning.rstrip('.')}" for warning in row.warnings
    )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
