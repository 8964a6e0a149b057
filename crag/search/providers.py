"""Web search by plain HTTP: Brave, Exa, Serper, SerpAPI, Google, Firecrawl, SearXNG, a request and a reading each."""

from __future__ import annotations

import asyncio
import html
import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from pydantic import SecretStr

from crag.errors import ConfigurationError, WebSearchError
from crag.search.base import MOST_BYTES, TIMEOUT, Answered, TimeRange, WebResult, shortened

DAYS: Final[dict[TimeRange, int]] = {"day": 1, "week": 7, "month": 31, "year": 366}
_TAGS: Final = re.compile(r"</?(?:strong|b|em|i|mark)>")


@dataclass(frozen=True)
class Asked:
    """What a request is made of."""

    query: str
    key: str
    most: int
    """Results wanted, 1 to 20."""
    age: TimeRange | None
    allow: tuple[str, ...]
    """Domains to stay within, for providers that can; none: all."""
    deny: tuple[str, ...]
    engine: str
    """Id of the search engine at Google."""
    lang: str
    """Of the query: "en" or "zh"."""
    pages: bool = False
    """Whether the text of the pages is wanted, of providers that ask more for it."""


@dataclass(frozen=True)
class Request:
    path: str
    """Behind the provider's address."""
    headers: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    """JSON of a POST; None: a GET."""


@dataclass(frozen=True)
class Provider:
    """A service: where it is, what it is asked, where its answer holds the results, and how each is read."""

    label: str
    url: str
    request: Callable[[Asked], Request]
    rows: tuple[tuple[str, ...], ...]
    """Paths to the list in the answer's JSON, the first that is there counts."""
    fields: Mapping[str, tuple[str, ...]]
    """Of a result's url, title, text, published and score: the names that it may have, the first that is there."""
    key: str | None = None
    """Variable of the key; None: it needs none."""


def _brave(asked: Asked) -> Request:
    params = {"q": _sites(asked), "count": str(asked.most), "text_decorations": "false"}
    if asked.age:
        params["freshness"] = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}[asked.age]
    return Request("/res/v1/web/search", {"X-Subscription-Token": asked.key}, params)


def _exa(asked: Asked) -> Request:
    body: dict[str, Any] = {
        "query": asked.query,
        "numResults": asked.most,
        "contents": {"text": {"maxCharacters": 4000}},
    }
    if asked.allow:
        body["includeDomains"] = list(asked.allow)
    elif asked.deny:
        body["excludeDomains"] = list(asked.deny)
    if asked.age:
        since = datetime.now(UTC) - timedelta(days=DAYS[asked.age])
        body["startPublishedDate"] = since.strftime("%Y-%m-%dT00:00:00.000Z")
    return Request("/search", {"x-api-key": asked.key}, body=body)


def _serper(asked: Asked) -> Request:
    body: dict[str, Any] = {"q": _sites(asked), "num": asked.most}
    if asked.lang == "zh":
        body |= {"hl": "zh-cn", "gl": "cn"}
    if asked.age:
        body["tbs"] = f"qdr:{asked.age[0]}"
    return Request("/search", {"X-API-KEY": asked.key}, body=body)


def _serpapi(asked: Asked) -> Request:
    params = {"engine": "google", "q": _sites(asked), "num": str(asked.most), "api_key": asked.key}
    if asked.lang == "zh":
        params |= {"hl": "zh-cn", "gl": "cn"}
    if asked.age:
        params["tbs"] = f"qdr:{asked.age[0]}"
    return Request("/search.json", params=params)


def _google(asked: Asked) -> Request:
    params = {"cx": asked.engine, "q": _sites(asked), "num": str(min(asked.most, 10))}
    if asked.age:
        params["dateRestrict"] = f"{asked.age[0]}1"
    return Request("/customsearch/v1", {"X-Goog-Api-Key": asked.key}, params)


def _firecrawl(asked: Asked) -> Request:
    body: dict[str, Any] = {"query": _sites(asked), "limit": asked.most}
    if asked.age:
        body["tbs"] = f"qdr:{asked.age[0]}"
    if asked.pages:
        body["scrapeOptions"] = {"formats": ["markdown"], "onlyMainContent": True}
    return Request("/v2/search", {"Authorization": f"Bearer {asked.key}"}, body=body)


def _searxng(asked: Asked) -> Request:
    params = {"q": asked.query, "format": "json", "language": "zh-CN" if asked.lang == "zh" else "en"}
    return Request("/search", params=params | ({"time_range": asked.age} if asked.age else {}))


def _sites(asked: Asked) -> str:
    """The query with the sites as search engines write them, as far as 400 characters go."""
    if asked.allow:
        sites = " OR ".join(f"site:{domain}" for domain in asked.allow)
        wish = f"({sites})" if len(asked.allow) > 1 else sites
    else:
        wish = " ".join(f"-site:{domain}" for domain in asked.deny)
    whole = f"{asked.query} {wish}".strip()
    return whole if shortened(whole) == whole else asked.query


PROVIDERS: Final[dict[str, Provider]] = {
    "brave": Provider(
        "Brave Search",
        "https://api.search.brave.com",
        _brave,
        (("web", "results"),),
        {"url": ("url",), "title": ("title",), "text": ("description",), "published": ("page_age", "age")},
        "BRAVE_API_KEY",
    ),
    "exa": Provider(
        "Exa",
        "https://api.exa.ai",
        _exa,
        (("results",),),
        {
            "url": ("url",),
            "title": ("title",),
            "text": ("text",),
            "published": ("publishedDate",),
            "score": ("score",),
        },
        "EXA_API_KEY",
    ),
    "serper": Provider(
        "Serper",
        "https://google.serper.dev",
        _serper,
        (("organic",),),
        {"url": ("link",), "title": ("title",), "text": ("snippet",), "published": ("date",)},
        "SERPER_API_KEY",
    ),
    "serpapi": Provider(
        "SerpAPI",
        "https://serpapi.com",
        _serpapi,
        (("organic_results",),),
        {"url": ("link",), "title": ("title",), "text": ("snippet",), "published": ("date",)},
        "SERPAPI_API_KEY",
    ),
    "google": Provider(
        "Google's Programmable Search",
        "https://www.googleapis.com",
        _google,
        (("items",),),
        {"url": ("link",), "title": ("title",), "text": ("snippet",)},
        "GOOGLE_API_KEY",
    ),
    "firecrawl": Provider(
        "Firecrawl",
        "https://api.firecrawl.dev",
        _firecrawl,
        (("data", "web"), ("data",)),
        {"url": ("url",), "title": ("title",), "text": ("markdown", "description", "snippet"), "published": ("date",)},
        "FIRECRAWL_API_KEY",
    ),
    "searxng": Provider(
        "SearXNG",
        "",
        _searxng,
        (("results",),),
        {
            "url": ("url",),
            "title": ("title",),
            "text": ("content",),
            "published": ("publishedDate",),
            "score": ("score",),
        },
    ),
}


class HttpSearch:
    """A `WebSearch` over one of `PROVIDERS`. Nothing is sent before `search`.

    `url` is another address of the service, empty: its own. Raises ConfigurationError without a key that is needed.
    """

    def __init__(
        self,
        name: str,
        key: SecretStr,
        url: str = "",
        *,
        most: int = 5,
        engine: str = "",
        allow: tuple[str, ...] = (),
        deny: tuple[str, ...] = (),
        pages: bool = False,
        timeout: float = TIMEOUT,
    ) -> None:
        self.name = name
        self._provider = PROVIDERS[name]
        secret = key.get_secret_value().strip()
        if self._provider.key and not (secret and secret.isascii() and secret.isprintable()):
            raise ConfigurationError(f"Searching with {self._provider.label} needs a key: set {self._provider.key}.")
        self._key = SecretStr(secret)
        self._url = url.rstrip("/") or self._provider.url
        self._most, self._engine, self._allow, self._deny, self._timeout = most, engine, allow, deny, timeout
        self._pages = pages

    async def search(self, query: str, time_range: TimeRange | None = None) -> Answered:
        """See `WebSearch.search`."""
        from crag.text import language

        secret = self._key.get_secret_value()
        asked = Asked(
            shortened(query),
            secret,
            self._most,
            time_range,
            self._allow,
            self._deny,
            self._engine,
            language(query),
            self._pages,
        )
        status, body = await self._answer(self._provider.request(asked))
        if status != 200:
            raise WebSearchError(self._refused(status, body))
        found = self._read(body)
        return Answered(
            tuple(_result(row, self._provider, secret) for row in found if isinstance(row, dict))[: self._most]
        )

    async def _answer(self, request: Request) -> tuple[int, bytes]:
        """(status, body). Raises WebSearchError where no whole answer came."""
        import httpx2

        logging.getLogger("httpx2").setLevel(logging.WARNING)  # it logs addresses, and SerpAPI's holds the key
        label = self._provider.label
        try:
            async with (
                asyncio.timeout(self._timeout),
                httpx2.AsyncClient(timeout=self._timeout, follow_redirects=False) as client,
                client.stream(
                    "GET" if request.body is None else "POST",
                    self._url + request.path,
                    headers={"Accept": "application/json", "Accept-Encoding": "identity", **request.headers},
                    params=dict(request.params) or None,
                    json=request.body,
                ) as response,
            ):
                body = bytearray()
                async for chunk in response.aiter_raw():
                    body += chunk
                    if len(body) > MOST_BYTES:
                        raise WebSearchError(f"{label} sent more than {MOST_BYTES // 1_000_000} MB: nothing was used.")
                return response.status_code, bytes(body)
        except (httpx2.TimeoutException, TimeoutError):
            raise WebSearchError(
                f"{label} did not answer within {self._timeout:g} seconds: try again, or set CRAG_WEB=off."
            ) from None
        except (httpx2.HTTPError, httpx2.InvalidURL):  # its text may hold the address with the key
            raise WebSearchError(f"{label} could not be reached: check your network and CRAG_WEB_URL.") from None

    def _read(self, body: bytes) -> list[Any]:
        """The rows of the answer; none where it says that there are none. Raises WebSearchError for another form."""
        label = self._provider.label
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            raise WebSearchError(
                f"What answered in the place of {label} sent no JSON: check CRAG_WEB_URL and your proxy."
            ) from None
        if not isinstance(answer, dict):
            raise WebSearchError(f"{label}'s answer is not in the form that is known: check CRAG_WEB_URL.")
        for path in self._provider.rows:
            found: Any = answer
            for name in path:
                found = found.get(name) if isinstance(found, dict) else None
            if isinstance(found, list):
                return found
        error = answer.get("error")
        if error and "any results" not in str(error):
            raise WebSearchError(f"{label} refused the search: check {self._provider.key or 'CRAG_WEB_URL'}.")
        if error or self._provider.label in ("Google's Programmable Search", "Brave Search", "SerpAPI"):
            return []  # these leave the list out where nothing was found
        raise WebSearchError(f"{label}'s answer is not in the form that is known: check CRAG_WEB_URL.")

    def _refused(self, status: int, body: bytes) -> str:
        """What the user reads of a status; never the body, which may echo the key."""
        label, key = self._provider.label, self._provider.key
        refuses_key = status == 400 and b"API key not valid" in body  # Google's way
        if status in (401, 403) or refuses_key:
            if key is None:
                return f"{label} does not answer in JSON: allow the format json in its settings.yml, or CRAG_WEB=off."
            return f"{label} does not accept the key: correct {key}, or look whether your plan allows the search."
        if status in (402, 429):
            return f"{label} says that too much was asked: wait a little, or look at your plan's limits."
        if status in (400, 422):
            return f"{label} refused the query as malformed: put the question in other words."
        if status == 404:
            return f"There is no search at this address of {label}: check CRAG_WEB_URL."
        return f"{label} failed with HTTP status {status}: try again later, or check CRAG_WEB_URL."


def _result(row: Mapping[str, Any], provider: Provider, secret: str) -> WebResult:
    found = {name: next((row[n] for n in names if row.get(n)), None) for name, names in provider.fields.items()}
    score = found.get("score")
    counts = isinstance(score, (int, float)) and not isinstance(score, bool) and abs(score) < 1e6
    return WebResult(
        url=_text(found["url"], secret),
        title=_plain(_text(found["title"], secret)),
        text=_plain(_text(found["text"], secret)),
        published=_text(found.get("published"), secret) or None,
        score=float(score) if counts and score is not None else None,
    )


def _plain(text: str) -> str:
    """Without the marks and entities with which search engines show what was found."""
    return html.unescape(_TAGS.sub("", text))


def _text(value: object, secret: str) -> str:
    if not isinstance(value, str):
        return ""
    return value.replace(secret, "…") if secret else value
