"""Citations: unknown markers are flagged, and each sentence is held against what it cites."""

import pytest

from crag.generator.citations import check, held
from crag.generator.extractive import ExtractiveGenerator
from crag.refinement import recompose
from crag.schema import CitationCheck, Fate, GradedStrip, Knowledge, Span, Support

APOLLO = "The last Apollo mission, Apollo 17, left the Moon in December 1972 [12]."
SATURN = "The Saturn V rocket was 110.6 metres tall. Thirteen were launched."


def strip(id_: str, text: str, page: int) -> GradedStrip:
    return GradedStrip(
        id=id_, text=text, spans=(Span(page=page, start=0, end=len(text)),), content="c", files=("moon.pdf",),
        documents=("d",), order=page, score=0.9, fate=Fate.KEPT,
    )  # fmt: skip


STRIPS = (strip("s1", APOLLO, 1), strip("s2", SATURN, 2))


def checked(answer: str) -> CitationCheck:
    return check(answer, recompose(STRIPS), STRIPS)


async def test_every_quote_of_the_quoting_generator_is_supported() -> None:
    answer = "".join([piece.text async for piece in ExtractiveGenerator().stream("When?", recompose(STRIPS))])
    result = checked(answer)
    assert [(c.n, c.file, c.page) for c in result.citations] == [(1, "moon.pdf", 1), (2, "moon.pdf", 2)]
    assert result.unknown == ()  # [12] belongs to the quoted text
    assert {s.support for s in result.sentences} == {Support.SUPPORTED}
    assert len(result.sentences) == 2


def test_markers_without_a_source_are_flagged() -> None:
    result = checked("Apollo 17 left the Moon in December 1972 [1][7]. It was tall [2, 9].")
    assert result.unknown == (7, 9)
    assert [c.n for c in result.citations] == [1, 2]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Apollo 17 left the Moon in December 1972 [1].", Support.SUPPORTED),
        ("Apollo 17 left the Moon in December 1972. [1]", Support.SUPPORTED),
        ("Apollo 17 left the Moon in December 1972 [2].", Support.UNSUPPORTED),
        ("Apollo 17 left the Moon in December 1975 [1].", Support.WEAK),
        ("The Moon mission Apollo 17 found frozen water [1].", Support.WEAK),
        ("Bananas ripen faster beside other fruit [1].", Support.UNSUPPORTED),
        ("Apollo 17 left the Moon in December 1972.", Support.UNSUPPORTED),
        ("Apollo 17 left the Moon in December 1972 [9].", Support.UNSUPPORTED),
    ],
)
def test_a_sentence_is_held_against_what_it_cites(answer: str, expected: Support) -> None:
    assert [s.support for s in checked(answer).sentences] == [expected]


def test_a_sentence_without_marker_shares_the_next_one_of_its_paragraph() -> None:
    first, second = checked("The Saturn V was 110.6 metres tall. Thirteen were launched [2].").sentences
    assert (first.cites, first.support, second.cites) == ((2,), Support.SUPPORTED, (2,))


def test_chinese_answers_are_checked_likewise() -> None:
    strips = (strip("s1", "阿波罗十七号于一九七二年十二月离开月球。", 1),)
    result = check("阿波罗十七号离开月球【1】。香蕉成熟得更快［1］。", recompose(strips), strips)
    assert [s.support for s in result.sentences] == [Support.SUPPORTED, Support.UNSUPPORTED]


def test_an_answer_without_sources_has_nothing_to_check() -> None:
    assert check("The knowledge base does not cover this question.", Knowledge(), ()) == CitationCheck()


@pytest.mark.parametrize(
    "answer", ["", "\n\n", "[1]", "…", "[1] [2]", "[", "[999999]", "“”" * 50, "the text does not " * 3000]
)
def test_odd_answers_do_not_break_the_check(answer: str) -> None:
    assert all(s.text.strip() for s in checked(answer).sentences)


def test_number_that_the_evidence_lacks_is_never_fully_supported() -> None:
    assert held("Thirteen Saturn V rockets were launched in 1999", SATURN).support is not Support.SUPPORTED


def test_a_quotation_of_several_lines_shares_the_marker_behind_it() -> None:
    text = "Stage I\nThe tumour is small.\nStage II\nThe tumour is larger."
    kept = strip("s", text, 1)
    result = check(f"From your documents:\n\n“{text}” [1]", recompose([kept]), [kept])
    assert {sentence.support for sentence in result.sentences} == {Support.SUPPORTED}
    assert all(sentence.cites == (1,) for sentence in result.sentences)


@pytest.mark.parametrize(
    ("marker", "cited"),
    [
        ("[1][2]", [1, 2]),
        ("[1] [2]", [1, 2]),
        ("[1, 2]", [1, 2]),
        ("[1；2]", [1, 2]),
        ("[1-2]", [1, 2]),
        ("[1–2]", [1, 2]),
        ("【1】〔2〕", [1, 2]),
        ("［１］", [1]),
        ("[Source 2]", [2]),
        ("[来源 2]", [2]),
        ("[^2]", [2]),
        ("[n]", []),
        ("[1969]", []),
        ("(2)", []),
    ],
)
def test_markers_as_models_write_them(marker: str, cited: list[int]) -> None:
    result = checked(f"Apollo 17 left the Moon, and the Saturn V was 110.6 metres tall {marker}.")
    assert [citation.n for citation in result.citations] == cited
    assert result.unknown == ()


def test_a_long_range_cites_its_ends_alone() -> None:
    assert checked("All of it is known [2-900].").unknown == (900,)
    assert checked("All of it is known [9-2].").unknown == (9,)


def test_a_list_is_held_against_what_its_items_or_the_line_before_it_cite() -> None:
    result = checked("The Saturn V [2]:\n- was 110.6 metres tall\n- thirteen were launched\n\nIt was red.")
    assert [(s.cites, s.support) for s in result.sentences[1:]] == [
        ((2,), Support.SUPPORTED),
        ((2,), Support.SUPPORTED),
        ((), Support.UNSUPPORTED),
    ]
    numbered = checked("1. The Saturn V was 110.6 metres tall [2].\n2) Thirteen were launched. [2]")
    assert [s.support for s in numbered.sentences] == [Support.SUPPORTED, Support.SUPPORTED]


@pytest.mark.parametrize(
    "answer",
    [
        "The knowledge does not tell how much it cost.",
        "The provided documents don't mention its price.",
        "There is no information on its price.",
        "The excerpts say nothing about its colour.",
        "知识中没有提到它的价格。",
        "文档未说明发射日期。",
        "## The rocket",
        "**The rocket**",
        "Here is what is known:",
    ],
)
def test_an_honest_gap_and_a_heading_claim_nothing(answer: str) -> None:
    assert checked(answer).sentences == ()


@pytest.mark.parametrize(
    "answer", ["The information was secret.", "Its text is famous.", "The documents were not burnt."]
)
def test_a_claim_about_documents_is_still_a_claim(answer: str) -> None:
    (sentence,) = checked(answer).sentences
    assert (sentence.cites, sentence.support) == ((), Support.UNSUPPORTED)


def test_a_gap_does_not_take_the_marker_of_the_sentence_behind_it() -> None:
    (sentence,) = checked("The documents do not tell its price. The Saturn V was 110.6 metres tall [2].").sentences
    assert (sentence.cites, sentence.support) == ((2,), Support.SUPPORTED)


def test_column_names_and_a_list_of_the_sources_claim_nothing() -> None:
    table = checked("| Rocket | Height |\n|---|---:|\n| Saturn V | 110.6 metres tall [2] |")
    assert [(s.cites, s.support) for s in table.sentences] == [((2,), Support.SUPPORTED)]
    listed = checked("Sources:\n[1] moon.pdf, page 1\n- [2] moon.pdf")
    assert listed.sentences == ()
    assert [citation.n for citation in listed.citations] == [1, 2]


def test_an_honest_gap_that_cites_is_checked() -> None:
    assert len(checked("The documents do not say that bananas ripen [1].").sentences) == 1


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("土星五号火箭高110.6米[2]。", Support.WEAK),
        ("土星五号火箭高111米[2]。", Support.UNSUPPORTED),
        ("土星五号火箭很高[2]。", Support.WEAK),
        ("土星五号火箭很高[9]。", Support.UNSUPPORTED),
    ],
)
def test_words_are_not_compared_across_languages_but_numbers_are(answer: str, expected: Support) -> None:
    assert [s.support for s in checked(answer).sentences] == [expected]


def test_a_number_is_the_same_with_and_without_a_thousands_separator() -> None:
    assert held("It cost 1500000 dollars in all", "It cost 1,500,000 dollars in all.").support is Support.SUPPORTED
    assert held("It cost 1,50 dollars in all", "It cost 150 dollars in all.").support is not Support.SUPPORTED


# --- why a sentence is not held ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "numbers", "words"),
    [
        ("Apollo 17 left the Moon in December 1975 [1].", ("1975",), ()),
        ("The Moon mission Apollo 17 found frozen water [1].", (), ("found", "frozen", "water")),
        (
            "Bananas ripen faster beside 1,500 others [1].",
            ("1500",),
            ("Bananas", "ripen", "faster", "beside", "others"),
        ),
        ("Apollo 17 left the Moon in December 1972 [1].", (), ()),
        ("Apollo 17 left the Moon in December 1972 [9].", (), ()),
        ("Apollo 17 left the Moon in December 1972.", (), ()),
    ],
)
def test_numbers_and_words_that_the_cited_strips_lack_are_named_as_written(
    answer: str, numbers: tuple[str, ...], words: tuple[str, ...]
) -> None:
    (sentence,) = checked(answer).sentences
    assert (sentence.numbers, sentence.words) == (numbers, words)


def test_chinese_words_that_are_lacking_are_named_whole_and_the_rarest_of_many() -> None:
    kept = held("检索器的批量大小为 128，学习率很低。", "检索器在八张显卡上训练，批量大小为 128。")
    assert kept.words == ("学习率很低",)
    many = held(" ".join(f"zyx{letter * 5}" for letter in "abcdefghijkl"), "Nothing of it.")
    assert len(many.words) == 8


def test_a_source_in_another_language_is_told_apart() -> None:
    assert held("The batch size is 128", "批量大小为 128。").foreign
    assert not held("The batch size is 64", "The batch size is 128.").foreign
