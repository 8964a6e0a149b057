"""What can be saved of damaged and hostile files: a page that fails costs that page only."""

from __future__ import annotations

import os
import time
import zipfile
from pathlib import Path

import pymupdf
import pytest
from hashing import HashingEmbedder
from small_pdfs import Write, built, pdf_bytes, texts

from crag.knowledge_base import workers
from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.file_kinds import not_a_pdf
from crag.knowledge_base.pdf_loader import read_pages


def misbehaving_pages(path: Path, start: int, stop: int, *rest: object) -> object:
    """Page 3 hangs and page 5 kills the worker, as hostile pages do inside MuPDF."""
    if path.name == "hard.pdf":
        if start <= 2 < stop:
            time.sleep(60)
        if start <= 4 < stop:
            os.abort()
    if path.name == "endless.pdf":
        time.sleep(60)
    return read_pages(path, start, stop, *rest)  # type: ignore[arg-type]


WORDS = ["amber", "basalt", "cedar", "drizzle", "ember", "fjord", "granite", "harbour", "indigo", "jasmine"]


def numbered(count: int) -> list[str]:
    return [
        f"{WORDS[n % 10].capitalize()} valves of page number {n} are opened by {WORDS[-n % 10]}."
        for n in range(1, count + 1)
    ]


def test_pages_that_hang_or_crash_are_read_from_their_picture_or_left_out_and_the_others_are_indexed(
    files: Path, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "read_pages", misbehaving_pages)
    write("hard.pdf", *numbered(9))
    base = KnowledgeBase(files, tmp_path / "chroma_db", HashingEmbedder(), parse_timeout=4, ocr="off")
    built(base)
    (row,) = base.rows()
    assert (row.error, row.pages) == (None, 9)
    assert row.warnings[0].startswith("Page 3 was left out. It takes too long")
    assert row.warnings[1].startswith("Page 5 was left out. The PDF reader crashed")
    found = " ".join(texts(base))
    assert [n for n in range(1, 10) if f"number {n} " in found] == [1, 2, 4, 6, 7, 8, 9]
    base.close()


def test_a_file_of_nothing_but_slow_pages_is_given_up_soon(
    files: Path, tmp_path: Path, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "read_pages", misbehaving_pages)
    write("endless.pdf", *numbered(40))
    base = KnowledgeBase(files, tmp_path / "chroma_db", HashingEmbedder(), parse_timeout=1, ocr="off")
    begun = time.monotonic()
    built(base)
    assert "None of its pages could be read" in str(base.rows()[0].error)
    assert time.monotonic() - begun < 90, "each of its 40 pages would have hung for a minute"
    base.close()


def test_pages_are_found_again_when_the_page_tree_is_lost(base: KnowledgeBase, files: Path) -> None:
    document = pymupdf.open("pdf", pdf_bytes(numbered(3)))
    tree = int(document.xref_get_key(document.pdf_catalog(), "Pages")[1].split()[0])
    data = document.tobytes(no_new_id=True)
    (files / "lost.pdf").write_bytes(data.replace(b"/Kids", b"/Kidz") if tree else data)
    built(base)
    (row,) = base.rows()
    assert (row.error, row.pages) == (None, 3)
    assert any("damaged" in warning for warning in row.warnings)
    assert "number 3 " in " ".join(texts(base))


def pdf_of(*objects: bytes) -> bytes:
    """A PDF of numbered objects, the first of which is the catalog."""
    data, offsets = b"%PDF-1.7\n", []
    for number, one in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    count = len(objects) + 1
    head = b"xref\n0 %d\n0000000000 65535 f \n" % count
    return data + head + table + b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (count, len(data))


def stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<</Length %d%s>>stream\n%s\nendstream" % (len(data), entries, data)


FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
TEXT = b"BT /F 12 Tf 72 700 Td (A readable sentence about the hostile file stands here.) Tj ET\n"
TREE = b"<</Type/Pages/Count 1/Kids[3 0 R]>>"


def page(extra: bytes = b"", box: bytes = b"0 0 612 792", resources: bytes = b"") -> bytes:
    return b"<</Type/Page/Parent 2 0 R/MediaBox[%s]/Contents 5 0 R/Resources<</Font<</F 4 0 R>>%s>>%s>>" % (
        box,
        resources,
        extra,
    )


def hostile(root: bytes = b"", tree: bytes = TREE, one: bytes | None = None, more: tuple[bytes, ...] = ()) -> bytes:
    catalog = b"<</Type/Catalog/Pages 2 0 R%s>>" % root
    return pdf_of(catalog, tree, one or page(), FONT, stream(TEXT + b"/X Do" if more else TEXT), *more)


def test_hostile_structures_cost_neither_the_build_nor_their_readable_page(
    files: Path, tmp_path: Path, base: KnowledgeBase
) -> None:
    mark = tmp_path / "executed"
    launch = b"/OpenAction<</S/Launch/F(%s)/Unix<</F(touch %s)>>>>" % (b"touch", os.fsencode(mark))
    x = b"/XObject<</X 6 0 R>>"
    loop = stream(b"/X Do /X Do", b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<<%s>>" % x)
    image = stream(
        b"\0", b"/Type/XObject/Subtype/Image/Width 50000/Height 50000/BitsPerComponent 8/ColorSpace/DeviceRGB"
    )
    annotations = b"/Annots[%s]" % b"<</Type/Annot/Subtype/Text/Rect[1 1 9 9]/Contents(note)>>" * 1000
    readable = {
        "launch": hostile(root=launch),
        "script": hostile(root=b"/OpenAction<</S/JavaScript/JS(app.launchURL\\('http://127.0.0.1:9/'\\))>>"),
        "cycle": hostile(tree=b"<</Type/Pages/Count 2/Kids[3 0 R 2 0 R]>>"),
        "recursion": hostile(one=page(resources=x), more=(loop,)),
        "huge-image": hostile(one=page(resources=x), more=(image,)),
        "no-size": hostile(one=page(box=b"0 0 0 0")),
        "absurd-size": hostile(one=page(box=b"0 0 100000000 100000000")),
        "annotations": hostile(one=page(extra=annotations)),
    }
    for name, data in readable.items():
        (files / f"{name}.pdf").write_bytes(data)
    (files / "many-pages.pdf").write_bytes(hostile(tree=b"<</Type/Pages/Count 99999999/Kids[3 0 R]>>"))
    built(base)
    rows = {row.path.removesuffix(".pdf"): row for row in base.rows()}
    assert {name: rows[name].error for name in readable} == dict.fromkeys(readable)
    assert rows["many-pages"].error is None or "damaged" in str(rows["many-pages"].error)
    assert not mark.exists()


def test_a_portfolio_says_that_its_files_have_to_be_taken_out(base: KnowledgeBase, files: Path) -> None:
    inside = b"/Collection<<>>/Names<</EmbeddedFiles<</Names[(a.txt)<</Type/Filespec/F(a.txt)/EF<</F 6 0 R>>>>]>>>>"
    data = pdf_of(
        b"<</Type/Catalog/Pages 2 0 R%s>>" % inside,
        TREE,
        page(),
        FONT,
        stream(b""),
        stream(b"x", b"/Type/EmbeddedFile"),
    )
    (files / "portfolio.pdf").write_bytes(data)
    built(base)
    said = " ".join(base.rows()[0].warnings)
    assert "portfolio" in said
    assert "a.txt" in said, "the names of its files can be asked for"


def test_what_is_no_pdf_is_called_by_its_name(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("[Content_Types].xml", "<x/>")
        file.writestr("word/document.xml", "<x/>")
    picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 4, 4)).tobytes("png")
    assert "a picture (PNG)" in not_a_pdf(picture)
    assert "a Word document" in not_a_pdf(archive.read_bytes())
    assert "a web page" in not_a_pdf(b"\xef\xbb\xbf\n<!-- x -->\n<html lang='en'>")
    assert "an XML file" in not_a_pdf(b"<?xml version='1.0'?><a/>")
    assert "plain text" in not_a_pdf("../Übersicht/文件.pdf\n".encode())
    assert "plain text" in not_a_pdf("\ufeffHallo".encode("utf-16-le"))
    assert "only zeros" in not_a_pdf(bytes(400))
    assert "although its name says so" in not_a_pdf(bytes(range(128, 256)))
    assert "damaged beyond repair" in not_a_pdf(b"%PDF-1.7 nonsense")
