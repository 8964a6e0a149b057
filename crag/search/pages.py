"""Fetches web pages of which a search gave no text, within limits, and takes their main text out (trafilatura)."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import urljoin, urlsplit

import httpcore2

from crag.errors import WebSearchError
from crag.runtime import in_pool
from crag.search.addresses import PublicOnly
from crag.search.base import WebResult
from crag.search.external import address
from crag.search.robots import AGENT, allows

log = logging.getLogger(__name__)

ENOUGH: Final = 40
"""Characters of text from which on a result needs no page."""
SECONDS: Final = 8.0
"""For one page with its redirects and its robots.txt."""
MOST_BYTES: Final = 2_000_000
ROBOTS_BYTES: Final = 500_000
"""What is read of a robots.txt (RFC 9309, section 2.5)."""
REDIRECTS: Final = 5
AT_ONCE: Final = 5
KINDS: Final = ("text/html", "application/xhtml+xml", "text/plain")
MOVED: Final = (301, 302, 303, 307, 308)
FAILURES: Final = (
    WebSearchError,
    OSError,  # with it TimeoutError
    ValueError,  # of parsers, about what a stranger wrote
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    httpcore2.UnsupportedProtocol,
)
"""What may go wrong with a page of somebody else's."""
_CHARSET: Final = re.compile(r"charset=[\"']?([\w-]+)", re.IGNORECASE)


class Pages:
    """Fetches pages. `also` are hosts that need not be public: for tests on loopback alone.

    No cookie, no key and no referrer is sent, compressed content is not asked for, and proxies are not used.
    """

    def __init__(self, also: Collection[str] = ()) -> None:
        self._also = tuple(also)

    async def extended(self, results: Sequence[WebResult]) -> list[WebResult]:
        """The results in their order, those with hardly any text with that of their page; what cannot be fetched
        stays as it is. Raises nothing."""
        limit = asyncio.Semaphore(AT_ONCE)
        backend = PublicOnly(self._also)
        async with httpcore2.AsyncConnectionPool(network_backend=backend, max_connections=2 * AT_ONCE) as pool:

            async def one(result: WebResult) -> WebResult:
                if len(result.text.strip()) >= ENOUGH or address(result.url) is None:
                    return result
                async with limit:
                    try:
                        async with asyncio.timeout(SECONDS):
                            text = await self._text(pool, result.url)
                    except FAILURES as error:
                        log.info("a page was not fetched (%s)", type(error).__name__)
                        return result
                return replace(result, text=text) if len(text) > len(result.text) else result

            return list(await asyncio.gather(*(one(result) for result in results)))

    async def _text(self, pool: httpcore2.AsyncConnectionPool, url: str) -> str:
        body, kind, charset = await self._page(pool, url)
        if kind == "text/plain":
            return _decoded(body, charset)
        return await in_pool(main_text, body)

    async def _page(self, pool: httpcore2.AsyncConnectionPool, url: str) -> tuple[bytes, str, str | None]:
        """(body, kind, charset) at the end of the redirects, each of which is checked like the first address."""
        checked = _target(url)
        for _ in range(REDIRECTS + 1):
            if checked is None:
                raise WebSearchError("The page leads to an address that is not http or https.")
            if not await _allowed(pool, checked):
                raise WebSearchError("The site's robots.txt forbids to fetch this page.")
            async with pool.stream("GET", checked, headers=_headers(checked)) as response:
                headers = {name.lower(): value for name, value in response.headers}
                if response.status in MOVED:
                    checked = _target(headers.get(b"location", b"").decode("latin-1"), checked)
                    continue
                kind, charset = _kind(headers.get(b"content-type", b"").decode("latin-1"))
                plain = headers.get(b"content-encoding", b"identity") in (b"", b"identity")
                if response.status != 200 or kind not in KINDS or not plain:
                    raise WebSearchError("The page is none that can be read.")
                return await _read(response, MOST_BYTES), kind, charset
        raise WebSearchError("The page leads on and on.")


def main_text(html: bytes) -> str:
    """The main text of a page, without menus, scripts and comments; empty where there is none. Blocking."""
    import trafilatura  # 0.5 s to import: only where a page is read

    found = trafilatura.extract(html, include_comments=False, include_tables=True)
    return found or ""


async def _allowed(pool: httpcore2.AsyncConnectionPool, url: str) -> bool:
    """Whether the site's robots.txt lets this program fetch `url` (RFC 9309: none at all allows, a failure forbids)."""
    place = urlsplit(url)
    robots = f"{place.scheme}://{place.netloc}/robots.txt"
    for _ in range(REDIRECTS + 1):
        async with pool.stream("GET", robots, headers=_headers(robots)) as response:
            headers = {name.lower(): value for name, value in response.headers}
            if response.status in MOVED:
                moved = _target(headers.get(b"location", b"").decode("latin-1"), robots)
                if moved is None:
                    return False
                robots = moved
                continue
            if response.status >= 500:
                return False
            if response.status != 200:
                return True
            text = (await _read(response, ROBOTS_BYTES, cut=True)).decode("utf-8", "replace")
        return allows(text, url)
    return True


def _target(url: str, base: str = "") -> str | None:
    """The address of `url`, as it stands at `base`, with its host as it goes over the wire; None: none to fetch."""
    try:
        found = address(urljoin(base, url))
        netloc = urlsplit(found or "").netloc
        return found and found.replace(netloc, netloc.encode("idna").decode(), 1)
    except ValueError:
        return None


async def _read(response: httpcore2.Response, most: int, *, cut: bool = False) -> bytes:
    """The body. What is longer than `most` bytes is cut, or raises WebSearchError."""
    found = bytearray()
    async for chunk in response.aiter_stream():
        found += chunk
        if len(found) > most:
            if cut:
                return bytes(found[:most])
            raise WebSearchError("The page is too large.")
    return bytes(found)


def _headers(url: str) -> dict[bytes | str, bytes | str]:
    return {
        "Host": urlsplit(url).netloc,
        "User-Agent": AGENT,
        "Accept": "text/html, application/xhtml+xml, text/plain;q=0.8",
        "Accept-Encoding": "identity",
    }


def _kind(content_type: str) -> tuple[str, str | None]:
    kind, _, rest = content_type.partition(";")
    charset = _CHARSET.search(rest)
    return kind.strip().lower(), charset.group(1) if charset else None


def _decoded(body: bytes, charset: str | None) -> str:
    """The text, in UTF-8 where the charset is none that is known."""
    try:
        return body.decode(charset or "utf-8", "replace")
    except (LookupError, UnicodeError):
        return body.decode("utf-8", "replace")
