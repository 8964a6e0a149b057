"""A rerun of the page over many files, in multiples of one over a single file; medians of runs in one process each.

    python -m bench.many_files [--files 300] [--runs 30]

Files of one page each are really indexed in a temporary folder. Streamlit's AppTest runs the chat with its sidebar, and
the Knowledge base page: what the browser does is not timed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path

import pymupdf
from streamlit.testing.v1 import AppTest

from bench.long_conversation import page, rerun
from crag.ui import state


def knowledge_page() -> None:
    """The Knowledge base page alone, as AppTest runs it."""
    from crag.ui import knowledge, library, state
    from crag.ui.texts import Texts

    process = state.process()
    library.draw(process, knowledge.look(process), Texts("en"))


def made(folder: Path, files: int) -> None:
    """PDFs of one page, each with a heading and some sentences of its own."""
    folder.mkdir()
    for number in range(files):
        with pymupdf.open() as document:
            sheet = document.new_page()
            sheet.insert_text((72, 80), f"Station {number}", fontsize=18)
            text = f"Station {number} of the line lies {3 * number + 7} kilometres from the coast. " * 4
            sheet.insert_textbox(pymupdf.Rect(72, 110, 520, 400), text, fontsize=11)
            document.save(folder / f"station-{number:03}.pdf")


def measured(files: int, runs: int) -> tuple[float, float]:
    """Median seconds of a rerun of (chat, Knowledge base page) over so many files."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made(folder / "Files", files)
        folders = {"CRAG_FILES_DIR": "Files", "CRAG_CHROMA_DIR": "chroma", "CRAG_DATA_DIR": "data"}
        os.environ |= {variable: str(folder / own) for variable, own in folders.items()}
        process = state.process()
        list(process.open().follow())
        list(process.build().follow())
        page(None)
        chat, _ = page(None)
        library = AppTest.from_function(knowledge_page, default_timeout=120).run()
        assert sum(row.passages > 0 for row in process.house.knowledge_base.rows()) == files  # type: ignore[union-attr]
        assert not chat.exception
        assert not library.exception
        list(process.runtime.latest("warm up").follow())  # type: ignore[union-attr]
        found = tuple(statistics.median(rerun(at) for _ in range(runs)) for at in (chat, library))
        state.process.clear()
    return found[0], found[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--runs", type=int, default=30)
    args = parser.parse_args()
    few, many = measured(1, args.runs), measured(args.files, args.runs)
    for name, one, all_ in zip(("chat", "Knowledge base page"), few, many, strict=True):
        print(f"{name}: {all_ / one:.2f} times over {args.files} files ({1000 * one:.0f} ms over one)")


if __name__ == "__main__":
    main()
