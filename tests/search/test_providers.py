"""Each provider is asked in its own documented form, and what it says becomes results or one sentence."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import SecretStr
from search_service import Service, service

from crag.errors import ConfigurationError, WebSearchError
from crag.search.base import WebResult
from crag.search.providers import PROVIDERS, HttpSearch

KEY = "secret-key-123"
ROW = {"title": "Anvils", "url": "https://a.com/x", "link": "https://a.com/x"}
TEXT = "An anvil weighs 50 kilograms &amp; more."
ANSWERS: dict[str, Any] = {
    "brave": {"web": {"results": [ROW | {"description": f"<strong>{TEXT}</strong>", "page_age": "2026-05-01"}]}},
    "exa": {"results": [ROW | {"text": TEXT, "publishedDate": "2026-05-01", "score": 0.7}]},
    "serper": {"organic": [ROW | {"snippet": TEXT, "date": "2026-05-01"}]},
    "serpapi": {"organic_results": [ROW | {"snippet": TEXT, "date": "2026-05-01"}]},
    "google": {"items": [ROW | {"snippet": TEXT}]},
    "firecrawl": {"success": True, "data": {"web": [ROW | {"description": TEXT}]}},
    "searxng": {"results": [ROW | {"content": TEXT, "publishedDate": "2026-05-01", "score": 1.5}]},
}
EMPTY: dict[str, Any] = {
    "brave": {"query": {}},
    "exa": {"results": []},
    "serper": {"organic": []},
    "serpapi": {"error": "Google hasn't returned any results for this query."},
    "google": {"searchInformation": {"totalResults": "0"}},
    "firecrawl": {"success": True, "data": {"web": []}},
    "searxng": {"results": []},
}
NAMES = sorted(PROVIDERS)


@pytest.fixture
def web() -> Iterator[Service]:
    with service() as found:
        yield found


def searching(name: str, web: Service, **options: Any) -> HttpSearch:
    return HttpSearch(name, SecretStr(KEY), web.url, **options)


@pytest.mark.parametrize("name", NAMES)
async def test_results_come_back_typed(name: str, web: Service) -> None:
    web.says(ANSWERS[name])
    (result,) = (await searching(name, web).search("anvil weight")).results
    assert (result.url, result.title, result.text) == (
        "https://a.com/x",
        "Anvils",
        "An anvil weighs 50 kilograms & more.",
    )
    assert result.published == (None if name in ("google", "firecrawl") else "2026-05-01")
    assert result.score == {"exa": 0.7, "searxng": 1.5}.get(name)


@pytest.mark.parametrize(
    ("name", "method", "path", "header", "sent"),
    [
        (
            "brave", "GET", "/res/v1/web/search", ("x-subscription-token", KEY),
            {"q": "anvil", "count": "7", "freshness": "pw", "text_decorations": "false"},
        ),
        ("serper", "POST", "/search", ("x-api-key", KEY), {"q": "anvil", "num": 7, "tbs": "qdr:w"}),
        (
            "serpapi", "GET", "/search.json", None,
            {"engine": "google", "q": "anvil", "num": "7", "tbs": "qdr:w", "api_key": KEY},
        ),
        (
            "google", "GET", "/customsearch/v1", ("x-goog-api-key", KEY),
            {"q": "anvil", "cx": "engine-1", "num": "7", "dateRestrict": "w1"},
        ),
        (
            "firecrawl", "POST", "/v2/search", ("authorization", f"Bearer {KEY}"),
            {"query": "anvil", "limit": 7, "tbs": "qdr:w"},
        ),
        ("searxng", "GET", "/search", None, {"q": "anvil", "format": "json", "language": "en", "time_range": "week"}),
    ],
)  # fmt: skip
async def test_each_is_asked_in_its_own_form(
    name: str, method: str, path: str, header: tuple[str, str] | None, sent: dict[str, Any], web: Service
) -> None:
    web.says(ANSWERS[name])
    await searching(name, web, most=7, engine="engine-1").search("anvil", "week")
    (request,) = web.requests
    assert (request["method"], request["path"]) == (method, path)
    assert (request["params"] if method == "GET" else request["body"]) == sent
    if header:
        assert request["headers"][header[0]] == header[1]


async def test_exa_is_asked_for_texts_since_a_day_and_within_sites(web: Service) -> None:
    web.says(ANSWERS["exa"])
    await searching("exa", web, most=3, allow=("a.com",)).search("anvil", "day")
    (request,) = web.requests
    since = request["body"].pop("startPublishedDate")
    assert 0 <= (datetime.now(UTC) - datetime.fromisoformat(since)).days <= 2
    assert request["headers"]["x-api-key"] == KEY
    assert request["body"] == {
        "query": "anvil",
        "numResults": 3,
        "contents": {"text": {"maxCharacters": 4000}},
        "includeDomains": ["a.com"],
    }


@pytest.mark.parametrize("name", ["brave", "serper", "serpapi", "google", "firecrawl"])
async def test_sites_go_into_the_query_as_search_engines_write_them(name: str, web: Service) -> None:
    web.says(ANSWERS[name])
    await searching(name, web, allow=("a.com", "b.org")).search("anvil")
    await searching(name, web, deny=("c.net",)).search("anvil")
    asked = [{**(request["params"] or {}), **(request["body"] or {})} for request in web.requests]
    assert [one.get("q") or one["query"] for one in asked] == ["anvil (site:a.com OR site:b.org)", "anvil -site:c.net"]


@pytest.mark.parametrize("name", NAMES)
async def test_nothing_found_is_an_answer(name: str, web: Service) -> None:
    web.says(EMPTY[name])
    assert (await searching(name, web).search("anvil")).results == ()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "key|JSON"),
        (402, "limits"),
        (429, "limits"),
        (404, "CRAG_WEB_URL"),
        (500, "status 500"),
        (301, "status 301"),
    ],
)
async def test_a_refusal_is_one_sentence_without_the_key(name: str, status: int, said: str, web: Service) -> None:
    web.status, web.body = status, b'{"error": "' + KEY.encode() + b'"}'
    with pytest.raises(WebSearchError, match=said) as caught:
        await searching(name, web).search("anvil")
    assert KEY not in str(caught.value)


async def test_googles_way_to_refuse_a_key_is_understood(web: Service) -> None:
    web.status, web.body = 400, b'{"error": {"message": "API key not valid. Please pass a valid API key."}}'
    with pytest.raises(WebSearchError, match="GOOGLE_API_KEY"):
        await searching("google", web).search("anvil")


@pytest.mark.parametrize("body", [b"<html>Sign in</html>", b"[1, 2]", b'{"other": 1}', b"[" * 100_000])
@pytest.mark.parametrize("name", ["exa", "serper", "searxng"])
async def test_an_answer_of_another_form_is_told(name: str, body: bytes, web: Service) -> None:
    web.body = body
    with pytest.raises(WebSearchError, match="CRAG_WEB_URL"):
        await searching(name, web).search("anvil")


async def test_rows_of_another_shape_do_no_harm(web: Service) -> None:
    web.says({"organic": ["text", None, {"link": 3, "title": None, "snippet": ["x"]}, ROW | {"snippet": "Good."}]})
    found = (await searching("serper", web).search("anvil")).results
    assert found == (WebResult("", "", ""), WebResult("https://a.com/x", "Anvils", "Good."))


async def test_an_answer_that_never_ends_is_given_up(web: Service) -> None:
    web.body, web.times = b"[" + b"1," * 100_000, 200
    with pytest.raises(WebSearchError, match="more than 5 MB"):
        await searching("serper", web).search("anvil")


async def test_an_answer_that_drips_is_given_up_in_time(web: Service) -> None:
    web.body, web.times, web.pause = b" ", 400, 0.05
    with pytest.raises(WebSearchError, match=r"within 2\.5 seconds"):
        await searching("serper", web, timeout=2.5).search("anvil")
    assert web.requests


async def test_firecrawl_gives_the_text_of_pages_where_pages_may_be_read(web: Service) -> None:
    whole = "# Anvils\n\nAn anvil weighs 50 kilograms, and the largest ones ten times as much."
    web.says({"data": {"web": [ROW | {"description": "Short.", "markdown": whole}, ROW | {"description": "Short."}]}})
    found = (await searching("firecrawl", web, pages=True).search("anvil")).results
    assert [result.text for result in found] == [whole, "Short."]
    assert web.requests[0]["body"]["scrapeOptions"] == {"formats": ["markdown"], "onlyMainContent": True}


async def test_a_service_that_is_slow_or_down_is_told(web: Service) -> None:
    web.after = 3
    with pytest.raises(WebSearchError, match=r"within 0\.2 seconds"):
        await searching("brave", web, timeout=0.2).search("anvil")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(WebSearchError, match="could not be reached"):
        await HttpSearch("brave", SecretStr(KEY), f"http://127.0.0.1:{port}").search("anvil")


async def test_the_key_is_in_no_log_and_what_echoes_it_is_cleaned(
    web: Service, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    web.says({"organic_results": [ROW | {"snippet": f"Your key is {KEY}."}]})
    search = searching("serpapi", web)
    (result,) = (await search.search("anvil")).results
    assert result.text == "Your key is …."
    assert KEY not in caplog.text + repr(vars(search))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "searxng"])
def test_without_its_key_a_provider_is_not_made(name: str) -> None:
    with pytest.raises(ConfigurationError, match=str(PROVIDERS[name].key)):
        HttpSearch(name, SecretStr(" "))
