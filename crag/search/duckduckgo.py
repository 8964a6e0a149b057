"""Web search by DuckDuckGo and its fellows through ddgs: no key, and no promise that it answers."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from crag.errors import WebSearchError
from crag.search.base import Answered, TimeRange, WebResult, shortened
from crag.text import language

if TYPE_CHECKING:
    from ddgs import DDGS

TIMEOUT: Final = 10
"""Seconds for one engine; ddgs asks several, one after the other."""
PATIENCE: Final = 30.0
"""Seconds for all of them."""
REGIONS: Final = {"en": "us-en", "zh": "cn-zh"}


class DuckDuckGo:
    """Asks for at most `most` results (1 to 20)."""

    name = "duckduckgo"

    def __init__(self, most: int = 5, timeout: int = TIMEOUT, patience: float = PATIENCE) -> None:
        self.most, self.timeout, self.patience = most, timeout, patience

    async def search(self, query: str, time_range: TimeRange | None = None) -> Answered:
        """See `WebSearch.search`. The library waits on a thread of its own: whoever cancels goes on at once, no
        further engine is asked, and what the last one still says is thrown away."""
        given_up = threading.Event()
        try:
            async with asyncio.timeout(self.patience):
                rows = await asyncio.to_thread(self._rows, shortened(query), time_range, given_up)
        except TimeoutError:
            raise WebSearchError(_slow(self.patience)) from None
        finally:
            given_up.set()
        return Answered(tuple(_result(row) for row in rows if isinstance(row, dict))[: self.most])

    def _rows(self, query: str, time_range: TimeRange | None, given_up: threading.Event) -> list[Any]:
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

        try:
            return _stoppable(self.timeout, given_up).text(
                query,
                region=REGIONS[language(query)],
                timelimit=time_range[0] if time_range else None,
                max_results=self.most,
            )
        except TimeoutException:
            raise WebSearchError(_slow(self.timeout)) from None
        except RatelimitException:
            raise WebSearchError("DuckDuckGo says that too much was asked: wait a little.") from None
        except DDGSException as error:
            if "no results" in str(error).lower():  # ddgs 9.16 says so of refusals and dead engines as well
                return []
            raise WebSearchError("DuckDuckGo could not be reached: check your network, or set CRAG_WEB=off.") from None


def _stoppable(timeout: int, given_up: threading.Event) -> DDGS:
    """ddgs, whose engines ask nobody any more once `given_up` is set: it has no way of its own to be stopped."""
    from ddgs import DDGS  # takes 0.3 s to import: only where it is used

    class Stoppable(DDGS):
        def _get_engines(self, category: str, backend: str) -> list[Any]:
            engines: list[Any] = super()._get_engines(category, backend)
            for engine in engines:
                engine.search = _unless(given_up, engine.search)
            return engines

    return Stoppable(timeout=timeout)


def _unless(given_up: threading.Event, search: Callable[..., Any]) -> Callable[..., Any]:
    def ask(*args: Any, **options: Any) -> Any:
        return None if given_up.is_set() else search(*args, **options)

    return ask


def _slow(seconds: float) -> str:
    return f"DuckDuckGo did not answer within {seconds:g} seconds: try again, or set CRAG_WEB=off."


def _result(row: dict[str, Any]) -> WebResult:
    url, title, text = (str(row.get(name) or "") for name in ("href", "title", "body"))
    return WebResult(url, title, text)
