"""A web that does not leave the machine: a loopback server that speaks Tavily's wire format over given pages.

It knows the query text alone and ranks title and text of the pages by BM25 (Chinese by character bigrams), like any
search engine; neither the question nor its gold paragraph reaches it. `POST /search` with a bearer key, as documented:
`query`, `max_results` (0 to 20, default 5), `include_raw_content`; other parameters are accepted and without effect.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench._loopback import served
from bench._xquad import MemoryIndex, Paragraph
from crag.schema import Document

LONGEST_QUERY = 400
MOST_RESULTS = 20


@dataclass(frozen=True)
class Page:
    """What one search result shows."""

    url: str
    title: str
    text: str


@dataclass(frozen=True)
class Search:
    """One query that came in, and the pages that went back."""

    query: str
    pages: tuple[Page, ...]


@dataclass
class SimulatedWeb:
    """A running server: its base URL, the key that it takes, and what it has been asked."""

    url: str
    key: str
    searches: list[Search] = field(default_factory=list)


def pages_of(paragraphs: Iterable[Paragraph]) -> list[Page]:
    """One page per paragraph, titled like its article."""
    return [Page(f"https://web.example/{p.id}", p.title.replace("_", " "), p.text) for p in paragraphs]


class Ranking:
    """The pages by BM25 (k1 1.2, b 0.75) over title and text."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self.pages = list({page.url: page for page in pages}.values())
        documents = [
            Document(id=p.url, content=p.url, files=(p.url,), text=f"{p.title}\n{p.text}", spans=(), strips=())
            for p in self.pages
        ]
        self._index = MemoryIndex(documents, np.zeros((len(documents), 1), np.float32))

    def best(self, query: str, most: int) -> list[tuple[Page, float]]:
        """At most `most` pages that share a word with `query`, best first, with their score as a share of the best."""
        scores = self._index.bm25(query)
        order = [row for row in np.argsort(-scores, kind="stable")[:most] if scores[row] > 0]
        return [(self.pages[row], float(scores[row] / scores[order[0]])) for row in order]


@contextmanager
def simulated_web(pages: Sequence[Page], key: str = "tvly-simulated") -> Iterator[SimulatedWeb]:
    """Serves `pages` until the block is left. Without the key it answers 401, to a query too long or empty 400."""
    ranking, lock = Ranking(pages), threading.Lock()

    def respond(path: str, headers: Mapping[str, str], body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if path != "/search":
            return 404, _error("Not found.")
        if headers.get("authorization") != f"Bearer {key}":
            return 401, _error("Unauthorized: missing or invalid API key.")
        query, most = body.get("query"), body.get("max_results", 5)
        if not isinstance(query, str) or not query.strip():
            return 400, _error("Query is missing.")
        if len(query) > LONGEST_QUERY:
            return 400, _error(f"Query is too long. Max query length is {LONGEST_QUERY} characters.")
        if not isinstance(most, int) or not 0 <= most <= MOST_RESULTS:
            return 400, _error(f"max_results is not in 0 to {MOST_RESULTS}.")
        start = time.perf_counter()
        found = ranking.best(query, most)
        with lock:
            web.searches.append(Search(query, tuple(page for page, _ in found)))
        return 200, _answer(query, found, bool(body.get("include_raw_content")), time.perf_counter() - start)

    with served(respond) as url:
        web = SimulatedWeb(url, key)
        yield web


def _error(sentence: str) -> dict[str, Any]:
    return {"detail": {"error": sentence}}


def _answer(query: str, found: Sequence[tuple[Page, float]], raw: bool, seconds: float) -> dict[str, Any]:
    return {
        "query": query,
        "follow_up_questions": None,
        "answer": None,
        "images": [],
        "results": [
            {
                "url": page.url,
                "title": page.title,
                "content": page.text,
                "score": round(score, 6),
                "raw_content": page.text if raw else None,
            }
            for page, score in found
        ],
        "response_time": round(seconds, 3),
        "request_id": str(uuid.uuid4()),
    }
