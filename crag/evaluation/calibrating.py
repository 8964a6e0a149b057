"""The way to a calibration, for the command line and the page: asking, suggesting, and where a suggestion is from."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from config import Settings
from crag.assembly import House, web_search
from crag.calibrations import Calibration, Numbers
from crag.errors import QuestionSetError
from crag.evaluation.calibration import Suggestion, calibrate
from crag.evaluation.labelled import Labelled, first_look
from crag.evaluation.question_sets import Question
from crag.evaluation.running import Outcome, Progress, run
from crag.evaluation.utility import Weights
from crag.evaluator.base import Evaluator
from crag.schema import EvaluatorName, Trace
from crag.text import visible


@dataclass(frozen=True)
class Source:
    """What a calibration learns from, with its name and hash."""

    name: str
    sha256: str
    rows: Sequence[Labelled]


def both_looks(house: House, settings: Settings) -> tuple[House, Settings]:
    """With what every question takes both looks, graded by the evaluator's own scores; nothing goes to the web."""
    return house.uncalibrated(), settings.model_copy(update={"upper": 1.0, "lower": 1.0, "web": "off"})


def looks_once(settings: Settings) -> bool:
    """Whether the app searches the web in the place of a second look, so that the first look alone decides."""
    return settings.web != "off" and web_search(settings) is not None


def as_decided(trace: Trace, settings: Settings) -> Trace:
    """A trace of `both_looks` with the looks that the app would decide by."""
    return first_look(trace) if looks_once(settings) else trace


async def ask_all(
    house: House, settings: Settings, questions: Sequence[Question], on_progress: Progress | None = None
) -> list[Outcome]:
    """Every question by `both_looks`, `as_decided`. Raises KnowledgeBaseError where the index cannot be asked."""
    outcomes = await run(*both_looks(house, settings), questions, on_progress)
    return [Outcome(one.question, as_decided(one.trace, settings)) for one in outcomes]


def own_evaluator(house: House, settings: Settings) -> Evaluator:
    """Who grades with these settings, with its own scores."""
    return house.uncalibrated().parts(settings).evaluator


def in_force(house: House, settings: Settings) -> Numbers:
    """The thresholds that hold now, with the maps of the active calibration."""
    active = house.calibrated(own_evaluator(house, settings)).calibration
    return Numbers.of(house.in_force(settings).thresholds, active.after if active else None)


def suggested(rows: Sequence[Labelled], before: Numbers, top_strips: int, weights: Weights) -> Suggestion:
    """What the rows speak for beside what is in force. Raises QuestionSetError where nothing can be learnt."""
    try:
        return calibrate(rows, before, top_strips, weights)
    except ValueError:
        raise QuestionSetError(_nothing_to_learn(rows)) from None


def record(
    house: House, settings: Settings, sources: Sequence[Source], found: Suggestion, weights: Weights
) -> Calibration:
    """A suggestion as it is kept when it is applied, with its provenance."""
    evaluator = own_evaluator(house, settings)
    with house.knowledge_base.snapshot() as index:
        version = index.version
    hashes = [source.sha256 for source in sources]
    return Calibration(
        evaluator=EvaluatorName(name=evaluator.name, version=evaluator.version),
        embedding=house.embedder.fingerprint,
        catalog_version=version,
        files=sum(row.passages > 0 and not row.error for row in house.knowledge_base.rows()),
        question_set=" + ".join(source.name for source in sources),
        question_sha256=hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest(),
        counts=found.counts,
        before=found.before,
        after=found.after,
        utility=found.gain,
        weights=weights.model_dump(),
    )


def _nothing_to_learn(rows: Sequence[Labelled]) -> str:
    """Why no row can be learnt from: what failed, and what has no label."""
    missing = (
        "says what is expected of it: give an expected action, a file or answers, or correct more grades of the best "
        "documents."
    )
    failed = [row for row in rows if row.failed]
    if not failed:
        return f"No question {missing}"
    why = visible(failed[0].trace.error or "No document was found.")
    if len(failed) == len(rows):
        return f"All questions failed ({len(failed)} of {len(rows)}), so nothing can be learnt. The first one: {why}"
    return f"{len(failed)} of {len(rows)} questions failed, and no other one {missing} The first that failed: {why}"
