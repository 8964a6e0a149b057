"""Dates as the person who reads them writes them."""

from __future__ import annotations

import pytest

from crag.ui.dates import day, moment
from crag.ui.texts import Texts


@pytest.mark.parametrize(
    ("language", "locale", "said"),
    [
        ("en", "en-US", "Mar 4, 2026"),
        ("en", "en-GB", "4 Mar 2026"),
        ("en", "de-DE", "Mar 4, 2026"),
        ("en", "", "Mar 4, 2026"),
        ("en", "../x", "Mar 4, 2026"),
        ("zh", "zh-CN", "2026年3月4日"),
        ("zh", "en-US", "2026年3月4日"),
    ],
)
def test_a_day_is_written_as_in_the_language_and_its_region(language: str, locale: str, said: str) -> None:
    assert day("2026-03-04", Texts(language, locale)) == said
    assert day("2026-03-04T10:00:00+00:00", Texts(language, locale)) == said


@pytest.mark.parametrize("stamp", ["", "3 days ago", "20260", "昨天"])
def test_what_is_no_date_stays_as_it_is(stamp: str) -> None:
    assert day(stamp, Texts("en")) == stamp
    assert moment(stamp, Texts("en")) == stamp


def test_a_moment_is_that_of_the_persons_clock_and_utc_where_that_is_not_known() -> None:
    stamp = "2026-03-04T23:30:15+00:00"
    told = [moment(stamp, Texts(*who)).replace("\u202f", " ") for who in (
        ("en", "en-GB", "Europe/Vienna"), ("zh", "zh-CN", "Asia/Shanghai"), ("en", "en-US", "Mars/Base"), ("en",)
    )]  # fmt: skip
    assert told == ["5 Mar 2026 00:30", "2026年3月5日 07:30", "Mar 4, 2026 11:30 PM UTC", "Mar 4, 2026 11:30 PM UTC"]
