"""A label says only what the question's row tells: right place, answer strings, or nothing."""

import pytest
from traces import document, question

from crag.evaluation.labels import document_label, holds_answer, strip_label
from crag.schema import Action, Document

GOLD = {"answers": ("42 litres",), "file": "manuals/pump.pdf", "page": 3}


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("1,234", "a total of 1234 pumps"),
        ("1234", "共 １，２３４ 台"),
        ("1234", "1\u202f234 units"),
        ("inlet valve", "clean the Inlet\nvalve now"),
        ("re-established", "was reestablished"),
        ("reestablished", "was re-established"),
        ("流量为42升", "水泵的流 \n量为４２升。"),
        ("42", "rated at 42litres"),
        ("1960", "in the 1960s"),
        ("5-10 minutes", "takes 5–10\nminutes"),
        ("3.5", "It is 3.5."),
        ("Bell's theorem", "BELL’S THEOREM holds"),
        ("42升", "每分钟42升"),
        ("café", "the cafe\u0301"),
    ],
)
def test_an_answer_is_found_however_it_is_set(answer: str, text: str) -> None:
    assert holds_answer(question("q", answers=(answer,)), text)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("234", "a total of 1,234 pumps"),
        ("234", "2345"),
        ("35", "3.5 litres"),
        ("5", "3.5 litres"),
        ("3", "3.5 litres"),
        ("510", "5\n10"),
        ("510", "pages 5, 10"),
        ("art", "a party"),
        ("pump", "pumping"),
        ("42", ""),
    ],
)
def test_an_answer_is_not_found_inside_a_longer_word_or_number(answer: str, text: str) -> None:
    assert not holds_answer(question("q", answers=(answer,)), text)


def test_any_of_several_answers_counts_and_none_is_never_held() -> None:
    assert holds_answer(question("q", answers=("six", "42")), "It is 42.")
    assert not holds_answer(question("q"), "It is 42.")


@pytest.mark.parametrize(
    ("found", "label"),
    [
        (document("It gives 42 litres.", "manuals/pump.pdf", 3), True),
        (document("It gives 42 litres.", "pump.pdf", 3), True),
        (document("It gives 42 litres.", "old/pump.pdf", 3), None),
        (document("It gives 42 litres.", "manuals/pump.pdf", 4), None),
        (document("It gives 42 litres.", "tank.pdf", 3), None),
        (document("It gives 6 bar.", "manuals/pump.pdf", 3), False),
        (document("It gives 6 bar.", "tank.pdf", 1), False),
    ],
)
def test_with_answers_and_place_both_have_to_be_right(found: Document, label: bool | None) -> None:
    assert document_label(question("q", **GOLD), found) is label
    assert strip_label(question("q", **GOLD), found.strips[0], found) is label


def test_every_path_of_a_document_counts_also_by_its_base_name() -> None:
    twin = document("42 litres", "x.pdf", 3).model_copy(update={"files": ("x.pdf", "Archive/PUMP.pdf")})
    assert document_label(question("q", **GOLD | {"file": "pump.pdf"}), twin) is True


def test_a_page_alone_labels_documents_but_not_its_strips() -> None:
    asked = question("q", file="pump.pdf", page=3)
    for found, label, of_strip in [
        (document("x", "pump.pdf", 3), True, None),
        (document("x", "pump.pdf", 4), None, None),
        (document("x", "tank.pdf", 3), False, False),
    ]:
        assert document_label(asked, found) is label
        assert strip_label(asked, found.strips[0], found) is of_strip


def test_where_nothing_is_covered_nothing_answers_and_where_nothing_is_said_nothing_is_known() -> None:
    found = document("x")
    assert document_label(question("q", expected=Action.INCORRECT), found) is False
    assert strip_label(question("q", expected=Action.INCORRECT), found.strips[0], found) is False
    for asked in (question("q"), question("q", expected=Action.CORRECT), question("q", file="a.pdf")):
        assert document_label(asked, found) is None
        assert strip_label(asked, found.strips[0], found) is None
