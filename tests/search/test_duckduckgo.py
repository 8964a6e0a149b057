"""DuckDuckGo through the real ddgs, its engines replaced by one that asks a server on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from ddgs.base import BaseSearchEngine
from ddgs.engines import ENGINES
from ddgs.results import TextResult
from search_service import Service, service

from crag.search.duckduckgo import DuckDuckGo


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with service() as found:

        class Loopback(BaseSearchEngine[TextResult]):
            name, category, provider = "loopback", "text", "loopback"
            search_url: ClassVar[str] = f"{found.url}/search"
            search_method = "GET"

            def build_payload(
                self, query: str, region: str, safesearch: str, timelimit: str | None, page: int = 1, **_: Any
            ) -> dict[str, Any]:
                return {"q": query, "region": region, "timelimit": timelimit or ""}

            def extract_results(self, html_text: str) -> list[TextResult]:
                return [TextResult(**row) for row in json.loads(html_text)]

        monkeypatch.setitem(ENGINES, "text", {"loopback": Loopback})
        yield found


async def test_results_come_back_typed_and_the_age_and_region_are_sent(web: Service) -> None:
    web.says([{"title": "Anvils", "href": "https://a.com/x", "body": "An anvil weighs 50 kilograms."}])
    (result,) = (await DuckDuckGo().search("anvil weight", "week")).results
    assert (result.url, result.title, result.text) == ("https://a.com/x", "Anvils", "An anvil weighs 50 kilograms.")
    assert web.requests[0]["params"] == {"q": "anvil weight", "region": "us-en", "timelimit": "w"}


async def test_a_chinese_query_asks_in_china(web: Service) -> None:
    web.says([{"title": "铁砧", "href": "https://a.cn/x", "body": "铁砧重五十公斤。"}])
    await DuckDuckGo().search("铁砧重量")
    assert web.requests[0]["params"]["region"] == "cn-zh"


async def test_nothing_found_is_an_answer(web: Service) -> None:
    web.says([])
    assert (await DuckDuckGo().search("anvil")).results == ()
