"""Arabic and Hebrew come out in the order in which they are read."""

from __future__ import annotations

from typing import Any

from crag.knowledge_base.right_to_left import Word, is_right_to_left, logical_words


def drawn(shown: str, width: float = 6.0) -> tuple[list[Word], list[dict[str, Any]]]:
    """A line whose characters stand from left to right as in `shown`, the way PyMuPDF reports it."""
    chars = [{"c": char, "bbox": (72 + width * i, 100.0, 72 + width * (i + 1), 112.0)} for i, char in enumerate(shown)]
    return line_of(chars)


def line_of(chars: list[dict[str, Any]]) -> tuple[list[Word], list[dict[str, Any]]]:
    x0, x1 = min(c["bbox"][0] for c in chars), max(c["bbox"][2] for c in chars)
    line = {"dir": (1.0, 0.0), "bbox": (x0, 100.0, x1, 112.0), "spans": [{"chars": chars}]}
    text = "".join(char["c"] for char in chars)
    words: list[Word] = [(x0, 100.0, x1, 112.0, word, 0, 0, n) for n, word in enumerate(text.split())]
    return words, [{"lines": [line]}]


def read(shown: str) -> str:
    return " ".join(word[4] for word in logical_words(*drawn(shown)))


def test_a_line_is_read_from_the_right_with_its_stop_at_the_end() -> None:
    assert read(".םלוע םולש") == "שלום עולם."


def test_latin_words_and_numbers_inside_keep_their_own_direction() -> None:
    assert read("הפש Open Source תנכות") == "תוכנת Open Source שפה"
    assert read("19/09/1403 ךיראת") == "תאריך 19/09/1403"
    assert read("14.5 ךרע") == "ערך 14.5"


def test_brackets_that_are_stored_as_they_look_are_turned() -> None:
    assert read("קוחל (4)(ב)15 ףיעס") == "סעיף 15(ב)(4) לחוק"


def test_the_letters_of_a_ligature_are_put_right() -> None:
    chars = [
        {"c": "ا", "bbox": (100.0, 100.0, 100.0, 112.0)},
        {"c": "ل", "bbox": (94.0, 100.0, 100.0, 112.0)},
        {"c": "م", "bbox": (88.0, 100.0, 94.0, 112.0)},
    ]
    chars.insert(0, {"c": "س", "bbox": (100.0, 100.0, 108.0, 112.0)})
    assert [word[4] for word in logical_words(*line_of(chars))] == ["سلام"]


def test_wide_gaps_part_the_cells_of_a_table() -> None:
    words, blocks = drawn("אבג" + " " * 12 + "דהו")
    found = logical_words(words, blocks)
    assert [word[4] for word in found] == ["והד", "גבא"]
    assert found[0][6] != found[1][6]


def test_letters_that_stand_upon_each_other_keep_the_order_of_the_file() -> None:
    chars = [{"c": char, "bbox": (72.0 + i, 100.0, 82.0 + i, 112.0)} for i, char in enumerate("שלום")]
    assert [word[4] for word in logical_words(*line_of(chars))] == ["שלום"]


def test_a_page_is_right_to_left_by_its_letters() -> None:
    assert is_right_to_left("מחיר של open source")
    assert not is_right_to_left("The word שלום means peace in the language of the region")
    assert not is_right_to_left("1234")
