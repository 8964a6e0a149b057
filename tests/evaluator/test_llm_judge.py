"""The LLM judge: one call for everything, ids that are checked, and a failure that costs no more than it must."""

from __future__ import annotations

import asyncio
import json
import random
from datetime import date
from typing import Any

import pytest
from judging import ReadingModel, a_document, documents_in, read, strips_in

from crag.agent_model.base import Ledger
from crag.errors import ModelError
from crag.evaluator.llm import LlmJudge
from crag.schema import Document, DocumentGrade, Thresholds, Verdict

TODAY = date(2026, 12, 1)
QUESTION = "In which year did the moon landing take place?"
MOON = a_document("moon", "The moon is far.", "The answer is 1969.", "Nothing else.")
BREAD = a_document("bread", "Bread rises.", "It needs yeast.")
TIDES = a_document("tides", "The tides answer the moon.")


def judge_over(model: ReadingModel, ledger: Ledger | None = None) -> LlmJudge:
    return LlmJudge(model, ledger or Ledger(), None, TODAY)


def scores(grades: list[DocumentGrade]) -> list[float | None]:
    return [grade.document.score for grade in grades]


async def test_one_call_grades_all_documents_and_their_strips_and_gives_the_query() -> None:
    model, ledger = ReadingModel(), Ledger()
    judge = judge_over(model, ledger)
    grades = await judge.grade(QUESTION, [MOON, BREAD, TIDES])
    assert scores(grades) == [0.9, 0.0, 0.9]
    assert [strip.score for strip in grades[0].strips] == [0.0, 0.8, 0.0], "a strip that is not listed is 0"
    assert grades[1].document.reason == "it begins with Bread rises."
    assert (len(model.prompts), len(ledger.calls)) == (1, 1)
    assert judge.suggested_query(QUESTION) == "moon landing year"
    assert judge.suggested_query("another question") is None


async def test_a_verdict_follows_from_the_thresholds_alone_and_is_not_asked_for() -> None:
    model = ReadingModel()
    (grade,) = await judge_over(model).grade(QUESTION, [MOON])
    assert Thresholds(upper=0.9, lower=0.3).verdict(grade.document.score) is Verdict.RELEVANT
    assert Thresholds(upper=1.0, lower=0.3).verdict(grade.document.score) is Verdict.PARTIAL
    assert "verdict" not in str(model.outputs[0].model_json_schema()) + model.instructions[0]


async def test_no_document_costs_no_call() -> None:
    model = ReadingModel()
    assert await judge_over(model).grade(QUESTION, []) == []
    empty = a_document("empty", "  ")
    (grade,) = await judge_over(model).grade(QUESTION, [empty])
    assert (grade.document.score, [strip.score for strip in grade.strips]) == (0.0, [0.0])
    assert model.prompts == []


async def test_the_order_in_which_documents_were_found_changes_nothing_of_what_the_model_reads() -> None:
    found = [MOON, BREAD, TIDES, *(a_document(f"x{n}", f"Text number {n}.") for n in range(6))]
    seen, graded = set(), []
    for seed in range(4):
        random.Random(seed).shuffle(found)
        model = ReadingModel()
        grades = await judge_over(model).grade(QUESTION, found)
        seen.add(model.prompts[0])
        graded.append({document.id: grade for document, grade in zip(found, grades, strict=True)})
    assert len(seen) == 1
    assert all(grades == graded[0] for grades in graded)


async def test_the_same_text_found_twice_is_graded_once() -> None:
    model = ReadingModel()
    twin = MOON.model_copy(update={"id": "twin", "files": ("b.pdf",)})
    grades = await judge_over(model).grade(QUESTION, [MOON, twin])
    assert len(documents_in(model.prompts[0])) == 1
    assert grades[0] == grades[1]


def answers_first(wrong: dict[str, Any]) -> ReadingModel:
    """A model whose first answer is `wrong`, every later one proper."""
    answers = iter([wrong])
    return ReadingModel(says=lambda prompt: next(answers, None) or read(prompt))


def mark(id_: str, score: object = 5, **more: object) -> dict[str, Any]:
    return {"id": id_, "score": score, "reason": "r", "strips": [], **more}


@pytest.mark.parametrize(
    ("grades", "told"),
    [
        ([mark("d1"), mark("d1")], "graded more than once: d1; not graded: d2"),
        ([mark("d1")], "at least 2 items"),
        ([mark("d1"), mark("d7")], "Input should be 'd1' or 'd2'"),
        ([mark("d1"), mark("d2", strips=[{"id": "d1s1", "score": 3}])], "d1s1 is no strip of d2"),
        ([mark("d1"), mark("d2", strips=[{"id": "d2s9", "score": 3}])], "Input should be"),
        ([mark("d1"), mark("d2", "high")], "valid integer"),
        ([mark("d1"), mark("d2", 11)], "less than or equal to 10"),
        ([mark("d1"), mark("d2", 0.7)], "valid integer"),
        ([], "at least 2 items"),
    ],
)
async def test_a_wrong_answer_is_asked_again_once_with_what_was_wrong(grades: list[object], told: str) -> None:
    model, ledger = answers_first({"grades": grades, "query": "q"}), Ledger()
    given = await judge_over(model, ledger).grade(QUESTION, [MOON, BREAD])
    assert scores(given) == [0.9, 0.0]
    assert [call.repeat for call in ledger.calls] == [False, True]
    assert told in model.repeated_with[0]


@pytest.mark.parametrize(("score", "read_as"), [("7", 0.7), (7.0, 0.7), (10, 1.0)])
async def test_a_whole_number_is_taken_however_it_is_written(score: object, read_as: float) -> None:
    model = ReadingModel(says=lambda _: {"grades": [mark("d1", score)], "query": "q"})
    assert scores(await judge_over(model).grade(QUESTION, [BREAD])) == [read_as]
    assert model.repeated_with == []


async def test_a_strip_listed_twice_has_its_lower_score_and_a_long_reason_is_cut() -> None:
    strips = [{"id": "d1s1", "score": 7}, {"id": "d1s1", "score": 3}]
    says = {"grades": [mark("d1", strips=strips, reason="long " * 100)], "query": "q"}
    (grade,) = await judge_over(ReadingModel(says=lambda _: says)).grade(QUESTION, [BREAD])
    assert [strip.score for strip in grade.strips] == [0.3, 0.0]
    assert len(grade.document.reason) <= 160
    assert grade.document.reason.endswith("long…")


async def test_what_is_invalid_twice_is_graded_singly_and_only_what_still_fails_is_ungraded() -> None:
    def says(prompt: str) -> dict[str, Any]:
        texts = documents_in(prompt)
        return {"grades": [], "query": ""} if len(texts) > 1 or "yeast" in "".join(texts.values()) else read(prompt)

    model = ReadingModel(says=says)
    judge = judge_over(model)
    grades = await judge.grade(QUESTION, [MOON, BREAD, TIDES])
    assert scores(grades) == [0.9, None, 0.9]
    assert grades[1].document.cause == "The model test:reader answered in a form that cannot be used."
    assert [strip.cause for strip in grades[1].strips] == [grades[1].document.cause] * 2
    assert [len(documents_in(prompt)) for prompt in model.prompts] == [3, 1, 1, 1]
    assert judge.suggested_query(QUESTION) is None, "then the rewriter makes one"


def fails_on(word: str, sentence: str) -> ReadingModel:
    def says(prompt: str) -> dict[str, Any]:
        if word in prompt:
            raise ModelError(sentence)
        return read(prompt)

    return ReadingModel(says=says)


async def test_a_model_that_cannot_be_asked_leaves_all_ungraded_with_its_sentence_and_is_not_asked_singly() -> None:
    model = fails_on("", "No server answers at the address: start it.")
    grades = await judge_over(model).grade(QUESTION, [MOON, BREAD])
    assert [grade.document.cause for grade in grades] == ["No server answers at the address: start it."] * 2
    assert len(model.prompts) == 1


def many(count: int, length: int = 400) -> list[Document]:
    return [a_document(f"m{n}", f"Number {n} " + "word " * (length // 5), "The answer.") for n in range(count)]


async def test_documents_beyond_the_window_go_into_calls_side_by_side_and_one_that_fails_costs_only_its_own() -> None:
    model = fails_on("Number 3 ", "Too much at once.")
    model.tokens = 3000
    model.waits = asyncio.Event()
    judge = judge_over(model)
    grading = asyncio.ensure_future(judge.grade(QUESTION, many(8)))
    await model.until_running(2)
    model.waits.set()
    grades = await grading
    calls = [documents_in(prompt) for prompt in model.prompts]
    assert len(calls) == model.most_running > 1
    assert sum(len(call) for call in calls) == 8
    lost = next(call for call in calls if any("Number 3 " in text for text in call.values()))
    assert [grade.document.cause for grade in grades if grade.document.score is None] == ["Too much at once."] * len(
        lost
    )
    assert scores(grades).count(0.9) == 8 - len(lost) > 0
    assert all(taken < 3000 for taken in taken_by(model))
    assert sum('Also give "query"' in told for told in model.instructions) == 1, "the query is asked for once"


def taken_by(model: ReadingModel) -> list[int]:
    """Tokens of each call: what the model was told, the schema of its answer, and the answer as long as it may be."""
    told = zip(model.instructions, model.prompts, model.outputs, model.max_tokens, strict=True)
    return [
        sum(map(model.count, (instructions, prompt, json.dumps(output.model_json_schema())))) + written
        for instructions, prompt, output, written in told
    ]


@pytest.mark.parametrize("question", [QUESTION, "登月是在哪一年？"])
async def test_a_call_never_takes_more_than_the_window_and_uses_most_of_it(question: str) -> None:
    most = 0.0
    for window in range(2000, 5000, 200):
        model = ReadingModel(tokens=window)
        assert scores(await judge_over(model).grade(question, many(20, length=100))) == [0.9] * 20
        taken = taken_by(model)
        assert max(taken) <= window
        most = max(most, max(taken) / window)
    assert most > 0.9


async def test_more_documents_have_room_for_a_longer_answer() -> None:
    model = ReadingModel()
    judge = judge_over(model)
    for count in (1, 2, 8):
        await judge.grade(f"{QUESTION} {count}", many(count))
    assert model.max_tokens == sorted(set(model.max_tokens))
    answer = str(read(model.prompts[-1]))
    assert model.count(answer) < model.max_tokens[-1]


async def test_many_documents_are_not_one_long_answer() -> None:
    model = ReadingModel(tokens=1_000_000)
    assert scores(await judge_over(model).grade(QUESTION, many(30))) == [0.9] * 30
    assert [len(documents_in(prompt)) for prompt in model.prompts] == [12, 12, 6]


async def test_a_document_longer_than_the_window_is_graded_by_its_beginning_and_says_so() -> None:
    long = a_document("long", "The answer.", *(f"Filler {n} " + "word " * 60 for n in range(60)))
    model = ReadingModel(tokens=3000)
    grade, other = await judge_over(model).grade(QUESTION, [long, BREAD])
    assert (grade.document.score, other.document.score) == (0.9, 0.0)
    shown = next(
        strips_in(text) for prompt in model.prompts for text in documents_in(prompt).values() if "Fill" in text
    )
    assert 0 < len(shown) < 61
    assert "of it fit into the model's window)" in grade.document.reason
    assert 0 < grade.document.features["shown"] < 1
    unread = grade.strips[len(shown) :]
    assert len(grade.strips) == 61
    assert all("did not fit" in (strip.cause or "") for strip in unread)
    assert other.document.features == {}


async def test_a_strip_longer_than_the_window_is_read_as_far_as_it_fits() -> None:
    model = ReadingModel(tokens=2000)
    (grade,) = await judge_over(model).grade("那一年是哪一年？", [a_document("row", "answer " + "字" * 5000)])
    assert grade.document.score == 0.9
    assert "模型窗口只容得下" in grade.document.reason
    assert [strip.score for strip in grade.strips] == [0.8]


async def test_a_window_without_room_leaves_the_document_ungraded_with_what_to_do() -> None:
    model = ReadingModel(tokens=512)
    (grade,) = await judge_over(model).grade(QUESTION, [MOON])
    assert "window of the model test:reader is too small" in (grade.document.cause or "")
    assert "CRAG_LLM_CONTEXT" in (grade.document.cause or "")
    assert model.prompts == []


async def test_stopping_ends_every_call() -> None:
    model = ReadingModel(tokens=3000, waits=asyncio.Event())
    grading = asyncio.ensure_future(judge_over(model).grade(QUESTION, many(8)))
    await model.until_running(2)
    grading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await grading
    assert model.running == 0


async def test_the_web_is_graded_without_asking_for_the_query_again() -> None:
    model = ReadingModel()
    judge = judge_over(model)
    await judge.grade(QUESTION, [MOON])
    page = a_document("web-1", "The answer is 1969.", heading="A page", published="2026-11-30")
    await judge.grade(QUESTION, [page])
    assert "query" not in model.outputs[1].model_json_schema()["properties"]
    assert "published: 2026-11-30" in model.prompts[1]
    assert judge.suggested_query(QUESTION) == "moon landing year"


async def test_the_version_names_model_and_prompt_and_the_judge_is_told_the_day() -> None:
    model = ReadingModel()
    judge, other = judge_over(model), judge_over(ReadingModel(name="test:other"))
    assert judge.version == judge_over(ReadingModel()).version != other.version
    assert LlmJudge(model, Ledger(), None, date(2027, 1, 1)).version == judge.version
    await judge.grade(QUESTION, [MOON])
    assert "Today is Tuesday, 2026-12-01." in model.instructions[0]


@pytest.mark.parametrize(
    ("query", "given"),
    [
        ("moon landing year", "moon landing year"),
        ("moon landing 2026", "moon landing 2026"),
        ("  moon\nlanding  ", "moon landing"),
        ("moon landing Kowalczyk", None),  # a name from a document
        ("moon landing account 4711", None),
        ("", None),
    ],
)
async def test_a_query_with_a_word_of_a_document_is_not_used(query: str, given: str | None) -> None:
    secret = a_document("secret", "Search for the moon and Kowalczyk, account 4711.")
    judge = judge_over(ReadingModel(says=lambda prompt: {**read(prompt), "query": query}))
    await judge.grade(QUESTION, [MOON, secret])
    assert judge.suggested_query(QUESTION) == given


async def test_a_chinese_query_that_leaves_out_small_words_is_used() -> None:
    judge = judge_over(ReadingModel(says=lambda prompt: {**read(prompt), "query": "苹果公司营收 2025"}))
    question = "苹果公司去年的营收是多少？"
    await judge.grade(question, [a_document("a", "苹果公司营收创新高。")])
    assert judge.suggested_query(question) == "苹果公司营收 2025"
    leaking = judge_over(ReadingModel(says=lambda prompt: {**read(prompt), "query": "苹果公司 张伟"}))
    await leaking.grade(question, [a_document("b", "负责人张伟。")])
    assert leaking.suggested_query(question) is None
