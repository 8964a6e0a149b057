"""What a search has found is used again for a while, searches a day are counted, sites are chosen, texts fetched."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from crag.errors import WebSearchError
from crag.search.base import Answered, TimeRange, WebResult
from crag.search.choosing import Sites
from crag.search.kept import KeptSearch, Limits, spent_today

FOUND = (
    WebResult("https://a.com/1", "One", "The first page says a good deal about anvils and hammers."),
    WebResult(
        "https://en.wikipedia.org/wiki/Anvil", "Anvil", "An encyclopedia says that an anvil weighs 50 kilograms."
    ),
)


class Provider:
    name = "provider"

    def __init__(self, *found: WebResult) -> None:
        self.found = found
        self.asked: list[tuple[str, TimeRange | None]] = []

    async def search(self, query: str, time_range: TimeRange | None = None) -> Answered:
        self.asked.append((query, time_range))
        return Answered(self.found)


def kept(provider: Provider, folder: Path, limits: Limits | None = None, **options: object) -> KeptSearch:
    given = {"sites": Sites(), "limits": limits or Limits(), **options}
    return KeptSearch(provider, folder / "web.db", **given)  # type: ignore[arg-type]


async def test_a_search_that_was_made_before_sends_nothing(tmp_path: Path) -> None:
    provider = Provider(*FOUND)
    first = await kept(provider, tmp_path, Limits(price=0.01)).search("anvil weight")
    again = await kept(provider, tmp_path, Limits(price=0.01)).search(" Anvil  WEIGHT ")
    assert provider.asked == [("anvil weight", None)]
    assert (first.cached, first.cost, again.cached, again.cost) == (False, 0.01, True, 0.0)
    assert first.results == again.results
    assert [result.url for result in first.results] == [FOUND[1].url, FOUND[0].url]


@pytest.mark.parametrize("changed", ["query", "age", "sites", "options"])
async def test_another_search_is_made(changed: str, tmp_path: Path) -> None:
    provider = Provider(*FOUND)
    await kept(provider, tmp_path).search("anvil")
    options: dict[str, object] = {"sites": Sites(deny=("a.com",))} if changed == "sites" else {}
    options |= {"options": "advanced"} if changed == "options" else {}
    await kept(provider, tmp_path, **options).search(
        "hammer" if changed == "query" else "anvil", "day" if changed == "age" else None
    )
    assert len(provider.asked) == 2


async def test_what_is_older_than_its_lifetime_is_searched_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider, limits = Provider(*FOUND), Limits(hours=1)
    await kept(provider, tmp_path, limits).search("anvil")
    later = time.time() + 3700
    monkeypatch.setattr("crag.search.kept.time.time", lambda: later)
    assert not (await kept(provider, tmp_path, limits).search("anvil")).cached


async def test_nothing_is_kept_where_that_is_not_wanted_nor_where_nothing_was_found(tmp_path: Path) -> None:
    provider = Provider(*FOUND)
    for _ in range(2):
        assert not (await kept(provider, tmp_path, Limits(hours=0)).search("anvil")).cached
    for empty in (Provider(), Provider(WebResult("https://a.com/1", "Its page could not be read this time", " "))):
        for _ in range(2):
            assert not (await kept(empty, tmp_path).search("nothing")).cached


async def test_the_searches_of_a_day_end_at_the_limit_and_kept_results_do_not_count(tmp_path: Path) -> None:
    provider, limits = Provider(*FOUND), Limits(daily=2)
    for query in ("a", "b", "a", "b"):
        await kept(provider, tmp_path, limits).search(query)
    with pytest.raises(WebSearchError, match=r"used up \(2 a day\)"):
        await kept(provider, tmp_path, limits).search("c")
    assert len(provider.asked) == 2
    assert spent_today(tmp_path / "web.db") == 2
    assert (await kept(provider, tmp_path, Limits(daily=3)).search("c")).results


async def test_a_damaged_file_costs_a_search_but_a_budget_that_cannot_be_counted_is_told(tmp_path: Path) -> None:
    provider = Provider(*FOUND)
    (tmp_path / "web.db").write_bytes(b"this is no database " * 100)
    assert (await kept(provider, tmp_path).search("anvil")).results
    with pytest.raises(WebSearchError, match="cannot be counted"):
        await kept(provider, tmp_path, Limits(daily=5)).search("anvil")
    assert (spent_today(tmp_path / "web.db"), spent_today(tmp_path / "none.db")) == (0, 0)


async def test_the_usual_age_holds_where_the_question_does_not_say(tmp_path: Path) -> None:
    provider = Provider(*FOUND)
    search = kept(provider, tmp_path, usual_range="month")
    await search.search("anvil")
    await search.search("anvil", "day")
    assert provider.asked == [("anvil", "month"), ("anvil", "day")]
