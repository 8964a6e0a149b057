"""Whether evidence stands where its text stands: strips against what is read back from under their rectangles.

    python -m bench.evidence --pdfs DIR [--files 15] [--strips 40] [--out FILE]
    python -m bench.evidence --scans [--out FILE]

The PDFs of DIR are read into a temporary index (without an embedding engine: vectors play no part here). Files and
strips are drawn by a fixed seed, files with turned pages and pages read by OCR first. The text under a strip's
rectangles is read back by another route than the one that stored the words: from the drawn page's own characters
(those whose middle lies in a rectangle), or, for pages read by OCR, by rendering the rectangles
alone and reading that picture. Both texts are squashed (NFKC, without spaces and hyphens) and compared by difflib.

A second recognition makes mistakes of its own. With `--scans` pages are made from known text as pictures, turned and
skewed (`_scans.py`); every strip of them is compared with the characters whose middle truly lies in its rectangles.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import shutil
import statistics
import tempfile
import unicodedata
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pymupdf

from bench._scans import Character, write_scans
from crag.errors import CragError
from crag.events import FileFinished, FileRow
from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.evidence import Rect, rectangles, shown, turned
from crag.knowledge_base.opening import open_document
from crag.knowledge_base.pages import Page
from crag.schema import Strip

SEED = 4
SHORTEST = 25
"""Characters of a strip: a ratio over less says little."""
OCR_DPI = 200
ENOUGH = 0.9
_DROPPED = re.compile(r"[\s\-\u00ad\u2010\u2011\x00-\x1f\u200b-\u200f|*]")


Result = tuple[float, str, Page, Strip, str]
"""Ratio, path, page, strip, what stands under its rectangles."""


class NoEmbedder:
    """Vectors of zeros and a one: nothing is searched here."""

    fingerprint = "none"
    dimension = 8

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        return np.eye(1, self.dimension, dtype=np.float32)[0]

    def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        return np.tile(self.embed_query(""), (len(texts), 1))


def squash(text: str) -> str:
    return _DROPPED.sub("", unicodedata.normalize("NFKC", text)).casefold()


def ratio(expected: str, found: str) -> float:
    """[0, 1]; the order of characters counts, spaces and hyphens do not."""
    return SequenceMatcher(None, squash(expected), squash(found), autojunk=False).ratio()


def under(page: pymupdf.Page, rects: Sequence[Rect]) -> str:
    """The characters whose middle lies in the rectangles, line by line in the order of the rectangles."""
    chars = [
        (char["c"], pymupdf.Rect(char["bbox"]))
        for block in page.get_text("rawdict", flags=pymupdf.TEXTFLAGS_TEXT)["blocks"]
        for line in block.get("lines", ())
        for span in line["spans"]
        for char in span["chars"]
    ]
    once: dict[str, list[pymupdf.Rect]] = {}
    kept = []
    for char, box in chars:  # fake bold draws a glyph several times, nearly in one place
        known = once.setdefault(char, [])
        if not any(abs(box.x0 - x.x0) < box.width / 2 and abs(box.y0 - x.y0) < box.height / 2 for x in known):
            known.append(box)
            kept.append((char, box))
    parts = []
    for rect in rects:
        area = pymupdf.Rect(rect)
        parts.append("".join(char for char, box in kept if area.contains((box.tl + box.br) / 2)))
    return " ".join(parts)


def under_picture(page: pymupdf.Page, rects: Sequence[Rect], size: tuple[float, float], rotation: int) -> str:
    """The same by rendering what lies under the rectangles, as displayed, and reading the picture."""
    from rapidocr import RapidOCR

    engine = under_picture.__dict__.setdefault("engine", RapidOCR())
    parts = []
    for rect in rects:
        shown = turned(rect, *size, rotation)
        clip = pymupdf.Rect(shown) + (-3, -3, 3, 3)  # noqa: RUF005 - a rectangle that grows
        pixmap = page.get_pixmap(dpi=OCR_DPI, clip=clip, alpha=False)
        image = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)[..., ::-1]
        read = engine(np.ascontiguousarray(np.pad(image, ((12, 12), (12, 12), (0, 0)), constant_values=255)))
        parts += list(read.txts or ())
    return " ".join(parts)


def build(base: KnowledgeBase) -> list[FileRow]:
    for event in base.build():
        if isinstance(event, FileFinished):
            print(f"{event.index}/{event.files} {event.row.path}: {event.row.error or event.row.passages}", flush=True)
    return base.rows()


def strips_of(base: KnowledgeBase, path: str, rng: random.Random) -> list[tuple[Page, Strip]]:
    """All strips of a few pages of a file that stand on one page each and are long enough, in random order."""
    rows = [row for row in base.pages.of(path) if row.facts.chars]
    rng.shuffle(rows)
    rows.sort(key=lambda row: (not row.facts.ocr, row.rotation == 0))
    found = {}
    for row in rows[:6]:
        page = base.pages.page(path, row.number)
        for passage in page.passages:
            for strip in passage.strips:
                if {span.page for span in strip.spans} == {row.number} and len(squash(strip.text)) >= SHORTEST:
                    found[strip.id] = (page, strip)
    pairs = list(found.values())
    rng.shuffle(pairs)
    return pairs


def choose(base: KnowledgeBase, rows: Sequence[FileRow], files: int, strips: int) -> list[tuple[str, Page, Strip]]:
    """`strips` strips spread over `files` files: turned and OCR'd files first, the others at random."""
    rng = random.Random(SEED)
    usable = {row.path: strips_of(base, row.path, rng) for row in rows if row.passages and not row.error}
    paths = [path for path, found in usable.items() if found]
    rng.shuffle(paths)
    paths.sort(key=lambda path: all(not p.row.facts.ocr and p.row.rotation == 0 for p, _ in usable[path]))
    chosen = paths[:files]
    turns = [(path, *usable[path][n]) for n in range(strips) for path in chosen if n < len(usable[path])]
    return turns[:strips]


def check(path: Path, page: Page, strip: Strip) -> tuple[float, str]:
    """(ratio, what was read back) of one strip on its page."""
    number = page.row.number
    rects = [r for s in strip.spans if s.page == number for r in rectangles(page.words, s.start, s.end)]
    canonical = " ".join(page.words.text[s.start : s.end] for s in strip.spans if s.page == number)
    with open_document(path) as document:
        leaf = document[number - 1]
        if page.row.facts.ocr:
            size = (page.words.width, page.words.height)
            read = under_picture(leaf, rects, size, page.words.rotation)
        else:
            read = under(leaf, rects)
    return max(ratio(strip.text, read), ratio(canonical, read)), read


def check_scan(page: Page, strip: Strip, truth: Sequence[Character]) -> tuple[float, str]:
    """(ratio, what truly stands under the rectangles) of one strip of a page made from known text."""
    rects = shown(page.words, [(span.start, span.end) for span in strip.spans])
    under = [char for char, x, y in truth if any(r.x0 <= x <= r.x1 and r.y0 <= y <= r.y1 for r in rects)]
    return ratio(strip.text, "".join(under)), "".join(under)


def measure_scans(folder: Path) -> list[Result]:
    """All strips of pages that are made from known text."""
    files = folder / "Files"
    files.mkdir()
    truth = write_scans(files)
    base = KnowledgeBase(files, folder / "index", NoEmbedder(), parse_timeout=120)
    try:
        results: list[Result] = []
        for row in build(base):
            page = base.pages.page(row.path, 1)
            for strip in {strip.id: strip for passage in page.passages for strip in passage.strips}.values():
                score, read = check_scan(page, strip, truth[row.path])
                results.append((score, row.path, page, strip, read))
        return results
    finally:
        base.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--pdfs", type=Path)
    source.add_argument("--scans", action="store_true", help="pages made from known text in place of files")
    parser.add_argument("--files", type=int, default=15)
    parser.add_argument("--strips", type=int, default=40)
    parser.add_argument("--largest", type=int, default=60, help="leave out files of more pages than this")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.scans:
        with tempfile.TemporaryDirectory() as folder:
            results = measure_scans(Path(folder))
        report(results, given.out)
        return
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder, "Files")
        files.mkdir()
        for pdf in sorted(given.pdfs.glob("*.pdf")):
            if _pages(pdf) <= given.largest:
                shutil.copy(pdf, files / pdf.name)
        base = KnowledgeBase(files, Path(folder, "index"), NoEmbedder(), parse_timeout=120)
        try:
            results = []
            for path, page, strip in choose(base, build(base), given.files, given.strips):
                score, read = check(files / path, page, strip)
                results.append((score, path, page, strip, read))
        finally:
            base.close()
    report(results, given.out)


def _pages(pdf: Path) -> int:
    try:
        with pymupdf.open(pdf) as document:
            return 0 if document.needs_pass else document.page_count
    except (CragError, RuntimeError, ValueError):
        return 0


def report(results: Sequence[Result], out: Path | None) -> None:
    for score, path, page, strip, read in sorted(results, key=lambda result: result[0]):
        kind = "ocr" if page.row.facts.ocr else f"{page.row.rotation}°"
        print(f"{score:.3f} {path} p. {page.row.number} {kind}: {strip.text[:60]!r}")
        if score < ENOUGH:
            print(f"      read back: {read[:160]!r}")
    scores = [score for score, *_ in results]
    good = sum(score >= ENOUGH for score in scores)
    print(f"{len(scores)} strips over {len({path for _, path, *_ in results})} files: {good} at {ENOUGH} or more,")
    print(f"mean {statistics.mean(scores):.4f}, median {statistics.median(scores):.4f}, lowest {min(scores):.3f}")
    if out:
        rows = [
            {"file": path, "page": page.row.number, "ocr": page.row.facts.ocr, "strip": strip.text, "ratio": score}
            for score, path, page, strip, _ in results
        ]
        out.write_text(json.dumps(rows, ensure_ascii=False, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
