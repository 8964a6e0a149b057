"""Tavily through its own client: what is sent, what comes back, and the sentence for everything that goes wrong."""

from __future__ import annotations

import asyncio
import gzip
import logging
import socket
import threading
import time

import pytest
from tavily_server import KEY, TavilyServer, a_result

from crag.errors import ConfigurationError, WebSearchError
from crag.search.tavily import Tavily, TavilyOptions


async def test_the_query_is_sent_with_the_key_and_results_come_back_typed(tavily: TavilyServer) -> None:
    tavily.finds(
        a_result("An anvil weighs 50 kilograms.", published_date="2024-05-01"), a_result("Another.", score=None)
    )
    results = (await Tavily(KEY, tavily.url, max_results=7).search("anvil weight")).results
    assert tavily.requests == [
        {
            "path": "/search",
            "query": "anvil weight",
            "search_depth": "basic",
            "topic": "general",
            "max_results": 7,
            "include_raw_content": False,
        }
    ]
    assert tavily.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert "X-Tavily-Access-Mode" not in tavily.headers[0]
    first, second = results
    assert (first.url, first.title, first.text) == (
        "https://example.org/page",
        "A page",
        "An anvil weighs 50 kilograms.",
    )
    assert (first.published, first.score) == ("2024-05-01", 0.8)
    assert (second.published, second.score) == (None, None)


async def test_what_tavily_alone_can_be_told_is_sent_and_the_text_of_pages_stands_for_extracts(
    tavily: TavilyServer,
) -> None:
    page = a_result("An extract.", raw_content="The whole page.")
    tavily.finds(page, a_result("Another extract."))
    options = TavilyOptions("advanced", "news", ("a.example", "b.example"), ("c.example",), raw=True)
    answered = await Tavily(KEY, tavily.url, options=options).search("anvil", "week")
    assert tavily.requests == [
        {
            "path": "/search",
            "query": "anvil",
            "search_depth": "advanced",
            "topic": "news",
            "time_range": "week",
            "include_domains": ["a.example", "b.example"],
            "exclude_domains": ["c.example"],
            "max_results": 5,
            "include_raw_content": "text",
        }
    ]
    assert [result.text for result in answered.results] == ["The whole page.", "Another extract."]


@pytest.mark.parametrize("query", ["word " * 200, "x" * 900, "字" * 900, " a \n b "])
async def test_a_query_goes_out_on_one_line_of_at_most_400_characters(tavily: TavilyServer, query: str) -> None:
    await Tavily(KEY, tavily.url).search(query)
    sent = tavily.requests[0]["query"]
    assert 0 < len(sent) <= 400
    assert " ".join(query.split()).startswith(sent)
    assert sent == " ".join(sent.split())


async def test_more_results_than_were_asked_for_are_left_out(tavily: TavilyServer) -> None:
    tavily.finds(*(a_result(f"Text {i}.") for i in range(9)))
    assert len((await Tavily(KEY, tavily.url, max_results=2).search("q")).results) == 2


async def test_nothing_found_is_an_answer(tavily: TavilyServer) -> None:
    assert (await Tavily(KEY, tavily.url).search("q")).results == ()


async def test_results_of_another_shape_are_passed_over_and_foreign_fields_do_no_harm(tavily: TavilyServer) -> None:
    odd = {"url": 3, "title": None, "content": ["x"], "score": "high", "published_date": {}}
    tavily.finds(odd, a_result("Good.", score=float("nan")), a_result("Big.", score=10**400))
    tavily.body = tavily.body.replace(b'"results": [', b'"results": ["text", 7, null, ')
    results = (await Tavily(KEY, tavily.url, max_results=20).search("q")).results
    assert [(r.url, r.text, r.score) for r in results] == [
        ("", "", None),
        ("https://example.org/page", "Good.", None),
        ("https://example.org/page", "Big.", None),
    ]


@pytest.mark.parametrize("key", ["", "  ", "\n"])
def test_without_a_key_nothing_is_made_that_could_ask_the_service_keyless(key: str) -> None:
    with pytest.raises(ConfigurationError, match="TAVILY_API_KEY"):
        Tavily(key, None)


@pytest.mark.parametrize(
    ("status", "body", "content_type", "said"),
    [
        (400, b'{"detail": {"error": "bad"}}', "application/json", "malformed"),
        (401, b'{"detail": {"error": "Unauthorized"}}', "application/json", "correct TAVILY_API_KEY"),
        (403, b"{}", "application/json", "plan's limit"),
        (429, b'{"detail": {"error": "slow down"}}', "application/json", "too much was asked"),
        (432, b'{"detail": {"error": "limit"}}', "application/json", "plan's limit"),
        (433, b'{"detail": {"error": "limit"}}', "application/json", "plan's limit"),
        (404, b"not here", "text/plain", "HTTP status 404"),
        (500, b"oops", "text/plain", "HTTP status 500"),
        (503, b"", "text/plain", "HTTP status 503"),
        (302, b"", "text/plain", "HTTP status 302"),
        (201, b"{}", "application/json", "not in the form"),
        (200, b"<html><body>Log in</body></html>", "text/html", "no JSON"),
        (200, b"", "application/json", "no JSON"),
        (200, b"\xff\xfe\x00", "application/json", "no JSON"),
        (200, b"[1, 2]", "application/json", "not in the form"),
        (200, b"null", "application/json", "not in the form"),
        (200, b'{"results": null}', "application/json", "not in the form"),
        (200, b'{"results": "many"}', "application/json", "not in the form"),
        (200, b"[" * 100_000, "application/json", "RecursionError"),
    ],
)
async def test_every_failure_is_one_sentence_with_the_mend_and_without_the_key(
    tavily: TavilyServer, status: int, body: bytes, content_type: str, said: str
) -> None:
    tavily.status, tavily.body, tavily.content_type = status, body.replace(b"bad", KEY.encode()), content_type
    with pytest.raises(WebSearchError) as caught:
        await Tavily(KEY, tavily.url).search("q")
    assert said in str(caught.value)
    assert KEY not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None, "a log would show the chain"


async def test_a_server_that_is_down_is_told() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(WebSearchError, match="could not be reached"):
        await Tavily(KEY, f"http://127.0.0.1:{port}").search("q")


async def test_a_server_that_does_not_answer_is_given_up(tavily: TavilyServer) -> None:
    tavily.waits = threading.Event()
    with pytest.raises(WebSearchError, match=r"within 0\.2 seconds"):
        await Tavily(KEY, tavily.url, timeout=0.2).search("q")


async def test_an_answer_of_20_mb_is_given_up_on_the_way(tavily: TavilyServer) -> None:
    tavily.body, tavily.times = b"[" + b"1," * 50_000, 200
    with pytest.raises(WebSearchError, match="Tavily sent more than 5 MB"):
        await Tavily(KEY, tavily.url).search("q")


async def test_a_compressed_answer_is_not_unpacked_since_none_was_asked_for(tavily: TavilyServer) -> None:
    tavily.body = gzip.compress(b" " * 50_000_000 + b'{"results": []}')
    tavily.more = {"Content-Encoding": "gzip"}
    with pytest.raises(WebSearchError, match="sent no JSON"):
        await Tavily(KEY, tavily.url).search("q")
    assert tavily.headers[0]["Accept-Encoding"] == "identity"


async def test_an_answer_that_drips_is_given_up_in_time(tavily: TavilyServer) -> None:
    tavily.body, tavily.times, tavily.pause = b" " * 10, 100, 0.05
    start = time.monotonic()
    with pytest.raises(WebSearchError, match=r"within 0\.3 seconds"):
        await Tavily(KEY, tavily.url, timeout=0.3).search("q")
    assert time.monotonic() - start < 2


async def test_the_key_is_in_no_log_and_in_no_representation(
    tavily: TavilyServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    searching = Tavily(KEY, tavily.url)
    await searching.search("q")
    tavily.status = 401
    with pytest.raises(WebSearchError):
        await searching.search("q")
    assert caplog.records, "there is something to look through"
    assert KEY not in caplog.text + repr(searching) + repr(vars(searching))


def test_one_adapter_serves_loops_one_after_the_other(tavily: TavilyServer) -> None:
    tavily.finds(a_result("Text."))
    searching = Tavily(KEY, tavily.url)
    assert [len(asyncio.run(searching.search("q")).results) for _ in range(2)] == [1, 1]


async def test_a_key_that_a_page_echoes_is_not_passed_on(tavily: TavilyServer) -> None:
    tavily.finds(a_result(f"Your key is {KEY}, thank you."))
    (result,) = (await Tavily(KEY, tavily.url).search("q")).results
    assert result.text == "Your key is …, thank you."


@pytest.mark.parametrize("key", ["two\nlines", "ключ"])
def test_a_key_that_cannot_be_one_is_refused_before_anything_is_sent(key: str) -> None:
    with pytest.raises(ConfigurationError, match="copy it again") as refused:
        Tavily(key, None)
    assert key not in str(refused.value)
