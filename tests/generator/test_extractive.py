"""The quoting generator: the best strips word for word, cited, and honest about being quotes."""

import pytest

from crag.errors import GenerationError
from crag.generator.extractive import ExtractiveGenerator
from crag.generator.not_covered import not_covered
from crag.refinement import recompose
from crag.schema import Fate, GradedDocument, GradedStrip, Knowledge, Span, Verdict


def kept(
    id_: str, text: str, score: float | None, order: int, *, page: int = 1, start: int = 0, file: str = "a.pdf"
) -> GradedStrip:
    return GradedStrip(
        id=id_, text=text, spans=(Span(page=page, start=start, end=start + len(text)),), content=file, files=(file,),
        documents=("d",), order=order, score=score, cause=None if score is not None else "x", fate=Fate.KEPT,
    )  # fmt: skip


async def answer(question: str, *strips: GradedStrip, quotes: int = 3) -> str:
    return "".join([piece.text async for piece in ExtractiveGenerator(quotes).stream(question, recompose(strips))])


async def test_quotes_the_best_strip_first_with_the_number_of_its_source() -> None:
    text = await answer(
        "When was Apollo cancelled?",
        kept("a", "Apollo was announced in 1961.", 0.7, 0),
        kept("b", "The programme ended in 1972.", 0.9, 1, page=2),
    )
    assert text == ("From your documents:\n\n“The programme ended in 1972.” [2]\n\n“Apollo was announced in 1961.” [1]")


async def test_answers_in_the_language_of_the_question() -> None:
    text = await answer("阿波罗计划何时取消？", kept("a", "阿波罗计划于一九七二年结束。", 0.9, 0))
    assert text == "以下是文档原文：\n\n“阿波罗计划于一九七二年结束。” [1]"


async def test_at_most_so_many_strips_are_quoted() -> None:
    strips = [kept(f"s{n}", f"Fact {chr(97 + n) * 8} stands alone.", 0.9 - n / 10, n, page=n + 1) for n in range(5)]
    assert (await answer("facts?", *strips, quotes=2)).count("“") == 2


async def test_neighbouring_strips_are_one_quote() -> None:
    first, second = "Water boils at 100 degrees.", "Salt raises that point slightly."
    strips = kept("a", first, 0.6, 0), kept("b", second, 0.9, 1, start=len(first) + 1)
    assert (await answer("boiling?", *strips)).endswith(f"“{first} {second}” [1]")


async def test_what_is_far_below_the_best_does_not_pad_the_answer() -> None:
    strips = kept("a", "Apollo was announced in 1961.", 0.6, 0), kept("b", "It ended in 1972.", 0.9, 1, page=2)
    assert (await answer("When did it end?", *strips)).count("“") == 1


@pytest.mark.parametrize(("english", "quoted"), [(0.8, 1), (0.95, 2)])
async def test_another_language_is_quoted_only_where_it_says_more(english: float, quoted: int) -> None:
    strips = kept("a", "The tower is 42 metres high.", english, 0), kept("b", "灯塔的塔高四十二米。", 0.9, 1, page=2)
    assert (await answer("灯塔有多高？", *strips)).count("“") == quoted


async def test_a_strip_that_repeats_another_is_left_out() -> None:
    strips = (
        kept("a", "Apollo 17 left the Moon in December 1972.", 0.9, 0),
        kept("b", "apollo 17 left the moon in December 1972", 0.8, 0, file="copy.pdf"),
    )
    assert (await answer("When did Apollo 17 leave?", *strips)).count("“") == 1


async def test_nothing_to_quote_is_an_error_with_a_mend() -> None:
    with pytest.raises(GenerationError, match="lower the strip threshold"):
        [piece async for piece in ExtractiveGenerator().stream("q", Knowledge())]


def scored(id_: str, score: float | None, page: int, file: str) -> GradedDocument:
    return GradedDocument(
        id=id_, content=file, files=(file,), text="t", spans=(Span(page=page, start=0, end=1),), strips=(), score=score,
        cause=None if score is not None else "x", verdict=Verdict.IRRELEVANT,
    )  # fmt: skip


def test_what_is_not_covered_names_the_nearest_documents() -> None:
    documents = [scored("1", None, 9, "u.pdf"), scored("2", 0.1, 3, "a.pdf"), scored("3", 0.2, 7, "b.pdf")]
    assert not_covered("Who won?", documents) == (
        "The knowledge base does not cover this question. "
        "Nearest documents: b.pdf, page 7; a.pdf, page 3; u.pdf, page 9."
    )
    assert not_covered("谁赢了？", documents[1:2]) == "知识库没有涵盖这个问题。最接近的文档：a.pdf，第 3 页。"


def test_what_is_not_covered_without_any_document_says_only_that() -> None:
    assert not_covered("Who won?", []) == "The knowledge base does not cover this question."


def test_nearest_places_are_named_once_and_at_most_three() -> None:
    documents = [scored(str(n), 0.2 - n / 100, n // 2 + 1, "a.pdf") for n in range(10)]
    assert not_covered("Who?", documents).count("a.pdf") == 3
