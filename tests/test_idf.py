"""Rare words: what a question is about, and how much of it a text holds."""

import pytest

from crag.idf import content_words, coverage, idf, rare_words, words_of


def test_rare_words_weigh_more_than_common_ones_and_unseen_ones_the_most() -> None:
    assert idf("the") < idf("year") < idf("panthe") < idf("zqxjk")
    assert idf("一个") < idf("防守") < idf("魑魅")
    assert idf("the") >= 0


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How many points did the Panthers' defense surrender?", ("points", "panthe", "defens", "surren")),
        ("神秘博士在哪一年首播？", ("神秘", "秘博", "博士", "首播")),
        ("有机化合物和无机化合物的区别是什么？", ("有机", "机化", "化合", "合物", "无机", "区别")),
        ("What does ERR-4012 mean?", ("err", "4012", "mean")),
        ("苹果iPhone 15的价格是多少", ("苹果", "iphone", "15", "价格")),
        ("what is it", ()),
        ("是什么", ()),
        ("", ()),
        ("?!…", ()),
    ],
)
def test_content_words_are_what_the_question_is_about(question: str, words: tuple[str, ...]) -> None:
    assert content_words(question) == words


def test_coverage_is_the_share_by_rarity() -> None:
    words = content_words("When was the Apollo programme cancelled?")
    assert coverage(words, words_of("The Apollo programme was cancelled in 1972.")) == 1.0
    assert coverage(words, words_of("Nothing of that kind.")) == 0.0
    assert coverage((), words_of("anything")) == 0.0
    common, rare = coverage(("year", "zqxjk"), {"year"}), coverage(("year", "zqxjk"), {"zqxjk"})
    assert 0 < common < rare < 1


def test_inflected_forms_count_as_the_same_word() -> None:
    assert coverage(content_words("treatments"), words_of("The treatment failed.")) == 1.0


def test_rare_words_of_a_question_of_common_words_are_all_of_them() -> None:
    assert rare_words(("year", "panthe")) == ("panthe",)
    assert rare_words(("year",)) == ("year",)
