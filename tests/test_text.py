"""Words, language and sentences in English, Chinese and mixtures of both."""

import itertools

import pytest

from crag.text import is_cjk, language, sentences, tokens


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("How many points?", "en"),
        ("黑豹队丢了多少分？", "zh"),
        ("iPhone 15 的价格", "zh"),
        ("The word 汉字 means Chinese characters in writing", "en"),
        ("", "en"),
        ("12345 !?", "en"),
        ("カタカナ", "zh"),
    ],
)
def test_language_is_told_by_the_letters(text: str, lang: str) -> None:
    assert language(text) == lang


def test_tokens_are_words_and_bigrams() -> None:
    assert tokens("ERR-4012 故障码 X") == ["err", "4012", "故障", "障码", "x"]
    assert tokens("ﬁne Ｆｕｌｌ") == ["fine", "full"]
    assert tokens("分") == ["分"]


def test_is_cjk_needs_characters_and_all_of_them() -> None:
    assert is_cjk("汉字")
    assert not is_cjk("汉a")
    assert not is_cjk("")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Dr. Smith et al. measured 3.5 kg (see Fig. 3). It rose to 4 %.",
            ["Dr. Smith et al. measured 3.5 kg (see Fig. 3).", "It rose to 4 %."],
        ),
        ("他说：“好。”然后走了。后来呢？", ["他说：“好。”", "然后走了。", "后来呢？"]),
        ("  One.   Two.  ", ["One.", "Two."]),
        ("", []),
        ("\n \n", []),
    ],
)
def test_sentences_keep_abbreviations_and_quotes_whole(text: str, expected: list[str]) -> None:
    assert [text[a:b] for a, b in sentences(text)] == expected


def test_sentence_ranges_lie_in_order_inside_the_text() -> None:
    text = "First one. 第二句。Third! \n\n第四？Yes." * 5
    ranges = sentences(text)
    assert all(0 <= a < b <= len(text) for a, b in ranges)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(ranges))
