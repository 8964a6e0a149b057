"""The benches' simulated web behaves to Tavily's own client, and to our adapter, as the documented service does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tavily import AsyncTavilyClient, BadRequestError, InvalidAPIKeyError

from bench._simulated_web import Page, SimulatedWeb, simulated_web
from crag.search.tavily import Tavily

KEY = "tvly-of-the-test"
PAGES = [
    Page("https://web.example/a", "Warsaw", "The Vistula flows through the old town."),
    Page("https://web.example/b", "Steam engine", "Savery patented a pump that raised water by fire in 1698."),
    Page("https://web.example/c", "Pumps", "A pump moves water; a second pump moves more water than one pump does."),
    Page("https://web.example/d", "蒸汽机", "萨弗里于1698年为用火提水的水泵申请了专利。"),
]


@pytest.fixture
def web() -> Iterator[SimulatedWeb]:
    with simulated_web(PAGES, KEY) as running:
        yield running


async def test_the_real_client_gets_ranked_results_in_its_wire_format(web: SimulatedWeb) -> None:
    async with AsyncTavilyClient(KEY, api_base_url=web.url) as client:
        answer = await client.search("Who patented a pump with fire?", max_results=5)
    assert [result["url"] for result in answer["results"]] == ["https://web.example/b", "https://web.example/c"]
    first, second = answer["results"]
    assert (first["title"], first["content"]) == ("Steam engine", PAGES[1].text)
    assert first["raw_content"] is None
    assert first["score"] == 1.0 > second["score"] > 0
    assert answer["query"] == "Who patented a pump with fire?"


async def test_titles_and_chinese_are_found_and_max_results_is_kept(web: SimulatedWeb) -> None:
    async with AsyncTavilyClient(KEY, api_base_url=web.url) as client:
        titled = await client.search("Warsaw")
        chinese = await client.search("水泵专利", include_raw_content=True)
        one = await client.search("pump water", max_results=1)
        nothing = await client.search("parliament")
    assert [result["url"] for result in titled["results"]] == ["https://web.example/a"]
    assert [result["raw_content"] for result in chinese["results"]] == [PAGES[3].text]
    assert len(one["results"]) == 1
    assert nothing["results"] == []


async def test_what_was_asked_is_recorded_with_what_went_back(web: SimulatedWeb) -> None:
    async with AsyncTavilyClient(KEY, api_base_url=web.url) as client:
        await client.search("Vistula")
    assert [(search.query, search.pages) for search in web.searches] == [("Vistula", (PAGES[0],))]


async def test_a_wrong_key_and_a_query_too_long_are_refused_as_documented(web: SimulatedWeb) -> None:
    async with AsyncTavilyClient("tvly-other", api_base_url=web.url) as client:
        with pytest.raises(InvalidAPIKeyError):
            await client.search("Vistula")
    async with AsyncTavilyClient(KEY, api_base_url=web.url) as client:
        with pytest.raises(BadRequestError, match="400 characters"):
            await client.search("river " * 100)
    assert web.searches == []


async def test_the_products_adapter_gets_its_results(web: SimulatedWeb) -> None:
    found = await Tavily(KEY, web.url, max_results=2).search("pump water")
    assert [(result.url, result.title) for result in found.results] == [
        ("https://web.example/c", "Pumps"),
        ("https://web.example/b", "Steam engine"),
    ]
