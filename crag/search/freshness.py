"""Freshness: how old results of the web may be for a question that asks for what is new."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from crag.search.base import TimeRange
from crag.text import normalise

SAID: Final[tuple[tuple[TimeRange, re.Pattern[str]], ...]] = (
    ("day", re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b|今天|今日|今晚|今早|今晨")),
    (
        "week",
        re.compile(
            r"\b(?:this week|yesterday|tomorrow|past week|(?:last|past) few days|these days)\b"
            r"|本周|这周|這周|本週|這週|这个?(?:星期|礼拜)|這個?(?:星期|禮拜)|昨天|昨日|明天|明日|(?:这|這|近|最近)[几幾]天"
        ),
    ),
    (
        "month",
        re.compile(
            r"\b(?:this month|past month|last week|(?:last|past) few weeks|(?:latest|newest|recent|current) news)\b"
            r"|本月|这个?月|這個?月|上周|上週|上个?(?:星期|礼拜)|上個?(?:星期|禮拜)|最新(?:消息|新闻|新聞)|近期|近日"
        ),
    ),
    (
        "year",
        re.compile(
            r"\b(?:this year|past year|last month|(?:last|past) few months|latest|newest|most recent|recent|recently|"
            r"up[- ]to[- ]date|currently|nowadays)\b|今年|本年|上个?月|上個?月|最新|最近|[目当當]前|[现現]在|[现現]任"
        ),
    ),
)
"""What is said, the shortest range first. "Latest" of most things is months old, so it is no more than "year"."""

_YEAR = re.compile(r"(?<![\d.,:/-])(?:19|20)\d\d(?!\d|[.,:/]\d)")
_SPAN = re.compile(
    r"\b(?:last|past) (?P<n>\d{1,3}|two|three|four|five|six) (?P<unit>hour|day|week|month|year)s?\b"
    r"|(?:最近|近|过去|過去)(?P<zh_n>\d{1,3}|[一两兩二三四五六半])[个個]?(?P<zh_unit>小时|小時|天|日|周|週|星期|月|年)"
)
_NUMBERS = dict(zip("一二三四五六", range(1, 7), strict=True)) | {"两": 2, "兩": 2, "半": 1}
_NUMBERS |= {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_DAYS = {"hour": 1 / 24, "小": 1 / 24, "day": 1, "天": 1, "日": 1, "week": 7, "周": 7, "週": 7, "星": 7}
_DAYS |= {"month": 31, "月": 31, "year": 366, "年": 366}
_LONGEST: Final[tuple[tuple[int, TimeRange], ...]] = ((1, "day"), (7, "week"), (31, "month"), (366, "year"))


def time_range(question: str, today: date) -> TimeRange | None:
    """How old a result may be for `question` (English or Chinese), as asked on the day `today`; None: of any age.

    A year says more than an adverb: this one or a later one asks for the last twelve months, an earlier one for what
    may be of any age ("the latest launch of 1972").
    """
    text = normalise(question)
    years = [int(match.group()) for match in _YEAR.finditer(text)]
    if any(year < today.year for year in years):
        return None
    if span := _SPAN.search(text):
        return _within(span)
    found = next((name for name, said in SAID if said.search(text)), None)
    return found or ("year" if years else None)


def _within(span: re.Match[str]) -> TimeRange | None:
    """The shortest range that holds "the last n units"; None where a year is too short."""
    n, unit = (span["n"], span["unit"]) if span["n"] else (span["zh_n"], span["zh_unit"][0])
    days = _DAYS[unit] * (int(n) if n.isdecimal() else _NUMBERS[n])
    return next((name for longest, name in _LONGEST if days <= longest), None)
