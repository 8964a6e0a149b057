"""A web search with what every provider needs: sites chosen, missing text fetched, results kept, a daily budget."""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from crag.errors import WebSearchError
from crag.runtime import in_pool
from crag.search.base import Answered, TimeRange, WebResult, WebSearch, shortened
from crag.search.choosing import Sites, chosen
from crag.search.pages import Pages

log = logging.getLogger(__name__)

MOST_KEPT: Final = 2000
"""Searches; the oldest go first."""


@dataclass(frozen=True)
class Limits:
    hours: float = 24.0
    """For which the results of a query are used again; 0: never."""
    daily: int = 0
    """At most so many searches a day (UTC); 0: no limit."""
    price: float = 0.0
    """Of one search; 0: unknown."""


class KeptSearch:
    """A `WebSearch` around a provider. `options` names what else its results depend on, for the key of what is kept.

    `pages` None: text that is missing is not fetched. `usual_range` is how old results may be where no call says.
    """

    def __init__(
        self,
        provider: WebSearch,
        file: Path,
        sites: Sites,
        limits: Limits,
        pages: Pages | None = None,
        options: str = "",
        usual_range: TimeRange | None = None,
    ) -> None:
        self.name = provider.name
        self._provider, self._file, self._sites, self._limits = provider, file, sites, limits
        self._pages, self._options, self._usual_range = pages, options, usual_range

    async def search(self, query: str, time_range: TimeRange | None = None) -> Answered:
        """See `WebSearch.search`. Also raises WebSearchError where the day's searches are used up."""
        query, time_range = shortened(query), time_range or self._usual_range
        key = self._key(query, time_range)
        if self._limits.hours and (kept := await in_pool(self._recalled, key)) is not None:
            return Answered(kept, cached=True, cost=0.0)
        if self._limits.daily:
            await in_pool(self._spend)
        answered = await self._provider.search(query, time_range)
        results = chosen(answered.results, self._sites)
        if self._pages is not None:
            results = await self._pages.extended(results)
        if self._limits.hours and any(result.text.strip() for result in results):  # pages may be there again later
            await in_pool(self._keep, key, results)
        return Answered(tuple(results), cost=self._limits.price or None)

    def _key(self, query: str, time_range: TimeRange | None) -> str:
        parts = [self.name, query.casefold(), time_range, asdict(self._sites), self._options, self._pages is not None]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    def _recalled(self, key: str) -> tuple[WebResult, ...] | None:
        """What is kept and fresh enough; None: nothing. A file that cannot be read holds nothing."""
        since = time.time() - self._limits.hours * 3600
        try:
            with self._opened() as database:
                row = database.execute("SELECT results FROM kept WHERE key = ? AND made > ?", (key, since)).fetchone()
            return tuple(WebResult(**result) for result in json.loads(row[0])) if row else None
        except (OSError, sqlite3.Error, ValueError, TypeError):
            log.info("kept web results cannot be read", exc_info=True)
            return None

    def _keep(self, key: str, results: list[WebResult]) -> None:
        """Losing this costs a search, never an answer."""
        value = json.dumps([asdict(result) for result in results])
        try:
            with self._opened() as database, database:
                database.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", (key, time.time(), value))
                database.execute(
                    "DELETE FROM kept WHERE key NOT IN (SELECT key FROM kept ORDER BY made DESC LIMIT ?)", (MOST_KEPT,)
                )
        except (OSError, sqlite3.Error):
            log.info("web results cannot be kept", exc_info=True)

    def _spend(self) -> None:
        """Counts a search of today. Raises WebSearchError beyond the limit, or where it cannot be counted."""
        day = _today()
        try:
            with self._opened() as database, database:
                database.execute("INSERT INTO spent VALUES (?, 1) ON CONFLICT (day) DO UPDATE SET n = n + 1", (day,))
                (made,) = database.execute("SELECT n FROM spent WHERE day = ?", (day,)).fetchone()
                if made > self._limits.daily:
                    raise WebSearchError(  # undone with the transaction
                        f"Today's searches are used up ({self._limits.daily} a day): raise CRAG_WEB_DAILY_SEARCHES, "
                        "or ask again tomorrow."
                    )
        except (OSError, sqlite3.Error):
            raise WebSearchError(
                f"The searches of the day cannot be counted in {self._file}: correct its permissions or make room."
            ) from None

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self._file, timeout=10)) as database:
            database.execute("CREATE TABLE IF NOT EXISTS kept (key TEXT PRIMARY KEY, made REAL, results TEXT)")
            database.execute("CREATE TABLE IF NOT EXISTS spent (day TEXT PRIMARY KEY, n INTEGER)")
            yield database


def spent_today(file: Path) -> int:
    """Searches of this day (UTC) that were counted in `file`, by whichever process; 0 where none could be."""
    if not file.exists():
        return 0
    try:
        with closing(sqlite3.connect(file, timeout=1)) as database:
            row = database.execute("SELECT n FROM spent WHERE day = ?", (_today(),)).fetchone()
    except (OSError, sqlite3.Error):
        log.info("the searches of the day cannot be read", exc_info=True)
        return 0
    return int(row[0]) if row else 0


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
