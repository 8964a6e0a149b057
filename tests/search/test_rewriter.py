"""The search query: keywords of the question, in its own language and spelling."""

import pytest

from crag.search.rewriter import keywords


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("How many points did the Panthers defense surrender?", "points Panthers defense surrender"),
        ("What does ERR-4012 mean on the NX-200/b?", "ERR-4012 mean NX-200/b"),
        ("苹果iPhone 15的价格是多少？", "苹果 iPhone 15 价格"),
        ("有机化合物和无机化合物的区别是什么？", "有机化合物 无机化合物 区别"),
        ("What is C++ and how does it differ from C#?", "C++ differ C#"),
    ],
)
def test_keywords_keep_order_spelling_and_language(question: str, query: str) -> None:
    assert keywords(question) == query


def test_a_long_question_is_cut_to_its_six_rarest_words() -> None:
    question = (
        "Which year did the American government first provide the large reconnaissance aircraft squadrons with the new "
        "stereoscopic cameras that Kodak manufactured in Rochester?"
    )
    words = keywords(question).split()
    assert len(words) == 6
    assert {"reconnaissance", "squadrons", "stereoscopic", "Kodak", "Rochester"} < set(words)


@pytest.mark.parametrize("question", ["what is it", "是什么", "!!!", "ERR-4012", "？", "🤔", "的"])
def test_a_question_without_two_keywords_is_searched_for_as_it_is(question: str) -> None:
    assert keywords(f"  {question}\n") == question


@pytest.mark.parametrize(
    "question", ["x" * 10_000, "word " * 2000, "字" * 10_000, "antidisestablishmentarianism " * 300]
)
def test_a_query_is_never_longer_than_search_engines_take(question: str) -> None:
    assert 0 < len(keywords(question)) <= 400


def test_repeated_words_are_searched_for_once() -> None:
    assert keywords("Kodak cameras and Kodak films") == "Kodak cameras films"
