"""The same question answered otherwise, to see what grading and refining change: without documents, or by plain RAG."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from enum import StrEnum
from typing import Final

from crag.errors import CragError, GenerationError
from crag.events import Token
from crag.generator.citations import check
from crag.generator.extractive import ExtractiveGenerator, lead_in
from crag.parts import Parts
from crag.pieces import Cut, Piece, Sent, Text, Thought
from crag.pipeline import until_stopped
from crag.plain_rag import PLAIN_K, plain_quotes
from crag.refinement import as_text
from crag.runtime import in_pool
from crag.schema import CitationCheck, Fate, Frozen, GradedStrip, Knowledge, ModelCall, Source, Trace


class Way(StrEnum):
    """How a question is answered without Corrective RAG."""

    NOTHING = "nothing"
    """By the model alone, with no retrieval."""
    PLAIN = "plain"
    """From the first documents of the retrieval as they are: no grading, no refining, no web."""


NO_MODEL: Final = "Without a language model there is nothing to answer from but the documents: choose a model."


class Compared(Frozen):
    """An answer given another way."""

    way: Way
    answer: str = ""
    thinking: str = ""
    cut: str | None = None
    """Why the answer ends before it is complete, as a sentence."""
    knowledge: str = ""
    """What the generator was given; empty with no retrieval."""
    sources: tuple[Source, ...] = ()
    check: CitationCheck = CitationCheck()
    generator: str = ""
    calls: tuple[ModelCall, ...] = ()
    seconds: float = 0.0
    currency: str = "USD"
    stopped: bool = False
    error: str | None = None


async def compare(parts: Parts, trace: Trace, way: Way, stop: threading.Event) -> AsyncGenerator[Token | Compared]:
    """The question of `trace` answered in another way by the generator of `parts`; the last event is `Compared`.

    Plain RAG reads the first four documents of the first look as the trace holds them, so both ways rest on the same
    retrieval; the evaluator is not asked.
    """
    question, begun = trace.standalone or trace.question, time.perf_counter()
    given = plain_knowledge(trace) if way is Way.PLAIN else Knowledge()
    told: list[Piece] = []
    error: str | None = None
    try:
        async with aclosing(until_stopped(stop, _pieces(parts, question, way, given))) as pieces:
            async for piece in pieces:
                told.append(piece)
                if isinstance(piece, Text):
                    yield Token(text=piece.text)
    except CragError as failed:
        error = str(failed)
    sent = next((piece.knowledge for piece in told if isinstance(piece, Sent) and piece.knowledge), given)
    answer = "".join(piece.text for piece in told if isinstance(piece, Text))
    broken = error if answer else None
    yield Compared(
        way=way,
        answer=answer,
        thinking="".join(piece.text for piece in told if isinstance(piece, Thought)),
        cut=broken or next((piece.why for piece in told if isinstance(piece, Cut)), None),
        knowledge=sent.text,
        sources=sent.sources,
        check=check(answer, sent, sent.strips) if sent.sources else CitationCheck(),
        generator=parts.generator.name,
        calls=tuple(parts.ledger.calls),
        seconds=time.perf_counter() - begun,
        currency=parts.currency,
        stopped=stop.is_set(),
        error=None if broken else error,
    )


def plain_knowledge(trace: Trace) -> Knowledge:
    """The first documents of the first look, whole, each a source; all their strips count as kept."""
    ranked = trace.decisions[0].documents if trace.decisions else tuple(d.id for d in trace.documents)
    by_id = {document.id: document for document in trace.documents}
    chosen = [by_id[id_] for id_ in ranked if id_ in by_id][:PLAIN_K]
    strips: dict[str, GradedStrip] = {}
    sources = []
    for n, document in enumerate(chosen, 1):
        own = [strip for strip in trace.strips if document.id in strip.documents and strip.id not in strips]
        strips |= {strip.id: strip.model_copy(update={"fate": Fate.KEPT}) for strip in own}
        sources.append(
            Source(
                n=n,
                file=document.file,
                files=document.files,
                content=document.content,
                page=document.page,
                pages=document.pages,
                text=document.text,
                strips=tuple(strip.id for strip in own),
            )
        )
    return Knowledge(text=as_text(sources), sources=tuple(sources), strips=tuple(strips.values()))


async def _pieces(parts: Parts, question: str, way: Way, knowledge: Knowledge) -> AsyncGenerator[Piece]:
    if way is Way.NOTHING:
        if parts.bare is None:
            raise GenerationError(NO_MODEL)
        stream = parts.bare.stream(question)
    elif not knowledge.sources:
        raise GenerationError("Nothing was retrieved for this answer, so plain RAG has nothing to answer from.")
    elif isinstance(parts.generator, ExtractiveGenerator):
        stream = _quoted(parts, question, knowledge)
    else:
        stream = parts.generator.stream(question, knowledge)
    async with aclosing(stream) as pieces:
        async for piece in pieces:
            yield piece


async def _quoted(parts: Parts, question: str, knowledge: Knowledge) -> AsyncGenerator[Piece]:
    """Without a model plain RAG quotes too, by similarity alone, whatever that is worth."""
    number = {id_: source.n for source in knowledge.sources for id_ in source.strips}
    by_text = {strip.text: strip for strip in reversed(knowledge.strips)}
    quotes = await in_pool(plain_quotes, parts.embedder, question, list(by_text))
    yield Text(lead_in([by_text[quote] for quote in quotes], question))
    for quote in quotes:
        yield Text(f"\n\n“{quote}” [{number[by_text[quote].id]}]")
