"""What asks for news limits the age of what the web may give; what does not leaves it open."""

from datetime import date

import pytest

from crag.search.freshness import time_range

TODAY = date(2026, 12, 1)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is today's exchange rate?", "day"),
        ("今天的汇率是多少？", "day"),
        ("Which strikes are planned this week?", "week"),
        ("本周有哪些展览？", "week"),
        ("What did the central bank decide in the last 3 days?", "week"),
        ("过去24小时发生了什么？", "day"),
        ("What was decided last week?", "month"),
        ("最新消息", "month"),
        ("sales of the past two weeks", "month"),
        ("What is the latest version of the standard?", "year"),
        ("Which are the NEWEST rules?", "year"),
        ("最新的版本是什么？", "year"),
        ("最近三个月的销量", "year"),
        ("Who won the election of 2026?", "year"),
        ("2026年的冠军是谁？", "year"),
        ("What is planned for 2027?", "year"),
        ("Which law came this year, in 2026?", "year"),
        ("What happened today in 2026?", "day"),
    ],
)
def test_a_question_for_news_says_how_old_a_result_may_be(question: str, expected: str) -> None:
    assert time_range(question, TODAY) == expected


@pytest.mark.parametrize(
    "question",
    [
        "What does the anvil weigh?",
        "灯塔有多高？",
        "Who won in 2025?",
        "What was the latest launch of 1972?",
        "How did prices change from 2020 to 2026?",
        "sales of the last 5 years",
        "It weighs 2026.5 kilograms",
        "What carries electric current?",
        "the todays",
        "",
    ],
)
def test_other_questions_take_results_of_any_age(question: str) -> None:
    assert time_range(question, TODAY) is None


def test_what_counts_as_this_year_moves_with_the_day() -> None:
    assert time_range("the budget of 2026", date(2025, 1, 1)) == "year"
    assert time_range("the budget of 2026", date(2027, 1, 1)) is None
