"""The pages of an indexed file as they can be looked at: what was read, what was cut, and images of the real file."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from small_pdfs import Write, built

from crag.errors import KnowledgeBaseError, PageImageError
from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.evidence import Look, Mark, shown
from crag.knowledge_base.page_images import PageImages

TOWER = "The tower of Karnholm is 42 metres high. It stands on the northern cliff of the island."
HARBOUR = "The harbour has three piers. The ferry leaves from the eastern pier twice a day."


@pytest.fixture
def indexed(base: KnowledgeBase, write: Write) -> KnowledgeBase:
    write("guide.pdf", TOWER, HARBOUR, "")
    built(base)
    return base


def strip_mark(base: KnowledgeBase, look: Look = Look.KEPT) -> Mark:
    page = base.pages.page("guide.pdf", 2)
    spans = page.passages[0].strips[-1].spans
    rects = shown(page.words, [(span.start, span.end) for span in spans if span.page == 2])
    return Mark(key="s", look=look, rects=rects)


def pixels(png: bytes) -> np.ndarray:
    pixmap = pymupdf.Pixmap(png)
    return np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, -1)[..., :3].astype(int)


def test_the_pages_of_a_file_are_listed_with_their_health(indexed: KnowledgeBase) -> None:
    pages = indexed.pages.of("guide.pdf")
    assert [(page.number, page.health) for page in pages] == [(1, "text"), (2, "text"), (3, "empty")]
    assert pages[0].facts.chars == len(TOWER)
    assert indexed.pages.of("unknown.pdf") == []


def test_a_page_shows_its_text_and_what_was_cut_from_it(indexed: KnowledgeBase) -> None:
    page = indexed.pages.page("guide.pdf", 2)
    assert page.words.text == HARBOUR
    assert any("ferry" in strip.text for passage in page.passages for strip in passage.strips)
    assert indexed.pages.page("guide.pdf", 3).passages == ()
    with pytest.raises(KnowledgeBaseError, match="no longer in the index"):
        indexed.pages.page("guide.pdf", 4)


def test_a_content_is_found_under_the_path_that_holds_it(indexed: KnowledgeBase, files: Path) -> None:
    sha256 = indexed.rows()[0].content
    assert indexed.pages.path_of(sha256) == "guide.pdf"
    assert indexed.pages.sizes() == {"guide.pdf": (files / "guide.pdf").stat().st_size}
    (files / "guide.pdf").unlink()
    built(indexed)
    assert indexed.pages.path_of(sha256) is None


def test_a_marked_page_is_coloured_under_the_strip_and_nowhere_else(indexed: KnowledgeBase) -> None:
    mark = strip_mark(indexed)
    size = indexed.pages.page("guide.pdf", 2).size
    plain = pixels(indexed.pages.image("guide.pdf", 2, 72))
    marked = pixels(indexed.pages.marked("guide.pdf", 2, [mark], size, 72))
    assert plain.shape == marked.shape
    changed = np.argwhere(np.abs(plain - marked).max(axis=2) > 20)
    assert len(changed)
    box = mark.rects[0]
    for rect in mark.rects[1:]:
        box = box | rect
    assert changed[:, 1].min() >= box.x0 - 4
    assert changed[:, 1].max() <= box.x1 + 4
    assert changed[:, 0].min() >= box.y0 - 4
    assert changed[:, 0].max() <= box.y1 + 4
    inside = marked[int(box.y0) + 1, int(box.x0) + 1]
    assert inside[1] > inside[0], "kept is green"


def test_images_are_small_where_thumbnails_are_asked_for(indexed: KnowledgeBase) -> None:
    small = indexed.pages.thumbnails("guide.pdf", [1, 3], 90)
    assert sorted(small) == [1, 3]
    assert all(pixels(image).shape[1] == 90 for image in small.values())


def test_a_file_that_changed_or_went_is_not_shown(indexed: KnowledgeBase, write: Write, files: Path) -> None:
    write("guide.pdf", "Something else stands here now.")
    with pytest.raises(PageImageError, match="has changed") as caught:
        indexed.pages.image("guide.pdf", 1, 72)
    assert caught.value.reason == "changed"
    (files / "guide.pdf").unlink()
    with pytest.raises(PageImageError, match="no longer there"):
        indexed.pages.image("guide.pdf", 1, 72)


def test_no_path_leads_out_of_the_folder(indexed: KnowledgeBase, tmp_path: Path) -> None:
    (tmp_path / "secret.pdf").write_bytes((tmp_path / "Files" / "guide.pdf").read_bytes())
    with pytest.raises(PageImageError):
        indexed.pages.image("../secret.pdf", 1, 72)


def test_a_protected_file_needs_its_password(tmp_path: Path) -> None:
    path = tmp_path / "locked.pdf"
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "hidden")
        document.save(path, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="pass wörd", owner_pw="owner")
    images = PageImages()
    try:
        with pytest.raises(PageImageError) as caught:
            images.page("a", path, 1, 40)
        assert caught.value.reason == "locked"
        assert images.page("b", path, 1, 40, "pass wörd").startswith(b"\x89PNG")
    finally:
        images.close()


def test_a_page_that_takes_too_long_is_given_up_and_the_next_one_is_drawn(tmp_path: Path) -> None:
    slow, quick = tmp_path / "slow.pdf", tmp_path / "quick.pdf"
    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((72, 72), "x")
        document.save(quick)
        heavy = b"q 1 0 0 1 0 0 cm " + b"0 0 600 800 re f 0 0 m 600 800 l 10 0 l 600 0 l S " * 3_000_000 + b"Q"
        document.update_stream(page.get_contents()[0], heavy)
        document.save(slow, deflate=True)
    images = PageImages(time_limit=3)
    try:
        images.page("quick", quick, 1, 40)  # the process is up
        started = time.monotonic()
        with pytest.raises(PageImageError) as caught:
            images.page("slow", slow, 1, 200)
        assert caught.value.reason == "slow"
        assert time.monotonic() - started < 20
        images._time_limit = 30
        assert images.page("quick", quick, 1, 41).startswith(b"\x89PNG")
    finally:
        images.close()


@pytest.mark.parametrize("bytes_", [b"", b"no pdf", b"<html><body>hello</body></html>"])
def test_what_is_no_pdf_is_not_drawn(tmp_path: Path, bytes_: bytes) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(bytes_)
    images = PageImages()
    try:
        with pytest.raises(PageImageError) as caught:
            images.page("a", path, 1, 40)
        assert caught.value.reason == "broken"
    finally:
        images.close()
