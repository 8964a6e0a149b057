"""One turn: what a question has led to so far, step by step of the algorithm; becomes the trace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Coroutine, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from crag.action_trigger import decide
from crag.errors import CragError, WebSearchError
from crag.events import Graded, Refined, Retrieved, Rewritten, Searched
from crag.generator.citations import check
from crag.generator.not_covered import not_covered
from crag.notices import say
from crag.parts import Parts
from crag.refinement import ledger, recompose, select
from crag.retrieval import Searchable, retrieve
from crag.runtime import in_pool
from crag.schema import (
    Action,
    CitationCheck,
    Decision,
    Document,
    DocumentGrade,
    EvaluatorName,
    Fate,
    GradedDocument,
    GradedStrip,
    Knowledge,
    Trace,
    WebSearched,
)
from crag.search.base import WebSearch, shortened
from crag.search.external import documents_of
from crag.text import language

T = TypeVar("T")


@dataclass
class Turn:
    """What one question has led to so far; each method is one step of the algorithm.

    `files` are the paths that may be used; none: all.
    """

    parts: Parts
    question: str
    turn_id: str
    files: tuple[str, ...] = ()
    created: str = field(default_factory=lambda: _now())
    catalog_version: int = 0
    search_query: str | None = None
    looked_at: tuple[str, ...] = ()
    found: dict[str, Document] = field(default_factory=dict)
    grades: dict[str, DocumentGrade] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    web: WebSearched | None = None
    from_web: tuple[Document, ...] = ()
    strips: tuple[GradedStrip, ...] = ()
    knowledge: Knowledge = field(default_factory=Knowledge)
    pieces: list[str] = field(default_factory=list)
    checked: CitationCheck = field(default_factory=CitationCheck)
    timings: dict[str, float] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)
    stopped: bool = False
    error: str | None = None

    def __post_init__(self) -> None:
        self.language = language(self.question)
        self.notices += self.parts.notices

    @property
    def documents(self) -> tuple[GradedDocument, ...]:
        """Every graded document of both looks, in the order in which they were found."""
        return self._graded(self.found.values())

    @property
    def web_documents(self) -> tuple[GradedDocument, ...]:
        """Every graded document of the web, in the provider's order."""
        return self._graded(self.from_web)

    @property
    def action(self) -> Action | None:
        """The last one that was triggered."""
        return self.decisions[-1].action if self.decisions else None

    @property
    def web_answered(self) -> bool:
        """Whether the web gave anything that could be graded: then it stands in the place of a second look."""
        return any(document.score is not None for document in self.web_documents)

    async def look(self, index: Searchable, query: str, k: int) -> Retrieved:
        """R: documents for `query`; those of an earlier look stay."""
        with self._timed("embed"):
            vector = await in_pool(self.parts.embedder.embed_query, query)
        with self._timed("retrieve"):
            chosen = await in_pool(self._chosen, index)
            found = in_pool(retrieve, index, query, vector, k, self.parts.fusion_constant, chosen)
            documents = await _to_the_end(found)  # the index may not be let go of while it is read
        self.looked_at = tuple(document.id for document in documents)
        for document in documents:
            self.found.setdefault(document.id, document)
        return Retrieved(query=query, documents=documents)

    def _chosen(self, index: Searchable) -> frozenset[str] | None:
        """The contents of the files that may be used; None: all."""
        if not self.files:
            return None
        found = index.contents(self.files)
        missing = [path for path in self.files if path not in found]
        if missing and self.search_query is None:
            self._notice("files_missing", files=", ".join(missing))
        return frozenset(found.values())

    async def grade(self) -> Graded:
        """E: grades what has no grade yet, always by the user's question, whatever was searched for."""
        with self._timed("grade"):
            await self._grade(self.found.values())
        return Graded(documents=self.documents + self.web_documents)

    def decide(self, query: str) -> Decision | None:
        """The action for the documents of the last look; None, with the error set, where none could be graded."""
        looked_at = set(self.looked_at)
        graded = [document for document in self.documents if document.id in looked_at]
        second, web = bool(self.decisions), self.parts.open_web is not None
        with self._timed("decide"):
            decision = decide(graded, self.parts.thresholds, query, lang=self.language, second_look=second, web=web)
        if decision is None:
            self.error = say(self.language, "nothing_graded", n=len(graded), causes=_causes(graded))
            return None
        self.decisions.append(decision)
        return decision

    def rewrite(self) -> Rewritten:
        """W for the second look."""
        self.search_query = self.parts.rewriter(self.question)
        return Rewritten(query=self.search_query)

    def rewrite_for(self, web: WebSearch) -> Rewritten:
        """W for the web: from the question alone, never from what a document says."""
        return Rewritten(query=shortened(self.parts.rewriter(self.question)), provider=web.name)

    async def search(self, web: WebSearch, query: str) -> Searched:
        """The web, asked for `query`. A failure is noted and told, and ends nothing."""
        self.web = asked = WebSearched(provider=web.name, query=query, time=_now())  # noted before anything leaves
        with self._timed("search"):
            try:
                results = await web.search(query)
            except WebSearchError as error:
                self.web = asked.model_copy(update={"error": str(error)})
                self._notice("web_failed", error=error)
            else:
                self.web = asked.model_copy(update={"results": len(results)})
                self.from_web = documents_of(results)
                if not self.from_web:
                    self._notice("web_empty")
        return Searched(**dict(self.web), documents=self.from_web)

    async def grade_web(self) -> Graded:
        """E on what the web gave, by the same rule as on the files."""
        with self._timed("grade_web"):
            await self._grade(self.from_web)
        if not self.web_answered:
            self._notice("web_ungraded", causes=_causes(self.web_documents))
        return Graded(documents=self.documents + self.web_documents)

    def refine(self, action: Action) -> Refined:
        """Decompose, filter, recompose: k, of the files and of the web side by side."""
        with self._timed("refine"):
            documents = self.documents + self.web_documents
            strips = ledger(documents, [self.grades[document.id] for document in documents])
            self.strips = select(documents, strips, self.parts.thresholds, action)
            self.knowledge = recompose(self.strips)
        for web, key in ((False, "fallback"), (True, "web_fallback")):
            if any(strip.fate is Fate.FALLBACK and (strip.url is not None) is web for strip in self.strips):
                self._notice(key)
        if self.web_answered and self.knowledge.sources and not any(source.url for source in self.knowledge.sources):
            self._notice("web_unused")
        return Refined(strips=self.strips, knowledge=self.knowledge)

    async def generate(self) -> AsyncGenerator[str]:
        """G: the answer piece by piece; where k is empty, the sentence that says so."""
        with self._timed("generate"):
            if not self.knowledge.sources:
                self.pieces.append(not_covered(self.question, self.documents, self._searched_in_vain()))
                yield self.pieces[-1]
                return
            try:
                async with aclosing(self.parts.generator.stream(self.question, self.knowledge)) as pieces:
                    async for piece in pieces:
                        self.pieces.append(piece)
                        yield piece
            except CragError as error:
                self.error = str(error)

    def check(self) -> None:
        """Holds the answer's citations against the sources."""
        with self._timed("check"):
            self.checked = check("".join(self.pieces), self.knowledge, self.strips)

    def trace(self) -> Trace:
        """Everything so far."""
        last = self.decisions[-1] if self.decisions else None
        evaluator = self.parts.evaluator
        return Trace(
            turn_id=self.turn_id,
            created=self.created,
            catalog_version=self.catalog_version,
            question=self.question,
            language=self.language,
            files=self.files,
            search_query=self.search_query,
            k=self.parts.k,
            thresholds=self.parts.thresholds,
            evaluator=EvaluatorName(name=evaluator.name, version=evaluator.version),
            generator=self.parts.generator.name,
            action=self.action,
            decision=last.sentence if last else "",
            decisions=tuple(self.decisions),
            documents=self.documents,
            web_gate="auto" if self.parts.open_web else "off",
            web=self.web,
            web_documents=self.web_documents,
            strips=self.strips,
            knowledge=self.knowledge.text,
            sources=self.knowledge.sources,
            answer="".join(self.pieces),
            covered=bool(self.knowledge.sources),
            citations=self.checked.citations,
            check=self.checked,
            timings={stage: round(seconds, 6) for stage, seconds in self.timings.items()},
            notices=tuple(self.notices),
            stopped=self.stopped,
            error=self.error,
        )

    def _searched_in_vain(self) -> str | None:
        """The query to which the web has answered, where nothing of the answer could be used."""
        answered = self.web is not None and self.web.results is not None and (self.web_answered or not self.from_web)
        return self.web.query if self.web and answered else None

    async def _grade(self, documents: Iterable[Document]) -> None:
        fresh = [document for document in documents if document.id not in self.grades]
        given = await self.parts.evaluator.grade(self.question, fresh) if fresh else []
        self.grades.update({document.id: grade for document, grade in zip(fresh, given, strict=True)})

    def _graded(self, documents: Iterable[Document]) -> tuple[GradedDocument, ...]:
        limits, grades = self.parts.thresholds, self.grades
        return tuple(GradedDocument.of(d, grades[d.id].document, limits) for d in documents if d.id in grades)

    def _notice(self, key: str, **values: object) -> None:
        self.notices.append(say(self.language, key, **values))

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        name = f"second_{stage}" if self.search_query and stage in ("embed", "retrieve", "grade", "decide") else stage
        start = time.perf_counter()
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - start


def _causes(documents: Sequence[GradedDocument]) -> str:
    return "; ".join(dict.fromkeys(document.cause or "" for document in documents))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is finished even when the turn is stopped meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
