"""Kept grades save calls, and whatever happens to their file costs a call at most."""

from __future__ import annotations

import sqlite3
import threading
from datetime import date, timedelta
from pathlib import Path

import pytest
from judging import ReadingModel, a_document, documents_in

from crag.agent_model.base import Ledger
from crag.errors import ModelError
from crag.evaluator.grade_cache import GradeCache
from crag.evaluator.llm import LlmJudge
from crag.schema import Document

TODAY = date(2026, 12, 1)
QUESTION = "In which year did the moon landing take place?"
MOON = a_document("moon", "The moon is far.", "The answer is 1969.")
BREAD = a_document("bread", "Bread rises.")


@pytest.fixture
def cache(tmp_path: Path) -> GradeCache:
    return GradeCache(tmp_path / "cache" / "grades.db")


def judge_over(model: ReadingModel, cache: GradeCache, today: date = TODAY) -> LlmJudge:
    return LlmJudge(model, Ledger(), cache, today)


async def test_a_question_asked_again_costs_no_call_in_another_turn_or_process(tmp_path: Path) -> None:
    model = ReadingModel()
    path = tmp_path / "grades.db"
    first = await judge_over(model, GradeCache(path)).grade(QUESTION, [MOON, BREAD])
    judge = judge_over(model, GradeCache(path))
    assert await judge.grade(QUESTION, [BREAD, MOON]) == [g.model_copy(update={"cached": True}) for g in first[::-1]]
    assert judge.suggested_query(QUESTION) == "moon landing year"
    assert len(model.prompts) == 1


async def test_only_documents_without_a_grade_are_sent(cache: GradeCache) -> None:
    model = ReadingModel()
    await judge_over(model, cache).grade(QUESTION, [MOON])
    await judge_over(model, cache).grade(QUESTION, [MOON, BREAD])
    assert [len(documents_in(prompt)) for prompt in model.prompts] == [1, 1]
    assert "Bread rises." in model.prompts[1]


@pytest.mark.parametrize(
    "other",
    [
        MOON.model_copy(update={"text": "The moon is near."}),
        MOON.model_copy(update={"heading": "Another"}),
        MOON.model_copy(update={"published": "2020"}),
        MOON.model_copy(update={"strips": MOON.strips[:1]}),
    ],
)
async def test_another_text_is_graded_anew(cache: GradeCache, other: Document) -> None:
    model = ReadingModel()
    await judge_over(model, cache).grade(QUESTION, [MOON])
    await judge_over(model, cache).grade(QUESTION, [other])
    assert len(model.prompts) == 2


async def test_another_question_or_model_is_asked_anew_but_not_another_file_with_the_same_text(
    cache: GradeCache,
) -> None:
    model, other = ReadingModel(), ReadingModel(name="test:other")
    await judge_over(model, cache).grade(QUESTION, [MOON])
    await judge_over(model, cache).grade(QUESTION, [MOON.model_copy(update={"id": "x", "files": ("b.pdf",)})])
    assert len(model.prompts) == 1
    await judge_over(model, cache).grade("Another question?", [MOON])
    await judge_over(other, cache).grade(QUESTION, [MOON])
    assert (len(model.prompts), len(other.prompts)) == (2, 1)


async def test_a_grade_lasts_a_month_and_a_query_its_day(cache: GradeCache) -> None:
    model = ReadingModel()
    await judge_over(model, cache).grade(QUESTION, [MOON])
    later = judge_over(model, cache, TODAY + timedelta(days=30))
    await later.grade(QUESTION, [MOON])
    assert later.suggested_query(QUESTION) is None, "this year may be another one: the rewriter is asked"
    assert len(model.prompts) == 1
    await judge_over(model, cache, TODAY + timedelta(days=31)).grade(QUESTION, [MOON])
    assert len(model.prompts) == 2


async def test_a_failure_is_not_kept(cache: GradeCache) -> None:
    def fails(prompt: str) -> dict[str, object]:
        raise ModelError("No server.")

    await judge_over(ReadingModel(says=fails), cache).grade(QUESTION, [MOON])
    (grade,) = await judge_over(ReadingModel(), cache).grade(QUESTION, [MOON])
    assert grade.document.score == 0.9


async def test_a_grade_of_a_beginning_is_not_kept(cache: GradeCache) -> None:
    long = a_document("long", "The answer.", *(f"Filler {n} " + "word " * 60 for n in range(60)))
    await judge_over(ReadingModel(tokens=3000), cache).grade(QUESTION, [long])
    (grade,) = await judge_over(ReadingModel(), cache).grade(QUESTION, [long])
    assert grade.document.features == {}
    assert all(strip.score is not None for strip in grade.strips)


async def test_grading_again_asks_past_what_is_kept_and_replaces_it(cache: GradeCache) -> None:
    await judge_over(ReadingModel(), cache).grade(QUESTION, [MOON])
    changed = ReadingModel(says=lambda _: {"grades": [{"id": "d1", "score": 3, "reason": "less", "strips": []}]})
    grade = await judge_over(changed, cache).grade_again(QUESTION, MOON)
    assert (grade.document.score, grade.document.reason) == (0.3, "less")
    judge = judge_over(changed, cache)
    assert await judge.grade(QUESTION, [MOON]) == [grade.model_copy(update={"cached": True})]
    assert judge.suggested_query(QUESTION) == "moon landing year", "the query stays"
    assert len(changed.prompts) == 1


async def test_grading_again_that_fails_leaves_what_is_kept(cache: GradeCache) -> None:
    kept = await judge_over(ReadingModel(), cache).grade(QUESTION, [MOON])
    broken = ReadingModel(says=lambda _: {"grades": []})
    assert (await judge_over(broken, cache).grade_again(QUESTION, MOON)).document.score is None
    again = await judge_over(broken, cache).grade(QUESTION, [MOON])
    assert again == [grade.model_copy(update={"cached": True}) for grade in kept]


@pytest.mark.parametrize("damage", ["no database", "half a database", "another schema", "an unreadable grade"])
async def test_a_damaged_file_costs_a_call_and_is_set_aside(tmp_path: Path, damage: str) -> None:
    path, model = tmp_path / "grades.db", ReadingModel()
    cache = GradeCache(path)
    await judge_over(model, cache).grade(QUESTION, [MOON])
    cache.close()
    match damage:
        case "no database":
            path.write_bytes(b"This is no database. " * 1000)
        case "half a database":
            path.write_bytes(path.read_bytes()[:5000])
        case "another schema":
            with sqlite3.connect(path) as connection:
                connection.execute("ALTER TABLE kept DROP COLUMN value")
            connection.close()
        case "an unreadable grade":
            with sqlite3.connect(path) as connection:
                connection.execute("""UPDATE kept SET value = '{"document": {"score": 7}}'""")
            connection.close()
    for _ in range(2):
        (grade,) = await judge_over(model, GradeCache(path)).grade(QUESTION, [MOON])
        assert grade.document.score == 0.9
    assert len(model.prompts) == 2, "asked once more, then kept again"
    assert (tmp_path / "grades.db.damaged").exists() == (damage != "an unreadable grade")


async def test_a_place_that_cannot_be_written_costs_calls_only(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    model = ReadingModel()
    for _ in range(2):
        cache = GradeCache(tmp_path / "file" / "grades.db")
        (grade,) = await judge_over(model, cache).grade(QUESTION, [MOON])
        assert grade.document.score == 0.9
    assert len(model.prompts) == 2


def test_the_file_stays_bounded_and_keeps_what_was_used_last(tmp_path: Path) -> None:
    cache = GradeCache(tmp_path / "grades.db", limit=10)
    cache.put({str(n): "old" for n in range(8)}, TODAY)
    tomorrow = TODAY + timedelta(days=1)
    assert cache.get(["3"], TODAY, tomorrow) == {"3": "old"}
    cache.put({f"new {n}": "new" for n in range(8)}, tomorrow)
    held = cache.get([*map(str, range(8)), *(f"new {n}" for n in range(8))], TODAY, tomorrow)
    assert len(held) == 9
    assert {"3", *(f"new {n}" for n in range(8))} == set(held)


def test_threads_share_it_and_many_keys_are_found(tmp_path: Path) -> None:
    path = tmp_path / "grades.db"
    caches = [GradeCache(path), GradeCache(path)]
    threads = [
        threading.Thread(target=caches[n % 2].put, args=({f"{n}-{m}": "v" for m in range(100)}, TODAY))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(caches[0].get([f"{n}-{m}" for n in range(8) for m in range(100)], TODAY, TODAY)) == 800


async def test_neither_question_nor_document_is_kept_in_the_clear(tmp_path: Path) -> None:
    path = tmp_path / "grades.db"
    silent = ReadingModel(
        says=lambda _: {"grades": [{"id": "d1", "score": 3, "reason": "", "strips": []}], "query": ""}
    )
    await judge_over(silent, GradeCache(path)).grade(QUESTION, [MOON])
    kept = path.read_bytes()
    assert b"score" in kept
    assert b"moon" not in kept
    assert b"1969" not in kept
