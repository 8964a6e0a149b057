"""Web search by Tavily, through its own client library (tavily-python)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import SecretStr

from crag.errors import ConfigurationError, WebSearchError
from crag.search.base import MOST_BYTES, TIMEOUT, Answered, TimeRange, WebResult, shortened

if TYPE_CHECKING:
    import httpx
    from tavily import AsyncTavilyClient

REFUSED: Final = {
    "BadRequestError": "Tavily refused the query as malformed: put the question in other words.",
    "InvalidAPIKeyError": "Tavily does not accept the key: correct TAVILY_API_KEY.",
    "ForbiddenError": (
        "Tavily refused the search: the key may not use it, or the plan's limit is reached. "
        "Look at your Tavily account, or set CRAG_WEB=off."
    ),
    "UsageLimitExceededError": "Tavily says that too much was asked: wait a little, or look at your plan's limits.",
}
"""What the client raises for 400, 401, 403 / 432 / 433 and 429, by class: there is no common base."""

MOST_SCORE: Final = 1e6
"""What is beyond, or no number at all, is no score."""
UNKNOWN_FORM: Final = "Tavily's answer is not in the form that is known: check CRAG_TAVILY_URL."


@dataclass(frozen=True)
class TavilyOptions:
    """What Tavily alone can be told."""

    depth: Literal["basic", "advanced"] = "basic"
    topic: Literal["general", "news", "finance"] = "general"
    allow: tuple[str, ...] = ()
    """Domains to stay within; none: all."""
    deny: tuple[str, ...] = ()
    raw: bool = False
    """The text of the pages, in place of extracts."""


class Tavily:
    """Asks Tavily for at most `max_results` results (1 to 20). Nothing is sent before `search`.

    The key is required: without one the client library would ask api.tavily.com all the same, keyless.
    `base_url` None is Tavily's own. Raises ConfigurationError without a key.
    """

    name = "tavily"

    def __init__(
        self,
        key: str,
        base_url: str | None,
        max_results: int = 5,
        timeout: float = TIMEOUT,
        options: TavilyOptions | None = None,
    ) -> None:
        if not key.strip():
            raise ConfigurationError(
                "Searching with Tavily needs a key: set TAVILY_API_KEY, or CRAG_WEB_PROVIDER=none."
            )
        if not (key.strip().isascii() and key.strip().isprintable()):
            raise ConfigurationError("TAVILY_API_KEY holds characters that no key has: copy it again.")
        self._key = SecretStr(key.strip())
        self._base_url = base_url
        self.max_results = max_results
        self.timeout = timeout
        self.options = options or TavilyOptions()

    async def search(self, query: str, time_range: TimeRange | None = None) -> Answered:
        """See `WebSearch.search`."""
        try:
            async with asyncio.timeout(self.timeout), self._client() as client:  # bound to this loop, closed with it
                answer = await client.search(
                    shortened(query),
                    search_depth=self.options.depth,
                    topic=self.options.topic,
                    include_domains=list(self.options.allow) or None,
                    exclude_domains=list(self.options.deny) or None,
                    max_results=self.max_results,
                    include_raw_content="text" if self.options.raw else False,
                    time_range=time_range,
                    timeout=self.timeout,
                )
        except WebSearchError:
            raise
        except Exception as error:  # the library lets through whatever its HTTP client and JSON reader raise
            raise WebSearchError(self._sentence(error)) from None  # its text may hold the key
        return Answered(tuple(_results(answer, self._key.get_secret_value())[: self.max_results]))

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[AsyncTavilyClient]:
        import httpx
        from tavily import AsyncTavilyClient  # takes 0.2 s to import: only where it is used

        headers, hooks = {"Accept-Encoding": "identity"}, {"response": [_bound]}
        async with httpx.AsyncClient(headers=headers, event_hooks=hooks) as http:
            yield AsyncTavilyClient(self._key.get_secret_value(), api_base_url=self._base_url, client=http)

    def _sentence(self, error: Exception) -> str:
        """What the user reads; never the text of a foreign error, which may quote the header with the key."""
        name = type(error).__name__
        if name in REFUSED:
            return REFUSED[name]
        if isinstance(error, TimeoutError) or name == "TimeoutError":
            return f"Tavily did not answer within {self.timeout:g} seconds: try again, or set CRAG_WEB=off."
        if isinstance(error, (json.JSONDecodeError, UnicodeDecodeError)):
            return "What answered in Tavily's place sent no JSON: check CRAG_TAVILY_URL and your proxy."
        if isinstance(error, (AttributeError, TypeError)):  # the library takes for granted that it gets an object
            return UNKNOWN_FORM
        status = getattr(getattr(error, "response", None), "status_code", None)
        if isinstance(status, int):
            return f"Tavily failed with HTTP status {status}: try again later, or check CRAG_TAVILY_URL."
        if name in ("ConnectError", "ReadError", "RemoteProtocolError", "ProxyError"):
            return "Tavily could not be reached: check your network and CRAG_TAVILY_URL."
        return f"The search with Tavily failed ({name}): check TAVILY_API_KEY and CRAG_TAVILY_URL."


async def _bound(response: httpx.Response) -> None:
    """Has the body read up to `MOST_BYTES` and as it comes: what is compressed all the same may be far larger."""
    import httpx

    whole = response.stream
    response.headers.pop("content-encoding", None)

    class Bounded(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            read = 0
            async for chunk in whole:  # type: ignore[union-attr]
                read += len(chunk)
                if read > MOST_BYTES:
                    raise WebSearchError(f"Tavily sent more than {MOST_BYTES // 1_000_000} MB: nothing was used.")
                yield chunk

        async def aclose(self) -> None:
            await whole.aclose()  # type: ignore[union-attr]

    response.stream = Bounded()


def _results(answer: Any, key: str) -> list[WebResult]:
    """The results of Tavily's JSON, without the key, should a page echo it.

    Those of another shape are passed over; an answer without a list is an error.
    """
    found = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise WebSearchError(UNKNOWN_FORM)
    return [_result(row, key) for row in found if isinstance(row, dict)]


def _result(row: dict[str, Any], secret: str) -> WebResult:
    score = row.get("score")
    counts = isinstance(score, (int, float)) and not isinstance(score, bool) and abs(score) <= MOST_SCORE
    return WebResult(
        url=_text(row, "url", secret),
        title=_text(row, "title", secret),
        text=_text(row, "raw_content", secret) or _text(row, "content", secret),
        published=_text(row, "published_date", secret) or None,
        score=float(score) if counts and score is not None else None,
    )


def _text(row: dict[str, Any], name: str, secret: str) -> str:
    value = row.get(name)
    return value.replace(secret, "…") if isinstance(value, str) else ""
