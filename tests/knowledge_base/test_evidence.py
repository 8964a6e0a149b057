"""Rectangles stand where the text of a span stands: on turned pages, for parts of words, line by line."""

from __future__ import annotations

import numpy as np
import pymupdf
import pytest

from crag.knowledge_base.evidence import PageWords, Rect, display_size, rectangles, shown, turned


def words(*placed: tuple[str, tuple[float, float, float, float]], rotation: int = 0, glue: str = " ") -> PageWords:
    """A page of 600 x 800 points with these words."""
    offsets, position = [], 0
    for word, _ in placed:
        offsets.append((position, position + len(word)))
        position += len(word) + len(glue)
    boxes = np.array([box for _, box in placed], np.float32).reshape(-1, 4)
    text = glue.join(word for word, _ in placed)
    return PageWords(text, np.array(offsets, np.int32).reshape(-1, 2), boxes, 600, 800, rotation)


def read_page(page: pymupdf.Page) -> PageWords:
    """The words as the reader stores them."""
    found = page.get_text("words")
    texts = [word[4] for word in found]
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)])[: len(texts)]
    offsets = np.array([(s, s + len(t)) for s, t in zip(starts, texts, strict=True)], np.int32)
    boxes = np.array([word[:4] for word in found], np.float32)
    return PageWords(" ".join(texts), offsets, boxes, page.cropbox.width, page.cropbox.height, page.rotation)


TWO_LINES = (
    ("The", (10, 10, 30, 20)),
    ("lighthouse", (35, 10, 90, 20)),
    ("was", (95, 11, 110, 21)),
    ("built", (10, 24, 35, 34)),
    ("early", (40, 24, 62, 34)),
)


def test_a_range_over_a_line_end_gives_one_rectangle_per_line() -> None:
    page = words(*TWO_LINES)
    start = page.text.index("lighthouse")
    assert rectangles(page, start, page.text.index("early") - 1) == [Rect(35, 10, 110, 21), Rect(10, 24, 35, 34)]


def test_words_of_one_narrow_column_stay_on_their_own_lines() -> None:
    page = words(("narrow", (10, 10, 50, 20)), ("column", (10, 22, 48, 32)), ("words", (10, 34, 45, 44)))
    assert len(rectangles(page, 0, len(page.text))) == 3


def test_cells_far_apart_keep_rectangles_of_their_own() -> None:
    page = words(("Revenue", (10, 10, 60, 20)), ("2024", (200, 10, 225, 20)), ("9.1", (300, 10, 315, 20)))
    assert len(rectangles(page, 0, len(page.text))) == 3


def test_a_sentence_inside_a_chinese_line_is_cut_in_proportion() -> None:
    page = words(("灯塔建于一八四七年。灯塔高四十二米。", (100, 50, 280, 60)))
    (rect,) = rectangles(page, 10, 18)
    assert rect == pytest.approx((200, 50, 280, 60))


def test_a_part_of_a_right_to_left_word_is_cut_from_the_right() -> None:
    page = words(("مرحبا", (100, 50, 150, 60)))
    (rect,) = rectangles(page, 0, 2)
    assert rect == pytest.approx((130, 50, 150, 60))


def test_vertical_chinese_is_marked_by_columns() -> None:
    column = [(char, (500, 100 + 12 * i, 512, 112 + 12 * i)) for i, char in enumerate("灯塔高四")]
    second = [(char, (480, 100 + 12 * i, 492, 112 + 12 * i)) for i, char in enumerate("十二米")]
    page = words(*column, *second, glue="")
    assert rectangles(page, 0, 7) == [Rect(500, 100, 512, 148), Rect(480, 100, 492, 136)]


@pytest.mark.parametrize("text", ["", "no words"])
def test_nothing_is_marked_where_no_word_stands(text: str) -> None:
    empty = PageWords(text, np.zeros((0, 2), np.int32), np.zeros((0, 4), np.float32), 600, 800, 0)
    assert rectangles(empty, 0, 8) == []
    assert rectangles(words(*TWO_LINES), 5, 5) == []
    assert rectangles(words(*TWO_LINES), 9000, 9005) == []


def test_boxes_that_are_no_boxes_mark_nothing() -> None:
    nan = float("nan")
    page = words(("a", (nan, 0, 1, 1)), ("b", (5, 5, 5, 9)), ("c", (10, 10, 20, 20)))
    assert rectangles(page, 0, 5) == [Rect(10, 10, 20, 20)]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_turned_rectangle_is_where_mupdf_shows_it(rotation: int) -> None:
    with pymupdf.open() as document:
        page = document.new_page(width=600, height=800)
        page.set_rotation(rotation)
        box = pymupdf.Rect(50, 100, 200, 120)
        there = box * page.rotation_matrix
        assert turned(Rect(*box), 600, 800, rotation) == pytest.approx(tuple(there))
        assert display_size(words(rotation=rotation)) == (page.rect.width, page.rect.height)


@pytest.mark.parametrize("crop", [None, (40, 60, 560, 780)])
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_on_a_turned_page_the_rectangle_covers_the_ink_of_the_words(
    rotation: int, crop: tuple[float, ...] | None
) -> None:
    """Text set upright on the turned page; the dark pixels of the phrase alone must lie under its rectangle."""
    with pymupdf.open() as document:
        page = document.new_page(width=600, height=800)
        page.set_rotation(rotation)
        here = pymupdf.Point(120, 300) * page.derotation_matrix
        page.insert_text(here, "the tower stands high", fontsize=20, rotate=rotation)
        if crop:
            page.set_cropbox(pymupdf.Rect(crop))
        page = document.reload_page(page)
        found = read_page(page)
        start = found.text.index("tower")
        (rect,) = shown(found, [(start, start + len("tower stands"))])
        pixmap = page.get_pixmap(clip=pymupdf.Rect(rect), colorspace="gray")
        assert (np.frombuffer(pixmap.samples, np.uint8) < 100).sum() > 200
        assert page.get_textbox(pymupdf.Rect(rect) * page.derotation_matrix).split() == ["tower", "stands"]
        assert rect.x1 - rect.x0 > 3 * (rect.y1 - rect.y0), "the text reads from left to right as displayed"


def test_a_skewed_line_is_marked_in_steps_that_stay_off_its_neighbours() -> None:
    line = [(f"word{n}", (10 + 40 * n, 100 + 2 * n, 45 + 40 * n, 110 + 2 * n)) for n in range(12)]
    found = rectangles(words(*line), 0, 10_000)
    assert 2 <= len(found) <= 6
    assert all(rect.y1 - rect.y0 <= 14 for rect in found)
    assert (found[0].x0, found[-1].x1) == (10, 485)


def test_a_large_first_word_does_not_part_its_line() -> None:
    page = words(("Once", (10, 95, 50, 115)), ("upon", (55, 100, 80, 112)), ("a", (85, 102, 90, 112)))
    assert len(rectangles(page, 0, len(page.text))) == 1
