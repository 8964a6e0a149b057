"""Algorithm 1 of Corrective RAG (Yan et al., arXiv 2401.15884): from a question to a checked answer, as events."""

from __future__ import annotations

import asyncio
import re
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, aclosing, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol, TypeVar

from crag.action_trigger import decide
from crag.embedding.base import Embedder
from crag.errors import CragError, QuestionError
from crag.evaluator.base import Evaluator
from crag.events import Decided, Finished, Graded, Refined, Retrieved, Rewritten, Token, TurnEvent
from crag.generator.base import Generator
from crag.generator.citations import check
from crag.generator.not_covered import not_covered
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
    Thresholds,
    Trace,
)
from crag.text import language

T = TypeVar("T")
_UNSEEN = re.compile(r"[\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
"""What no reader sees: zero-width and direction marks, controls, and halves of characters that no encoder takes."""

LONGEST_QUESTION = 4000
"""Characters; what is longer is a text, not a question."""
STOP_TICK = 0.05
"""Seconds after which a stop is noticed while something is waited for."""
SECOND_LOOK = 2
"""The second look retrieves so many times k documents."""


class Pinned(Searchable, Protocol):
    """A searchable index of one catalog version."""

    @property
    def version(self) -> int: ...


class Askable(Protocol):
    """The knowledge base as a question sees it. `snapshot` raises `KnowledgeBaseError` when it cannot be asked."""

    def snapshot(self) -> AbstractContextManager[Pinned]: ...


@dataclass(frozen=True)
class Parts:
    """What one turn is answered with."""

    knowledge_base: Askable
    embedder: Embedder
    evaluator: Evaluator
    rewriter: Callable[[str], str]
    generator: Generator
    thresholds: Thresholds
    k: int = 8
    fusion_constant: int = 60
    notices: tuple[str, ...] = ()


async def answer(parts: Parts, question: str, turn_id: str, stop: threading.Event) -> AsyncGenerator[TurnEvent]:
    """Answers `question`; the last event is always `Finished` with the trace, also when `stop` was set on the way.

    Raises QuestionError for a question that is none, KnowledgeBaseError for an index that cannot be asked.
    """
    turn = _Turn(parts, _asked(question), turn_id)
    async with aclosing(_algorithm(turn)) as events:
        while (event := await _unless(stop, events)) is not None:
            yield event
    turn.stopped = stop.is_set()
    yield Finished(trace=turn.trace())


async def _unless(stop: threading.Event, events: AsyncGenerator[TurnEvent]) -> TurnEvent | None:
    """The next event; None after the last one, or as soon as `stop` is set: what is waited for is given up."""
    if stop.is_set():
        return None
    coming = asyncio.ensure_future(anext(events, None))
    while not (await asyncio.wait({coming}, timeout=STOP_TICK))[0]:
        if stop.is_set():
            coming.cancel()
            await asyncio.wait({coming})
            return None
    return coming.result()


async def _algorithm(turn: _Turn) -> AsyncGenerator[TurnEvent]:
    parts, question = turn.parts, turn.question
    async with _pinned(parts.knowledge_base) as index:
        turn.catalog_version = index.version
        yield await turn.look(index, question, parts.k)
        yield await turn.grade()
        decision = turn.decide(question)
        if decision is None:
            return
        yield Decided(decision=decision)
        if decision.action is Action.INCORRECT:
            turn.search_query = parts.rewriter(question)
            yield Rewritten(query=turn.search_query)
            yield await turn.look(index, turn.search_query, SECOND_LOOK * parts.k)
            yield await turn.grade()
            decision = turn.decide(turn.search_query)
            if decision is None:
                return
            yield Decided(decision=decision)
    yield turn.refine(decision.action)  # from here on the index may move on: everything needed is in the turn
    async with aclosing(turn.generate()) as pieces:
        async for piece in pieces:
            yield Token(text=piece)
    turn.check()


@dataclass
class _Turn:
    """What one question has led to so far; becomes the trace."""

    parts: Parts
    question: str
    turn_id: str
    created: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    catalog_version: int = 0
    search_query: str | None = None
    looked_at: tuple[str, ...] = ()
    found: dict[str, Document] = field(default_factory=dict)
    grades: dict[str, DocumentGrade] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
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
        limits = self.parts.thresholds
        return tuple(GradedDocument.of(self.found[key], self.grades[key].document, limits) for key in self.grades)

    async def look(self, index: Searchable, query: str, k: int) -> Retrieved:
        """R: documents for `query`; those of an earlier look stay."""
        with self._timed("embed"):
            vector = await in_pool(self.parts.embedder.embed_query, query)
        with self._timed("retrieve"):
            found = in_pool(retrieve, index, query, vector, k, self.parts.fusion_constant)
            documents = await _to_the_end(found)  # the index may not be let go of while it is read
        self.looked_at = tuple(document.id for document in documents)
        for document in documents:
            self.found.setdefault(document.id, document)
        return Retrieved(query=query, documents=documents)

    async def grade(self) -> Graded:
        """E: grades what has no grade yet, always by the user's question, whatever was searched for."""
        fresh = [document for key, document in self.found.items() if key not in self.grades]
        with self._timed("grade"):
            given = await self.parts.evaluator.grade(self.question, fresh) if fresh else []
        self.grades.update({document.id: grade for document, grade in zip(fresh, given, strict=True)})
        return Graded(documents=self.documents)

    def decide(self, query: str) -> Decision | None:
        """The action for the documents of the last look; None, with the error set, where none could be graded."""
        looked_at = set(self.looked_at)
        graded = [document for document in self.documents if document.id in looked_at]
        second = bool(self.decisions)
        with self._timed("decide"):
            decision = decide(graded, self.parts.thresholds, query, lang=self.language, second_look=second)
        if decision is None:
            self.error = _nothing_graded(graded, self.language)
            return None
        self.decisions.append(decision)
        return decision

    def refine(self, action: Action) -> Refined:
        """Decompose, filter, recompose: k."""
        with self._timed("refine"):
            documents = self.documents
            strips = ledger(documents, [self.grades[document.id] for document in documents])
            self.strips = select(documents, strips, self.parts.thresholds, action)
            self.knowledge = recompose(self.strips)
        if any(strip.fate is Fate.FALLBACK for strip in self.strips):
            self.notices.append(_FALLBACK[self.language])
        return Refined(strips=self.strips, knowledge=self.knowledge)

    async def generate(self) -> AsyncGenerator[str]:
        """G: the answer piece by piece; where k is empty, the sentence that says so."""
        with self._timed("generate"):
            if not self.knowledge.sources:
                self.pieces.append(not_covered(self.question, self.documents))
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
            search_query=self.search_query,
            k=self.parts.k,
            thresholds=self.parts.thresholds,
            evaluator=EvaluatorName(name=evaluator.name, version=evaluator.version),
            generator=self.parts.generator.name,
            action=last.action if last else None,
            decision=last.sentence if last else "",
            decisions=tuple(self.decisions),
            documents=self.documents,
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

    @contextmanager
    def _timed(self, stage: str) -> Iterator[None]:
        name = f"second_{stage}" if self.search_query and stage in ("embed", "retrieve", "grade", "decide") else stage
        start = time.perf_counter()
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - start


_FALLBACK = {
    "en": "No strip reached the strip threshold: the best one is used although it is below.",
    "zh": "没有片段达到片段阈值：使用了得分最高的一个，尽管它低于阈值。",
}


@asynccontextmanager
async def _pinned(knowledge_base: Askable) -> AsyncIterator[Pinned]:
    """One catalog version for the whole turn; opening and closing touch the disk, so they run on the pool."""
    snapshot = knowledge_base.snapshot()
    index = await in_pool(snapshot.__enter__)
    try:
        yield index
    finally:
        await in_pool(snapshot.__exit__, None, None, None)


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """The result of `work`, which is finished even when the turn is stopped meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


def _asked(question: str) -> str:
    question = " ".join(_UNSEEN.sub("", question).split())
    if not question:
        raise QuestionError("The question is empty: type what you want to know.")
    if len(question) > LONGEST_QUESTION:
        raise QuestionError(f"The question has {len(question)} characters: shorten it to at most {LONGEST_QUESTION}.")
    return question


def _nothing_graded(documents: Sequence[GradedDocument], lang: str) -> str:
    causes = "; ".join(dict.fromkeys(document.cause or "" for document in documents))
    if lang == "zh":
        return f"检索到的 {len(documents)} 个文档都无法评分（{causes}），因此没有作出判断。请重试。"
    return f"None of the {len(documents)} documents could be graded ({causes}), so nothing was decided. Grade again."
