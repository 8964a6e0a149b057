"""Settings to the assembled parts: the only place that chooses an implementation."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from config import Settings
from crag.embedding.base import Embedder
from crag.embedding.loading import load_embedder
from crag.errors import CragError
from crag.evaluator.base import Evaluator
from crag.evaluator.lightweight import LightweightEvaluator
from crag.events import TurnEvent
from crag.generator.extractive import ExtractiveGenerator
from crag.knowledge_base.base import KnowledgeBase
from crag.pipeline import Parts, answer
from crag.runtime import Job
from crag.search.rewriter import keywords

log = logging.getLogger(__name__)

Progress = Callable[[str, float], None]
"""A sentence about what is being prepared, and its share done in [0, 1]."""


@dataclass(frozen=True)
class House:
    """What a process opens once: the embedding engine, the knowledge base and the evaluator over both."""

    embedder: Embedder
    knowledge_base: KnowledgeBase
    evaluator: Evaluator
    notices: tuple[str, ...] = ()

    def parts(self, settings: Settings) -> Parts:
        """What a turn with `settings` is answered with; cheap, made anew for every turn."""
        return Parts(
            knowledge_base=self.knowledge_base,
            embedder=self.embedder,
            evaluator=self.evaluator,
            rewriter=keywords,
            generator=ExtractiveGenerator(quotes=settings.quotes),
            thresholds=settings.thresholds,
            k=settings.k,
            fusion_constant=settings.fusion_constant,
            notices=self.notices,
        )

    def warm_up(self) -> None:
        """Opens what the first question would otherwise wait for; an index that cannot be asked is left alone."""
        try:
            with self.knowledge_base.snapshot() as index:
                index.dense(self.embedder.embed_query(""), 1)
        except CragError as error:
            log.info("not warmed up: %s", error)

    def close(self) -> None:
        self.knowledge_base.close()


def open_house(settings: Settings, progress: Progress | None = None) -> House:
    """Loads the embedding engine (the first time it is converted, with `progress`) and opens the knowledge base.

    Raises EmbeddingError where there is no engine, KnowledgeBaseError where the index cannot be opened.
    """
    loaded = load_embedder(settings.cache_dir, settings.threads, progress)
    knowledge_base = KnowledgeBase(
        settings.files_dir,
        settings.chroma_dir,
        loaded.embedder,
        parse_timeout=settings.parse_timeout,
        notice=loaded.notice,
    )
    evaluator = LightweightEvaluator(loaded.embedder, knowledge_base)
    notices = (loaded.notice,) if loaded.notice else ()
    return House(loaded.embedder, knowledge_base, evaluator, notices)


def ask(house: House, settings: Settings, question: str) -> Callable[[Job[TurnEvent]], AsyncIterator[TurnEvent]]:
    """The source of a turn's events, for `Runtime.start`."""

    def source(job: Job[TurnEvent]) -> AsyncIterator[TurnEvent]:
        return answer(house.parts(settings), question, turn_id=job.id, stop=job.stopping)

    return source


def answer_now(house: House, settings: Settings, question: str, turn_id: str) -> AsyncIterator[TurnEvent]:
    """The events of a turn that nobody stops: for the command line and evaluation."""
    return answer(house.parts(settings), question, turn_id=turn_id, stop=threading.Event())
