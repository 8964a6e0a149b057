"""Passages and strips: their sizes, their spans, and that no word is lost."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from small_pdfs import Write

from crag.knowledge_base.chunker import PASSAGE_MAX, STRIP_MAX, chunk
from crag.knowledge_base.page_text import PageText, compose
from crag.knowledge_base.paragraphs import Kind
from crag.knowledge_base.pdf_loader import read_head, read_pages
from crag.knowledge_base.sections import TINY, size_of
from crag.schema import Passage, Span

SENTENCE = "Sentence {} says that the harvest of the northern fields was {} tonnes in that dry and windy summer."
CHINESE = "第{}句说明北方田地在那个干旱多风的夏天收获了{}吨粮食，比前一年略少一些。"


def english(count: int, first: int = 0) -> str:
    return " ".join(SENTENCE.format(i, i * 7) for i in range(first, first + count))


def cut(path: Path, content: str = "c") -> tuple[list[PageText], list[Passage]]:
    head = read_head(path)
    pages = compose(read_pages(path, 0, head.pages), head.outline)
    return pages, chunk(content, "f", pages)


def squashed(text: str) -> str:
    return "".join(text.split())


def at(pages: list[PageText], spans: tuple[Span, ...]) -> str:
    return "".join(pages[span.page - 1].text[span.start : span.end] for span in spans)


@pytest.fixture
def book(write: Write) -> Path:
    return write(
        "book.pdf",
        f"# First chapter\n\n{english(9)}\n\n{english(12, 9)}",
        f"# Second chapter\n\n{english(6, 30)}\n\n# Empty title\n\n# Third chapter\n\n{english(3, 40)}",
        "".join(CHINESE.format(i, i) for i in range(30)),
        "word " * 900,
    )


def test_every_strip_and_passage_equals_the_text_at_its_spans(book: Path) -> None:
    pages, passages = cut(book)
    for passage in passages:
        assert squashed(passage.text) == squashed(at(pages, passage.spans))
        assert squashed(passage.text) == squashed("".join(strip.text for strip in passage.strips))
        for strip in passage.strips:
            assert squashed(strip.text) == squashed(at(pages, strip.spans))


def test_sizes_stay_within_their_limits(book: Path) -> None:
    _, passages = cut(book)
    assert all(size_of(strip.text) <= STRIP_MAX for passage in passages for strip in passage.strips)
    assert all(size_of(passage.text) <= PASSAGE_MAX + TINY + 20 for passage in passages)
    chinese = [passage for passage in passages if size_of(passage.text) > 1.8 * len(passage.text)]
    assert chinese
    assert all(len(passage.text) <= 460 for passage in chinese)


def test_no_word_is_lost(book: Path) -> None:
    pages, passages = cut(book)
    inside = {(span.page, i) for passage in passages for span in passage.spans for i in range(span.start, span.end)}
    headings = " ".join(passage.heading for passage in passages)
    for page in pages:
        for block in page.blocks:
            text = page.text[block.start : block.end]
            kept = all((page.number, i) in inside for i in range(block.start, block.end) if not page.text[i].isspace())
            assert kept or (block.kind == Kind.HEADING and text in headings)


def test_passages_know_their_section_and_do_not_cross_it(book: Path) -> None:
    _, passages = cut(book)
    by_number = {}
    for passage in passages:
        for number in range(60):
            if f"Sentence {number} " in passage.text:
                by_number.setdefault(number, set()).add(passage.heading)
    assert {heading for n in range(21) for heading in by_number[n]} == {"First chapter"}
    assert {heading for n in range(30, 36) for heading in by_number[n]} == {"Second chapter"}
    assert {heading for n in range(40, 43) for heading in by_number[n]} == {"Empty title › Third chapter"}


def test_neighbouring_passages_share_a_short_strip_with_one_id(write: Write) -> None:
    _, passages = cut(write("a.pdf", english(24)))
    assert len(passages) > 2
    for before, after in pairwise(passages):
        assert before.strips[-1] == after.strips[0]
    ids = {strip.id: strip.spans for passage in passages for strip in passage.strips}
    assert len(set(ids.values())) == len(ids)


def test_a_sentence_over_two_pages_is_one_strip_with_two_spans(write: Write) -> None:
    _, passages = cut(
        write(
            "over.pdf",
            "The report that was written in spring\nby the old committee of the town",
            "was never read by anyone at all.",
        )
    )
    strip = passages[0].strips[0]
    assert [span.page for span in strip.spans] == [1, 2]
    assert strip.text == (
        "The report that was written in spring by the old committee of the town was never read by anyone at all."
    )
    assert passages[0].pages == (1, 2)


def test_a_short_section_is_kept_with_its_title(write: Write) -> None:
    faq = f"# Rules\n\n{english(4)}\n\n# How long is the notice period?\n\nTwo weeks.\n\n# Who signs?\n\nThe clerk."
    _, passages = cut(write("faq.pdf", faq))
    assert "How long is the notice period?\nTwo weeks." in passages[-1].text
    assert any("notice period" in strip.text and "Two weeks." in strip.text for strip in passages[-1].strips)


def test_a_file_of_headings_alone_still_has_text(write: Write) -> None:
    _, passages = cut(write("cover.pdf", "# Annual Report\n\n# Company of Friends"))
    assert [passage.text for passage in passages] == ["Annual Report\nCompany of Friends"]


def test_ids_are_the_same_every_time_and_differ_by_content(book: Path) -> None:
    first, again, other = cut(book)[1], cut(book)[1], cut(book, "d")[1]
    assert first == again
    assert not {p.id for p in first} & {p.id for p in other}
    assert not {s.id for p in first for s in p.strips} & {s.id for p in other for s in p.strips}


def test_only_a_sentence_that_runs_over_a_page_break_makes_a_strip_of_two_pages(write: Write) -> None:
    pages, passages = cut(write("book.pdf", "Short one. Short two.", "Short three. Short four.", "Short five."))
    assert len(pages) == 3
    assert {len({span.page for span in strip.spans}) for passage in passages for strip in passage.strips} == {1}
