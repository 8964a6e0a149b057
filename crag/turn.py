"""One turn: what a question has led to so far, step by step of the algorithm; becomes the trace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any, TypeVar

import numpy as np

from crag.embedding.base import Vectors
from crag.errors import ModelError, WebSearchError
from crag.events import Asking, Condensed, Drafted, Graded, Refined, Retrieved, Rewritten, Searched
from crag.gate import Gate
from crag.generator.citations import check
from crag.notices import say
from crag.parts import Parts
from crag.refinement import ledger, recompose, select
from crag.retrieval import Searchable, retrieve
from crag.rulings import decided, graded, kept_by_hand
from crag.runtime import in_pool
from crag.schema import (
    Action,
    Change,
    CitationCheck,
    Decision,
    Document,
    DocumentGrade,
    EvaluatorName,
    Exchange,
    Fate,
    GradedDocument,
    GradedStrip,
    Knowledge,
    Reused,
    SentPart,
    StageRun,
    WebSearched,
)
from crag.search.base import WebSearch, shortened
from crag.search.external import documents_of
from crag.search.freshness import time_range
from crag.text import language

T = TypeVar("T")


@dataclass
class Turn:
    """What one question has led to so far; each method is one step of the algorithm.

    `files` are the paths that may be used; none: all. `history` is the conversation so far, the oldest first.
    """

    parts: Parts
    question: str
    turn_id: str
    files: tuple[str, ...] = ()
    history: tuple[Exchange, ...] = ()
    revises: str | None = None
    """The turn whose answer a person has changed, so that it is made anew; None: this one was asked."""
    changes: tuple[Change, ...] = ()
    """What is set by hand."""
    graded_by: EvaluatorName | None = None
    """Who gave the grades that were there before this turn; None: there were none."""
    created: str = field(default_factory=lambda: now())
    catalog_version: int = 0
    standalone: str | None = None
    hypothetical: str | None = None
    direct: bool = False
    search_query: str | None = None
    looked_at: tuple[str, ...] = ()
    found: dict[str, Document] = field(default_factory=dict)
    grades: dict[str, DocumentGrade] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    web: WebSearched | None = None
    from_web: tuple[Document, ...] = ()
    strips: tuple[GradedStrip, ...] = ()
    knowledge: Knowledge = field(default_factory=Knowledge)
    sent: tuple[SentPart, ...] = ()
    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    cut: str | None = None
    written_by: str = ""
    checked: CitationCheck = field(default_factory=CitationCheck)
    timings: dict[str, float] = field(default_factory=dict)
    runs: list[StageRun] = field(default_factory=list)
    reused: list[Reused] = field(default_factory=list)
    """What the stage that runs did not have to do again."""
    began: float = field(default_factory=time.perf_counter)
    notices: list[str] = field(default_factory=list)
    stopped: bool = False
    error: str | None = None

    def __post_init__(self) -> None:
        self.language = language(self.question)
        self.notices += self.parts.notices
        self.history = self.history[-self.parts.history_turns :] if self.parts.history_turns else ()

    @property
    def asked(self) -> str:
        """The question that stands alone: by it everything is searched, graded and answered."""
        return self.standalone or self.question

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

    def needs_no_evidence(self) -> bool:
        """Whether the message can be answered without the flow, as far as its words alone tell."""
        self.direct = self.parts.direct is not None and self.parts.direct.takes(self.question, self.history)
        return self.direct

    async def condense(self) -> Condensed | None:
        """The follow-up as a question that stands alone; None where it is used as it was typed."""
        if self.parts.condenser is None or not self.history:
            return None
        with self.timed("condense"):
            try:
                understood = await self.parts.condenser.condense(self.question, self.history)
            except ModelError as error:
                self.notice("not_condensed", error=error)
                return None
        self.direct = not understood.needs_evidence and self.parts.direct is not None
        if self.direct or understood.question == self.question:
            return None
        self.standalone = understood.question
        return Condensed(question=understood.question)

    async def draft(self) -> Drafted | None:
        """HyDE: an answer as it might stand in a document, to be searched for beside the question."""
        if self.parts.drafter is None:
            return None
        with self.timed("draft"):
            try:
                self.hypothetical = await self.parts.drafter(self.asked)
            except ModelError as error:
                self.notice("not_drafted", error=error)
                return None
        return Drafted(text=self.hypothetical)

    async def look(self, index: Searchable, query: str, k: int) -> Retrieved:
        """R: documents for `query`; those of an earlier look stay."""
        with self.timed("embed"):
            vector = await in_pool(self._vector, query)
        with self.timed("retrieve"):
            chosen = await in_pool(self._chosen, index)
            found = in_pool(retrieve, index, query, vector, k, self.parts.fusion_constant, chosen)
            documents = await _to_the_end(found)  # the index may not be let go of while it is read
        self.looked_at = tuple(document.id for document in documents)
        for document in documents:
            self.found.setdefault(document.id, document)
        return Retrieved(query=query, documents=documents)

    def _vector(self, query: str) -> Vectors:
        """The query's vector; in the first look, where an answer was drafted, the mean of both (HyDE), length 1."""
        vector = self.parts.embedder.embed_query(query)
        if self.hypothetical and query == self.asked:
            vector = vector + self.parts.embedder.embed_passages([self.hypothetical])[0]
            vector = vector / np.linalg.norm(vector)
        return vector

    def _chosen(self, index: Searchable) -> frozenset[str] | None:
        """The contents of the files that may be used; None: all."""
        if not self.files:
            return None
        found = index.contents(self.files)
        missing = [path for path in self.files if path not in found]
        if missing and self.search_query is None:
            self.notice("files_missing", files=", ".join(missing))
        return frozenset(found.values())

    async def grade(self) -> Graded:
        """E: grades what has no grade yet, always by the question, whatever was searched for."""
        with self.timed("grade"):
            await self._grade(self.found.values())
        return Graded(documents=self.documents + self.web_documents)

    def decide(self, query: str) -> Decision | None:
        """The action for the documents of the last look; None, with the error set, where none could be graded."""
        looked_at = set(self.looked_at)
        found = [document for document in self.documents if document.id in looked_at]
        look, web = len(self.decisions) + 1, self.parts.open_web is not None
        with self.timed("decide"):
            decision = decided(
                found, self.parts.thresholds, query, self.changes, look=look, lang=self.language, web=web
            )
        if decision is None:
            self.error = say(self.language, "nothing_graded", n=len(found), causes=_causes(found))
            return None
        self.decisions.append(decision)
        return decision

    async def rewrite(self) -> Rewritten:
        """W for the second look."""
        self.search_query = await self._rewritten()
        return Rewritten(query=self.search_query)

    async def rewrite_for(self, web: WebSearch) -> Rewritten:
        """W for the web: from the question alone, never from what a document says."""
        return Rewritten(query=shortened(await self._rewritten()), provider=web.name)

    async def _rewritten(self) -> str:
        with self.timed("rewrite"):
            try:
                return await self.parts.rewriter(self.asked)
            except ModelError as error:
                if self.parts.spare_rewriter is None:
                    raise
                self.notice("not_rewritten", error=error)
                return await self.parts.spare_rewriter(self.asked)

    def asks_first(self, web: WebSearch, query: str) -> Asking | None:
        """What a person is asked before the query leaves; None: it may."""
        return Asking(query=query, provider=web.name) if self.parts.web_gate == "ask" else None

    async def allowed(self, gate: Gate | None) -> str | None:
        """The query as a person lets it out; None, and told, where nobody does."""
        if gate is None:
            self.notice("web_nobody_asked")
            return None
        with self.timed("wait"):
            query = await gate.wait()
        if query is None:
            self.notice("web_declined")
        return shortened(query) if query else None

    async def search(self, web: WebSearch, query: str, proposed: str | None = None) -> Searched:
        """The web, asked for `query`; where a question for news finds none, for what is of any age, and that is told.

        A failure is noted and told, and ends nothing.
        `proposed` is what W had made of the question.
        """
        edited = proposed if proposed != query else None  # noted before anything leaves
        age = time_range(self.asked, date.fromisoformat(self.created[:10]))
        asked = WebSearched(provider=web.name, query=query, time=now(), proposed=edited, time_range=age)
        self.web = asked
        with self.timed("search"):
            try:
                answered = await web.search(query, age)
                if age and not documents_of(answered.results):
                    self.web = asked = asked.model_copy(update={"time_range": None})
                    self.notice("web_any_age")
                    first, answered = answered.cost, await web.search(query)
                    answered = replace(answered, cost=_sum(first, answered.cost))
            except WebSearchError as error:
                self.web = asked.model_copy(update={"error": str(error)})
                self.notice("web_failed", error=error)
            else:
                came = {"results": len(answered.results), "cached": answered.cached, "cost": answered.cost}
                self.web = asked.model_copy(update=came)
                self.from_web = documents_of(answered.results)
                if not self.from_web:
                    self.notice("web_empty")
        return Searched(**dict(self.web), documents=self.from_web)

    async def grade_web(self) -> Graded:
        """E on what the web gave, by the same rule as on the files."""
        with self.timed("grade_web"):
            await self._grade(self.from_web)
        if not self.web_answered:
            self.notice("web_ungraded", causes=_causes(self.web_documents))
        return Graded(documents=self.documents + self.web_documents)

    def refine(self, action: Action) -> Refined:
        """Decompose, filter, recompose: k, of the files and of the web side by side."""
        with self.timed("refine"):
            documents = self.documents + self.web_documents
            strips = ledger(documents, [self.grades[document.id] for document in documents])
            strips = select(documents, strips, self.parts.thresholds, action)
            self.strips = kept_by_hand(documents, strips, self.changes)
            self.knowledge = recompose(self.strips)
        for web, key in ((False, "fallback"), (True, "web_fallback")):
            if any(strip.fate is Fate.FALLBACK and (strip.url is not None) is web for strip in self.strips):
                self.notice(key)
        wanted = self.web_answered and action is not Action.CORRECT
        if wanted and self.knowledge.sources and not any(source.url for source in self.knowledge.sources):
            self.notice("web_unused")
        return Refined(strips=self.strips, knowledge=self.knowledge)

    def check(self) -> None:
        """Holds the answer's citations against the sources."""
        with self.timed("check"):
            self.checked = check("".join(self.pieces), self.knowledge, self.strips)

    def searched_in_vain(self) -> str | None:
        """The query to which the web has answered, where nothing of the answer could be used."""
        answered = self.web is not None and self.web.results is not None and (self.web_answered or not self.from_web)
        return self.web.query if self.web and answered else None

    async def _grade(self, documents: Iterable[Document]) -> None:
        fresh = [document for document in documents if document.id not in self.grades]
        now = EvaluatorName(name=self.parts.evaluator.name, version=self.parts.evaluator.version)
        if fresh and self.graded_by is not None and self.graded_by != now:
            self.notice("graded_by_two", before=_named(self.graded_by), now=_named(now))
        given = await self.parts.evaluator.grade(self.asked, fresh) if fresh else []
        self.grades.update({document.id: grade for document, grade in zip(fresh, given, strict=True)})
        self.reused += reused_by(given)

    def _graded(self, documents: Iterable[Document]) -> tuple[GradedDocument, ...]:
        limits, grades = self.parts.thresholds, self.grades
        own = (GradedDocument.of(d, grades[d.id].document, limits) for d in documents if d.id in grades)
        return graded(own, self.changes, limits)

    def notice(self, key: str, **values: object) -> None:
        """Tells something beside the answer, in the language of the question."""
        self.notices.append(say(self.language, key, **values))

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Adds to the seconds of a stage, and notes when it ran and by which calls."""
        name = f"second_{stage}" if self.search_query and stage in ("embed", "retrieve", "grade", "decide") else stage
        start, before = time.perf_counter(), len(self.parts.ledger.calls)
        try:
            yield
        finally:
            seconds = time.perf_counter() - start
            self.timings[name] = self.timings.get(name, 0.0) + seconds
            calls = tuple(range(before, len(self.parts.ledger.calls)))
            times = {"started": round(start - self.began, 6), "seconds": round(seconds, 6)}
            self.runs.append(StageRun(stage=name, **times, calls=calls, reused=tuple(self.reused)))
            self.reused.clear()


def reused_by(grades: Sequence[DocumentGrade]) -> list[Reused]:
    """What grading did not have to do again; nothing where nothing could have been there."""
    cached = sum(grade.cached for grade in grades)
    known, all_ = sum(grade.known for grade in grades), sum(grade.known + grade.made for grade in grades)
    found = [Reused(what="grades", n=cached, of=len(grades)), Reused(what="vectors", n=known, of=all_)]
    return [one for one in found if one.n]


def _named(evaluator: EvaluatorName) -> str:
    return f"{evaluator.name} {evaluator.version}"


def _causes(documents: Sequence[GradedDocument]) -> str:
    return "; ".join(dict.fromkeys(document.cause or "" for document in documents))


def _sum(*costs: float | None) -> float | None:
    """What is known of them together; None: nothing."""
    known = [cost for cost in costs if cost is not None]
    return sum(known) if known else None


def now() -> str:
    """UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is finished even when the turn is stopped meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise
