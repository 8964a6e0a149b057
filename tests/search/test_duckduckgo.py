"""DuckDuckGo through the real ddgs, its engines replaced by one that asks a server on loopback."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from typing import Any, ClassVar

import pytest
from ddgs.base import BaseSearchEngine
from ddgs.engines import ENGINES
from ddgs.results import TextResult
from search_service import Service, service

from crag.errors import WebSearchError
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


async def test_stop_ends_the_wait_at_once_and_no_further_engine_is_asked(
    web: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ENGINES["text"]["loopback"]
    several = [type(f"Engine{n}", (engine,), {"name": f"e{n}", "provider": f"e{n}"}) for n in range(6)]
    monkeypatch.setitem(ENGINES, "text", {one.name: one for one in several})
    web.after = 0.5
    web.says([])
    searching = asyncio.ensure_future(DuckDuckGo().search("anvil"))
    while len(web.requests) < 2:  # noqa: ASYNC110 - two engines are asked at the same time
        await asyncio.sleep(0.01)
    stopped = time.monotonic()
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching
    assert time.monotonic() - stopped < 0.3
    await asyncio.sleep(1.2)
    assert len(web.requests) == 2


async def test_many_slow_engines_are_given_up_together(web: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    web.after = 2
    with pytest.raises(WebSearchError, match=r"within 0\.3 seconds"):
        await DuckDuckGo(patience=0.3).search("anvil")


async def test_nothing_found_is_an_answer(web: Service) -> None:
    web.says([])
    assert (await DuckDuckGo().search("anvil")).results == ()
