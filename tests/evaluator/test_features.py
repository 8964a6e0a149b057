"""What the evaluator sees in a question: codes, and words held by a document."""

import time

import numpy as np
import pytest

from crag.evaluator.features import DOCUMENT, STRIP, Asked, features, holds

NOWHERE = np.zeros(4, dtype=np.float32)


@pytest.mark.parametrize(
    ("question", "codes", "alone"),
    [
        ("ERR-4012", ("err-4012",), True),
        ("What does ERR-4012 mean?", ("err-4012",), False),
        ("故障码E21是什么", ("e21",), False),
        ("NX-200/b F-16", ("nx-200/b", "f-16"), True),
        ("in the 1990s, or in the 20th century, or 2015-16", (), False),
        ("how long is 3.5", (), False),
        ("", (), False),
    ],
)
def test_part_numbers_are_recognised(question: str, codes: tuple[str, ...], alone: bool) -> None:
    asked = Asked(question, NOWHERE)
    assert (asked.codes, asked.only_codes) == (codes, alone)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("The display shows ERR-4012.", True),
        ("Err 4012 means low oil", True),
        ("ＥＲＲ４０１２", True),
        ("ERR-4013", False),
        ("ERR-40121", False),
        ("XERR-4012", False),
        ("", False),
    ],
)
def test_a_code_is_held_only_as_a_whole(text: str, held: bool) -> None:
    assert holds(text, "err-4012") is held


@pytest.mark.parametrize(
    "question", ["a-" * 5000 + "1", "1a" * 5000 + "-", "1a-" * 5000, "a1-a1_" * 2000 + "-", "字1" * 5000]
)
def test_hostile_questions_are_read_in_no_time(question: str) -> None:
    start = time.perf_counter()
    Asked(question, NOWHERE).codes  # noqa: B018
    assert time.perf_counter() - start < 1.0


def test_features_are_cosines_and_shares_of_words() -> None:
    asked = Asked("When was Apollo cancelled?", np.array([1, 0], dtype=np.float32))
    strips = ["Apollo began in 1961.", "It was cancelled."]
    vectors = np.array([[0.6, 0.8], [0.8, 0.6]], dtype=np.float32)
    document, rows = features(asked, "", " ".join(strips), strips, np.array([0.5, 0.5], dtype=np.float32), vectors)
    named = dict(zip(DOCUMENT, document, strict=True))
    assert named["cosine"] == pytest.approx(0.5)
    assert (named["best_cosine"], named["two_cosine"]) == pytest.approx((0.8, 0.7))
    assert named["coverage"] == 1.0
    assert 0 < named["best_coverage"] < 1
    first, second = (dict(zip(STRIP, row, strict=True)) for row in rows)
    assert (first["below_best"], second["below_best"]) == pytest.approx((0.2, 0.0))
    assert named["best_joint"] == pytest.approx(max(row["cosine"] + row["coverage"] / 2 for row in (first, second)))


def test_the_heading_counts_as_words_of_the_document() -> None:
    asked = Asked("Apollo cancelled?", NOWHERE)
    vectors = np.zeros((1, 4), dtype=np.float32)
    without, _ = features(asked, "", "It was cancelled.", ["It was cancelled."], NOWHERE, vectors)
    having, _ = features(asked, "Apollo", "It was cancelled.", ["It was cancelled."], NOWHERE, vectors)
    place = DOCUMENT.index("coverage")
    assert without[place] < having[place] == 1.0


def test_a_document_without_strips_is_its_own() -> None:
    document, rows = features(Asked("Apollo?", NOWHERE), "", "Apollo.", [], NOWHERE, np.empty((0, 4), np.float32))
    assert (len(document), rows) == (len(DOCUMENT), [])


@pytest.mark.parametrize(
    ("text", "code", "held"),
    [
        ("Install Python 3.14.2 first.", "3.14.3", False),
        ("Install Python 3.14.2 first.", "3.14.2", True),
        ("Firmware v1.2.3 fixes it.", "v1.2", False),
        ("The NX-200/b gasket costs 12 euro.", "nx-200", False),
        ("The NX-200 gasket costs 12 euro.", "nx-200", True),
        ("See NX-200.", "nx-200", True),
        ("The key 778-231-09 hangs in the office.", "778-231-08", False),
        ("It is written in C++ and C#.", "c++", True),
        ("It is written in C.", "c++", False),
    ],
)
def test_a_code_that_only_looks_alike_is_another_one(text: str, code: str, held: bool) -> None:
    assert holds(text, code) is held


@pytest.mark.parametrize("question", ["Why 3.14.3?", "Where is the key 778-231-08?", "Is it written in C++?"])
def test_versions_digit_groups_and_language_names_are_codes(question: str) -> None:
    assert Asked(question, NOWHERE).codes


@pytest.mark.parametrize("question", ["What happened on 2020-05-01?", "And on 12.03.2020?", "In the 1990s, 21st, B2?"])
def test_dates_and_ordinals_are_no_codes(question: str) -> None:
    assert Asked(question, NOWHERE).codes == ()
