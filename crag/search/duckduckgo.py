"""Web search by DuckDuckGo and its fellows through ddgs: no key, and no promise that it answers."""

from __future__ import annotations

from typing import Any, Final

from crag.errors import WebSearchError
from crag.runtime import in_pool
from crag.search.base import Answered, TimeRange, WebResult, shortened
from crag.text import language

TIMEOUT: Final = 10
"""Seconds for one engine; ddgs asks several."""
REGIONS: Final = {"en": "us-en", "zh": "cn-zh"}


class DuckDuckGo:
    """Asks for at most `most` results (1 to 20)."""

    name = "duckduckgo"

    def __init__(self, most: int = 5, timeout: int = TIMEOUT) -> None:
        self.most, self.timeout = most, timeout

    async def search(self, query: str, time_range: TimeRange | None = None) -> Answered:
        """See `WebSearch.search`. The library waits on a thread: cancelling does not end what is on its way."""
        rows = await in_pool(self._rows, shortened(query), time_range)
        return Answered(tuple(_result(row) for row in rows if isinstance(row, dict))[: self.most])

    def _rows(self, query: str, time_range: TimeRange | None) -> list[Any]:
        from ddgs import DDGS  # takes 0.3 s to import: only where it is used
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

        try:
            return DDGS(timeout=self.timeout).text(
                query,
                region=REGIONS[language(query)],
                timelimit=time_range[0] if time_range else None,
                max_results=self.most,
            )
        except TimeoutException:
            raise WebSearchError(
                f"DuckDuckGo did not answer within {self.timeout} seconds: try again, or set CRAG_WEB=off."
            ) from None
        except RatelimitException:
            raise WebSearchError("DuckDuckGo says that too much was asked: wait a little.") from None
        except DDGSException as error:
            if "no results" in str(error).lower():  # ddgs 9.16 says so of refusals and dead engines as well
                return []
            raise WebSearchError("DuckDuckGo could not be reached: check your network, or set CRAG_WEB=off.") from None


def _result(row: dict[str, Any]) -> WebResult:
    url, title, text = (str(row.get(name) or "") for name in ("href", "title", "body"))
    return WebResult(url, title, text)
