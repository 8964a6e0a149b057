"""Runs over golden questions: which are to be asked, asking them as a job, and what came of it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from config import Settings
from crag.assembly import House
from crag.evaluation.calibrating import as_decided, both_looks, looks_once
from crag.evaluation.golden import SET, as_question, sha256_of
from crag.evaluation.labelled import Labelled, expected_action, from_questions
from crag.evaluation.report import Report, report_of, to_json
from crag.evaluation.running import Outcome, ask_one, opened
from crag.history.golden import Answered, Golden, Goldens
from crag.runtime import in_pool
from crag.schema import Trace

log = logging.getLogger(__name__)

Under = Mapping[str, Any]
"""What decides an answer beside its question, as JSON holds it."""
REASONS: Final = {
    "index": ("catalog", "embedding"),
    "evaluator": ("evaluator",),
    "thresholds": ("thresholds",),
    "settings": ("k", "fusion", "generator", "web", "hyde"),
}
"""By what is told when it has changed: the fields of `Under`."""


@dataclass(frozen=True)
class Asked:
    """How far a run has come."""

    done: int
    of: int
    question: str
    """The one that is asked now; empty at the end."""
    seconds: float
    """Since the run began."""

    @property
    def seconds_left(self) -> float | None:
        """At the pace so far; None before the first answer."""
        return self.seconds / self.done * (self.of - self.done) if self.done else None


def under_of(house: House, settings: Settings) -> Under:
    """What an answer is given under now. Raises KnowledgeBaseError where the index cannot be read."""
    parts = house.parts(settings)
    return {
        "catalog": house.knowledge_base.version(),
        "embedding": house.embedder.fingerprint,
        "evaluator": f"{parts.evaluator.name} {parts.evaluator.version}",
        "thresholds": parts.thresholds.model_dump(mode="json"),
        "k": parts.k,
        "fusion": parts.fusion_constant,
        "generator": parts.generator.name,
        "web": f"{settings.web_provider} {settings.web}" if parts.web is not None else "off",
        "hyde": settings.hyde,
    }


def swept_under_of(house: House, settings: Settings) -> Under:
    """Likewise of the run that thresholds are tried on: it depends on no threshold, and on no writer."""
    under = under_of(*both_looks(house, settings))
    return {name: under[name] for name in under if name not in ("thresholds", "web")} | {"once": looks_once(settings)}


def changed_since(before: Under, now: Under) -> tuple[str, ...]:
    """The keys of `REASONS` that tell what differs."""
    return tuple(
        name for name, fields in REASONS.items() if any(before.get(field) != now.get(field) for field in fields)
    )


def asked_as(golden: Golden) -> dict[str, Any]:
    """What of a question decides its answer and how that is counted; a note does not."""
    return as_question(golden).model_dump(mode="json", exclude={"note"})


def to_ask(goldens: Sequence[Golden], answered: Mapping[int, Answered], under: Under) -> list[Golden]:
    """Those that have no answer which holds: never asked, failed, edited since, or asked under something else."""
    return [
        golden
        for golden in goldens
        if not (_holds(golden, answer := answered.get(golden.id), under) and answer and not answer.failed)
    ]


def _holds(golden: Golden, answer: Answered | None, under: Under) -> bool:
    return answer is not None and answer.asked == asked_as(golden) and answer.under == under


async def run_golden(
    house: House, settings: Settings, store: Goldens, chosen: Sequence[Golden], stopping: threading.Event
) -> AsyncIterator[Asked]:
    """Asks the `chosen` questions one after the other; each answer is kept at once, the report at the end.

    A question that fails is an answer with its error and stops no other. Stopped, the report is made of what holds.
    Raises KnowledgeBaseError where the index cannot be asked at all, HistoryError where nothing can be kept.
    """
    await in_pool(opened, house)
    begin = time.monotonic()
    run, done = _Run(house, settings, store, await in_pool(store.answered), stopping), 0
    for golden in chosen:
        if stopping.is_set():
            break
        yield Asked(done, len(chosen), golden.question, time.monotonic() - begin)
        done += await run.ask(golden)
    await in_pool(_keep_report, house, settings, store, done, len(chosen) - done)
    yield Asked(done, len(chosen), "", time.monotonic() - begin)


@dataclass(frozen=True)
class _Run:
    house: House
    settings: Settings
    store: Goldens
    answered: Mapping[int, Answered]
    """As it was before the run."""
    stopping: threading.Event

    async def ask(self, golden: Golden) -> bool:
        """Whether it was asked: what was stopped on the way counts for nothing."""
        under = await in_pool(under_of, self.house, self.settings)
        trace = (await ask_one(self.house, self.settings, as_question(golden), self.stopping)).trace
        swept_under, swept = ({}, None) if trace.error else await self._sweep(golden)  # what failed is asked again
        if self.stopping.is_set():
            return False
        under = _at(under, trace)
        await in_pool(self.store.keep_answer, golden.id, asked_as(golden), under, trace, swept_under, swept)
        return True

    async def _sweep(self, golden: Golden) -> tuple[Under, Trace | None]:
        """The run with both looks that thresholds are tried on; kept from before where it would be the same."""
        question = as_question(golden)
        if expected_action(question) is None or self.stopping.is_set():
            return {}, None
        under = await in_pool(swept_under_of, self.house, self.settings)
        known = self.answered.get(golden.id)
        if known and known.swept_under == under and known.asked.get("question") == golden.question:
            kept = await in_pool(self.store.swept_of, golden.id)
            if kept is not None and kept.decisions:
                return under, kept
        trace = (await ask_one(*both_looks(self.house, self.settings), question, self.stopping)).trace
        return _at(under, trace), _slim(as_decided(trace, self.settings))


def _at(under: Under, trace: Trace) -> Under:
    """With the version of the index that was asked: a build may have published since."""
    return {**under, "catalog": trace.catalog_version} if trace.catalog_version else under


def _slim(trace: Trace) -> Trace:
    """Without what no threshold is tried on: the strips stand in the trace itself."""
    documents = tuple(document.model_copy(update={"strips": (), "features": {}}) for document in trace.documents)
    return trace.model_copy(update={"documents": documents, "knowledge": "", "sources": (), "answer": ""})


def _keep_report(house: House, settings: Settings, store: Goldens, asked: int, left: int) -> None:
    """Of all answers that hold; nothing where none does."""
    answered, under = store.answered(), under_of(house, settings)
    valid = {golden.id: golden for golden in store.all() if _holds(golden, answered.get(golden.id), under)}
    if valid:
        outcomes = (Outcome(as_question(valid[id_]), trace) for id_, trace in store.traces() if id_ in valid)
        report = report_of(outcomes, house, settings, SET, sha256_of(list(valid.values())))
        store.add_run(to_json(report), asked, left)


def report_from(store: Goldens, run: int) -> Report | None:
    """The report of a run; None where it is gone, or can no longer be read."""
    kept = store.report(run)
    try:
        return Report.model_validate_json(kept) if kept else None
    except ValueError:
        log.exception("the report of a run cannot be read")
        return None


def labelled(house: House, settings: Settings, store: Goldens) -> list[Labelled]:
    """What thresholds can be tried on: the questions that say what is expected, as they were run last.

    What ran on another index or by another evaluator is left out, and so is what was edited since.
    """
    under, answered = swept_under_of(house, settings), store.answered()
    valid = {
        golden.id: as_question(golden)
        for golden in store.all()
        if (answer := answered.get(golden.id)) and answer.swept_under == under and answer.asked == asked_as(golden)
    }
    outcomes = [Outcome(valid[id_], trace) for id_, trace in store.swept() if id_ in valid]
    return from_questions(outcomes)
