"""Pages per second of reading and cutting PDFs, beside LangChain's PyMuPDF loader and splitter on the same files.

    python -m bench.parsing_speed --pdfs DIR [--env DIR] [--rounds 3] [--no-whole] [--no-ocr]

**Parsing and chunking alone** (no embedding, no index): ours is `read_head`, `read_pages` and `digest` in this process,
and once more as a build runs them, in a worker process with its limits; theirs is `PyMuPDFLoader` and
`RecursiveCharacterTextSplitter` 500/50 in a process of its own environment (installed by the first run, as
`bench.peers` does). Files with a usable text layer, all of a round by one and then by the other; medians over the
rounds. Then the PDF with the most pages is **built whole** by the product (read, cut, embed, write), and the PDFs
whose pages are pictures give the seconds of **OCR per page**. Processor seconds stand beside the wall time: on a shared
machine they are what compares.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from bench._peer import environment
from config import load_settings
from crag.assembly import open_house
from crag.errors import PdfError
from crag.events import BuildFinished, FileFinished, FileRow
from crag.knowledge_base.chunker import digest
from crag.knowledge_base.pdf_loader import SLICE, RawPage, read_head, read_pages
from crag.knowledge_base.workers import Workers

WORKER = Path(__file__).with_name("_langchain_pages.py")
NOT_DIGITAL = {"encrypted", "broken", "garbage", "scan", "empty"}
PICTURES = {"garbage", "scan"}


class Read(NamedTuple):
    """What one file took."""

    seconds: float
    processor: float
    """Processor seconds; 0 where they were spent elsewhere."""
    pages: int
    pieces: int
    """Passages or chunks."""


def by_category(pdfs: Path, wanted: Callable[[dict[str, str]], bool]) -> list[Path]:
    """Files of the folder whose row in `manifest.csv` is `wanted`."""
    with (pdfs / "manifest.csv").open(encoding="utf-8", newline="") as lines:
        return [pdfs / row["file"] for row in csv.DictReader(lines) if wanted(row)]


def digital(row: dict[str, str]) -> bool:
    """A usable text layer on (almost) every page."""
    usable = row["category"] not in NOT_DIGITAL and row["text_layer"] == "yes"
    return usable and int(row["pages_without_text"]) * 10 < int(row["pages"])


def picture(row: dict[str, str]) -> bool:
    """Pages that only OCR can read."""
    return row["opens"] == "yes" and int(row["pages"] or 0) > 0 and row["category"] in PICTURES


def opens(path: Path) -> bool:
    """Whether the product reads it at all: forms that only Adobe Reader shows are refused at once."""
    try:
        return read_head(path).pages > 0
    except PdfError:
        return False


def ours(path: Path) -> Read:
    """Reads and cuts one file in this process."""
    start, processor = time.perf_counter(), time.process_time()
    head = read_head(path)
    raw: list[RawPage] = []
    for first in range(0, head.pages, SLICE):
        raw += read_pages(path, first, min(first + SLICE, head.pages))
    pages, passages = digest(path.name, "", raw, head.outline)
    taken = time.perf_counter() - start, time.process_time() - processor
    return Read(*taken, len(pages), len(passages))


def in_worker(workers: Workers, path: Path) -> Read:
    """The same as a build does it: in a worker process, slice by slice, under its limits."""
    start, reading = time.perf_counter(), workers.read(path, path.name, "", threading.Event())
    while True:
        try:
            next(reading)
        except StopIteration as ended:
            _, pages, passages = ended.value
            return Read(time.perf_counter() - start, 0.0, len(pages), len(passages))


def round_of(read: Callable[[Path], Read], files: Sequence[Path]) -> Read:
    """All files one after the other."""
    results = [read(path) for path in files]
    return Read(*(sum(column) for column in zip(*results, strict=True)))


def compare(files: Sequence[Path], python: Path, rounds: int) -> None:
    """Ours, ours in a worker and theirs in turns; prints the table."""
    process = subprocess.Popen(
        [str(python), str(WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdin
    assert process.stdout
    stdin, stdout = process.stdin, process.stdout

    def theirs(path: Path) -> Read:
        stdin.write(f"{path}\n")
        stdin.flush()
        line = stdout.readline()
        if not line:
            raise SystemExit(f"The peer's process ended at {path.name}.")
        return Read(*json.loads(line))

    found: dict[str, list[Read]] = {"CRAG": [], "CRAG in its worker process": [], "LangChain": []}
    with Workers(load_settings().parse_timeout, load_settings().cache_dir / "ocr") as workers:
        reads = (ours, lambda path: in_worker(workers, path), theirs)
        for read in reads:
            read(files[0])  # starts processes and loads libraries
        for _ in range(rounds):
            for label, read in zip(found, reads, strict=True):
                found[label].append(round_of(read, files))
    stdin.close()
    process.wait()
    report(found, len(files))


def report(found: dict[str, list[Read]], files: int) -> None:
    """The table of medians; processor seconds where they are known."""
    rounds = found["LangChain"]
    peer = statistics.median(one.seconds for one in rounds)
    print(f"\n{files} digital files, {rounds[0].pages} pages, medians of {len(rounds)} rounds\n")
    print("| reading and cutting alone | seconds | processor | pages per second | pieces | time against LangChain |")
    print("|---|---|---|---|---|---|")
    for label, reads in found.items():
        seconds = statistics.median(one.seconds for one in reads)
        processor = statistics.median(one.processor for one in reads)
        rate = reads[0].pages / seconds
        cells = (f"{seconds:.2f}", f"{processor:.2f}" if processor else "", f"{rate:.0f}", str(reads[0].pieces))
        print(f"| {label} | {' | '.join(cells)} | {seconds / peer:.2f} x |", flush=True)


def build(files: Sequence[Path]) -> tuple[list[FileRow], float]:
    """The rows and the wall seconds of a product build over copies of `files`."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "Files")
        folder.mkdir()
        for path in files:
            shutil.copy(path, folder / path.name)
        settings = load_settings(files_dir=folder, chroma_dir=Path(temporary, "chroma_db"), data_dir=Path(temporary))
        house, rows, start = open_house(settings), [], time.perf_counter()
        for event in house.knowledge_base.build():
            if isinstance(event, FileFinished):
                rows.append(event.row)
            elif isinstance(event, BuildFinished):
                taken = time.perf_counter() - start
        house.close()
    return rows, taken


def whole(path: Path) -> None:
    """Reads, cuts, embeds and writes one file."""
    (row,), taken = build([path])
    said = row.error or f"{row.pages} pages, {row.passages} passages in {taken:.1f} s, {row.pages / taken:.1f} pages/s"
    print(f"\nbuilt whole: {path.name}: {said}", flush=True)


def ocr(files: Sequence[Path]) -> None:
    """Seconds per page of files that are pictures; with the first one the engine's start."""
    rows, _ = build(files)
    read = [row for row in rows if row.ocr_pages]
    print(f"\nOCR: {sum(row.ocr_pages for row in read)} pages of {len(read)} files (of {len(files)} that need it)")
    for row in read:
        print(f"  {row.path}: {row.ocr_pages} pages, {row.seconds / row.ocr_pages:.1f} s per page")
    if read:
        print(f"  in all {sum(row.seconds for row in read) / sum(row.ocr_pages for row in read):.1f} s per page")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--pdfs", type=Path, default=os.environ.get("CRAG_PDFS"), required="CRAG_PDFS" not in os.environ
    )
    default = Path(tempfile.gettempdir(), "crag-bench-peers")
    parser.add_argument("--env", type=Path, default=default, help="folder of the peer's environment")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-whole", action="store_true", help="leave out the whole build of the longest file")
    parser.add_argument("--no-ocr", action="store_true", help="leave out OCR")
    args = parser.parse_args()
    args.pdfs = Path(args.pdfs)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors before the run", flush=True)
    files = [path for path in by_category(args.pdfs, digital) if opens(path)]
    compare(files, environment(args.env), args.rounds)
    if not args.no_whole:
        whole(max(files, key=lambda path: read_head(path).pages))
    if not args.no_ocr:
        ocr(by_category(args.pdfs, picture))


if __name__ == "__main__":
    main()
