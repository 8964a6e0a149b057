"""Which pages can be trusted as they are, and which are read from their pictures."""

from __future__ import annotations

import numpy as np

from crag.knowledge_base.health import GARBLED, Need, health_of, is_better, is_garbled, need_of
from crag.knowledge_base.pdf_loader import RawLine, RawPage

SENTENCE = (
    "The committee met in the old library on Tuesday morning and decided to buy three new lamps and to paint the door "
    "green because the children had asked for it more than once during the long winter before the library was closed. "
    "Nobody spoke against the plan although the treasurer wanted another offer before the summer."
)


def page(text: str, **facts: object) -> RawPage:
    words = text.split()
    boxes = np.array([(10 + 20 * (i % 20), 20 + 14 * (i // 20)) * 2 for i in range(len(words))], np.float32).reshape(
        -1, 4
    )
    boxes[:, 2:] += (18, 10)
    lines = [RawLine(i, min(i + 20, len(words)), 0, 10.0, False, (1.0, 0.0)) for i in range(0, len(words), 20)]
    values: dict[str, object] = {"images": 0.0, **facts}
    return RawPage(1, 595.0, 842.0, 0, words, boxes, lines, **values)  # type: ignore[arg-type]


def test_a_page_of_text_is_left_alone_unless_ocr_is_forced() -> None:
    assert need_of(page(SENTENCE), "auto") is None
    assert need_of(page(SENTENCE), "force") == Need.WHOLE
    assert need_of(page("", images=1.0), "off") is None


def test_pages_without_text_are_read() -> None:
    assert need_of(page("", images=1.0), "auto") == Need.WHOLE
    assert need_of(page("3", images=0.5), "auto") == Need.WHOLE


def test_letters_that_are_all_moved_by_one_number_are_noise() -> None:
    for shift in (3, -29, 5):
        moved = "".join(char if char == " " else chr(ord(char) + shift) for char in SENTENCE)
        assert is_garbled(moved.split()), shift
    assert not is_garbled(SENTENCE.split())


def test_other_languages_are_not_taken_for_noise() -> None:
    german = (
        "Der Ausschuss traf sich am Dienstag in der alten Bibliothek und beschloss drei neue Lampen zu kaufen. " * 3
    )
    polish = "Krzysztof przyszedł wczoraj wieczorem do starej biblioteki i kupił trzy nowe lampy dla szkoły. " * 3
    for text in (german, polish):
        assert not is_garbled(text.split())


def test_only_the_lines_without_a_character_map_are_replaced() -> None:
    found = page(SENTENCE)
    found.lines[1] = found.lines[1]._replace(unmapped=True)
    assert need_of(found, "auto") == Need.FILL
    found.lines[:] = [line._replace(unmapped=True) for line in found.lines]
    assert health_of(found) == GARBLED


def test_a_large_picture_below_a_header_is_searched_and_a_figure_is_not() -> None:
    assert need_of(page(SENTENCE, images=1.0), "auto") == Need.MIXED
    assert need_of(page(SENTENCE, images=0.3), "auto") is None


def test_a_hidden_layer_that_reads_well_is_believed() -> None:
    assert need_of(page(SENTENCE, images=1.0, hidden=1.0), "auto") is None
    nonsense = "Tbc cornrnittcc rnct jn tho o1d Iihrarv qn Tucsdav rnorniug amd dccidcd tq huv tbrcc uew 1arnps"
    assert need_of(page(nonsense, images=1.0, hidden=1.0), "auto") == Need.CHECK
    assert is_better(SENTENCE.split(), nonsense.split())
    assert not is_better(SENTENCE.split(), SENTENCE.split())


def test_leader_dots_without_a_character_map_do_not_cost_a_page_its_text_layer() -> None:
    lines = [f"Chapter {n} on lamps and doors {chr(0xFFFD) * 60} {n + 7}" for n in range(12)]
    assert need_of(page(" ".join(lines)), "auto") is None
    lost = " ".join(chr(0xFFFD) * 12 for _ in range(60))
    assert need_of(page(f"{lost} Chapter one on lamps and doors"), "auto") == Need.WHOLE
