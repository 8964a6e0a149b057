"""Settings to the assembled parts: the only place that chooses an implementation."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from config import Settings
from crag import calibrations
from crag.agent_model.base import Ledger, ModelSpec
from crag.agent_model.registry import Models
from crag.agent_model.specs import grading_spec, writing_spec
from crag.calibrations import Calibration
from crag.compare import Compared, Way, compare
from crag.embedding.base import Embedder, Sending
from crag.embedding.choosing import make_embedder
from crag.embedding.loading import load_cross, load_embedder
from crag.errors import CragError, HistoryError
from crag.evaluator.base import Evaluator
from crag.evaluator.cross_encoder import CrossEncoderEvaluator
from crag.evaluator.grade_cache import GradeCache
from crag.evaluator.lightweight import LightweightEvaluator
from crag.evaluator.llm import LlmJudge
from crag.evaluator.pair_models import load_pair_model
from crag.evaluator.recalibrated import RecalibratedEvaluator
from crag.events import Token, TurnEvent
from crag.gate import Gate
from crag.generator.bare import BareAnswer
from crag.generator.direct import FixedDirectAnswer, LlmDirectAnswer
from crag.generator.extractive import ExtractiveGenerator
from crag.generator.llm import LlmGenerator
from crag.idf import idf
from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.mineru import MinerU
from crag.pipeline import Parts, answer
from crag.revision import revise
from crag.runtime import Job
from crag.schema import Change, Exchange, Thresholds, Trace
from crag.search.base import WebSearch
from crag.search.condenser import LlmCondenser
from crag.search.drafter import LlmDrafter
from crag.search.kept import Limits
from crag.search.llm_rewriter import LlmRewriter
from crag.search.opening import open_search, service_at
from crag.search.rewriter import by_idf
from crag.text import sentences

log = logging.getLogger(__name__)

GRADES: Final = "grades.db"
"""Name of the file, in the cache folder, of what a judge has said before."""
WEB: Final = "web.db"
"""Name of the file, there too, of what searches have found, and how many were made."""
Progress = Callable[[str, float], None]
"""A sentence about what is being prepared, and its share done in [0, 1]."""


@dataclass(frozen=True)
class InForce:
    """The thresholds that a turn is decided by, and where they come from."""

    thresholds: Thresholds
    explicit: tuple[str, ...] = ()
    """Those of "upper", "lower", "strip_threshold" that were set explicitly: they go before a calibration."""
    calibration: Calibration | None = None
    """The one that the others come from; None: from the defaults."""


@dataclass(frozen=True)
class Calibrated:
    """The evaluator as a turn is graded by it, and what it was calibrated with."""

    evaluator: Evaluator
    calibration: Calibration | None = None
    """The active one, made for this evaluator and this embedding."""
    not_applied: str | None = None
    """Why the active calibration is not applied, as a sentence; None where it is, or where there is none."""


@dataclass(frozen=True)
class House:
    """What a process opens once: the embedding engine, the knowledge base and the evaluator over both."""

    embedder: Embedder
    knowledge_base: KnowledgeBase
    own: Evaluator
    """The evaluator that the house was opened with, with its own scores."""
    notices: tuple[str, ...] = ()
    calibrations_dir: Path | None = None
    """Where the active calibration is looked up; None: nowhere."""
    models: Models = field(default_factory=Models)
    """The language models, with their connections."""
    kept_grades: GradeCache | None = None
    """What a model as judge has said before."""
    lightweight: Evaluator | None = None
    """Grades in turns whose settings ask for it, whatever the house was opened with; None: `own` does."""

    def calibrated(self, own: Evaluator | None = None) -> Calibrated:
        """As things stand now: a calibration that another process applies or undoes counts from the next turn on.

        `own` is an evaluator made for one turn, None: that of the house.
        """
        if self.calibrations_dir is None:
            return Calibrated(own or self.own)
        return _calibrated(self.calibrations_dir, own or self.own, self.embedder)

    @property
    def evaluator(self) -> Evaluator:
        return self.calibrated().evaluator

    def in_force(self, settings: Settings) -> InForce:
        """Each threshold as it was set explicitly, else as calibrated, else the default."""
        judge = self._judge(settings, Ledger(), date.today())
        return in_force(settings, self.calibrated(judge or self._without_judge(settings)).calibration)

    def uncalibrated(self) -> House:
        """The same house with the evaluator's own scores and the default thresholds, to calibrate anew."""
        return replace(self, calibrations_dir=None)

    def parts(self, settings: Settings) -> Parts:
        """What a turn with `settings` is answered with; cheap, made anew for every turn."""
        ledger, today = Ledger(), date.today()
        judge = self._judge(settings, ledger, today)
        now = self.calibrated(judge or self._without_judge(settings))
        made = Parts(
            knowledge_base=self.knowledge_base,
            embedder=self.embedder.noting(ledger) if isinstance(self.embedder, Sending) else self.embedder,
            evaluator=now.evaluator,
            rewriter=by_idf,
            generator=ExtractiveGenerator(quotes=settings.quotes),
            thresholds=in_force(settings, now.calibration).thresholds,
            k=settings.k,
            fusion_constant=settings.fusion_constant,
            notices=(*self.notices, now.not_applied) if now.not_applied else self.notices,
            web=web_search(settings),
            web_gate=settings.web,
            direct=FixedDirectAnswer(),
            ledger=ledger,
            currency=settings.currency,
            history_turns=settings.history_turns,
        )
        spec = writing_spec(settings)
        return made if spec is None else self._with_words(made, settings, spec, judge)

    def _judge(self, settings: Settings, ledger: Ledger, today: date) -> LlmJudge | None:
        """The model that grades in this turn; None where another evaluator does."""
        spec = grading_spec(settings)
        return LlmJudge(self.models.get(spec), ledger, self.kept_grades, today) if spec else None

    def _without_judge(self, settings: Settings) -> Evaluator:
        """A cross-encoder grades only in a house that was opened with it."""
        return (self.lightweight or self.own) if settings.evaluator == "lightweight" else self.own

    def _with_words(self, parts: Parts, settings: Settings, spec: ModelSpec, judge: LlmJudge | None) -> Parts:
        """`parts` with a model that understands follow-ups, rewrites and writes; what needs none stands by."""
        model, ledger, today = self.models.get(spec), parts.ledger, date.today()
        return replace(
            parts,
            generator=LlmGenerator(model, ledger, today, settings.llm_max_tokens),
            spare_generator=parts.generator,
            bare=BareAnswer(model, ledger, today, settings.llm_max_tokens),
            rewriter=LlmRewriter(model, ledger, judge.suggested_query if judge else None, today),
            spare_rewriter=parts.rewriter,
            condenser=LlmCondenser(model, ledger, today),
            direct=LlmDirectAnswer(model, ledger, settings.llm_max_tokens),
            drafter=LlmDrafter(model, ledger) if settings.hyde == "on" else None,
        )

    def warm_up(self, settings: Settings) -> None:
        """Opens what the first question would otherwise wait for; an index that cannot be asked is left alone.

        Nothing is sent for it where another machine makes the vectors.
        """
        for text in ("One. Two.", "一。二。"):  # the tables of both languages, read at first use
            sentences(text)
            idf(text)
        if writing_spec(settings) or grading_spec(settings):
            self.models.warm_up()
        if isinstance(self.embedder, Sending):
            return
        try:
            with self.knowledge_base.snapshot() as index:
                index.dense(self.embedder.embed_query(""), 1)
        except CragError as error:
            log.info("not warmed up: %s", error)

    def close(self) -> None:
        """Closes the connections of the models and of the service that makes vectors, and the knowledge base."""
        self.models.close()
        if isinstance(self.embedder, Sending):
            self.embedder.close()
        self.knowledge_base.close()


def open_house(settings: Settings, progress: Progress | None = None) -> House:
    """Loads the embedding engine (the first time it is converted, with `progress`) and opens the knowledge base.

    With another embedding the engine is loaded for the evaluator alone. A service that makes vectors is not asked
    here: the page opens without it. Raises EmbeddingError where there is no engine, KnowledgeBaseError where the index
    cannot be opened, ConfigurationError where the evaluator that was chosen lacks its model or its packages.
    """
    grader = load_pair_model(settings.grader_model, progress) if settings.evaluator == "cross-encoder" else None
    loaded = load_embedder(settings.cache_dir, settings.threads, progress)
    embedder = embedder_of(settings, loaded.embedder)
    knowledge_base = KnowledgeBase(
        settings.files_dir,
        settings.chroma_dir,
        embedder,
        parse_timeout=settings.parse_timeout,
        ocr=settings.ocr,
        ocr_cache=settings.cache_dir / "ocr",
        notice=loaded.notice if embedder is loaded.embedder else None,
        mineru=MinerU(settings.mineru_url, settings.mineru_timeout) if settings.parser == "mineru" else None,
    )
    models, kept_grades = Models(), GradeCache(settings.cache_dir / GRADES)
    cross = load_cross(loaded.embedder, settings.cache_dir, settings.threads, progress)
    known = knowledge_base if embedder is loaded.embedder else knowledge_base.own_vectors(loaded.embedder)
    lightweight = LightweightEvaluator(loaded.embedder, known, cross.engine)
    evaluator: Evaluator = lightweight
    told = [loaded.notice]
    if grader:
        evaluator = CrossEncoderEvaluator(grader)
    elif spec := grading_spec(settings):
        evaluator = LlmJudge(models.get(spec), Ledger(), kept_grades, date.today())
    else:
        told.append(cross.notice)
    notices = tuple(notice for notice in told if notice)
    return House(
        embedder,
        knowledge_base,
        evaluator,
        notices,
        calibrations.folder_of(settings.data_dir),
        models,
        kept_grades,
        lightweight,
    )


def embedder_of(settings: Settings, embedded: Embedder) -> Embedder:
    """Who makes the vectors of the index; nothing is sent yet. The evaluator keeps the embedded engine's."""
    provider = settings.embedding_provider
    if provider == "embedded":
        return embedded
    urls = {"ollama": settings.ollama_url, "dashscope": settings.dashscope_url, "openai": settings.openai_api_base}
    keys = {"dashscope": settings.dashscope_api_key, "openai": settings.openai_api_key}
    return make_embedder(
        provider,
        settings.embedding_model or (settings.ollama_embed if provider == "ollama" else ""),
        urls[provider],
        keys.get(provider, SecretStr("")),
        region=settings.dashscope_region,
        dimension=settings.embedding_dimension,
        timeout=settings.llm_timeout,
        retries=settings.llm_retries,
        concurrency=settings.llm_concurrency,
        price=settings.embedding_price,
    )


def web_search(settings: Settings) -> WebSearch | None:
    """Who searches the web with `settings`, None for nobody; a key in the environment alone chooses nobody."""
    name = settings.web_provider
    if name == "none":
        return None
    return open_search(
        name,
        key=getattr(settings, f"{name}_api_key", SecretStr("")),
        url=service_at(name, settings.web_url, settings.tavily_url),
        most=settings.web_results,
        engine=settings.google_cse_id,
        file=settings.cache_dir / WEB,
        prefer=settings.web_prefer_domains,
        allow=settings.web_allow_domains,
        deny=settings.web_deny_domains,
        limits=Limits(settings.web_cache_hours, settings.web_daily_searches, settings.web_price),
        fetch=settings.web_pages == "on",
        depth=settings.web_depth,
        topic=settings.web_topic,
        raw=settings.web_raw_content == "on",
        usual_range=None if settings.web_time_range == "any" else settings.web_time_range,
    )


def in_force(settings: Settings, calibration: Calibration | None) -> InForce:
    """The resolution of the thresholds: explicit settings, then `calibration`, then the defaults."""
    explicit = tuple(name for name in ("upper", "lower", "strip_threshold") if name in settings.model_fields_set)
    if calibration is None or len(explicit) == 3:
        return InForce(settings.thresholds, explicit)
    learnt = {"upper": calibration.after.upper, "lower": calibration.after.lower}
    learnt["strip_threshold"] = calibration.after.strip
    found = {name: getattr(settings, name) if name in explicit else learnt[name] for name in learnt}
    if found["lower"] > found["upper"]:  # one was set explicitly, beyond the other: the set one holds
        found["lower" if "upper" in explicit else "upper"] = found["upper" if "upper" in explicit else "lower"]
    limits = Thresholds(
        upper=found["upper"], lower=found["lower"], strip=found["strip_threshold"], top_strips=settings.top_strips
    )
    return InForce(limits, explicit, calibration)


def _calibrated(folder: Path, evaluator: Evaluator, embedder: Embedder) -> Calibrated:
    try:
        found = calibrations.active(folder)
    except HistoryError as error:
        return Calibrated(evaluator, not_applied=str(error))
    if found is None:
        return Calibrated(evaluator)
    made_for = (found.evaluator.name, found.evaluator.version, found.embedding)
    if made_for != (evaluator.name, evaluator.version, embedder.fingerprint):
        return Calibrated(
            evaluator,
            not_applied=f"The calibration of {found.day} was made for another evaluator or embedding and is not "
            "applied: run `python -m crag calibrate` again, or `python -m crag calibrate --undo`.",
        )
    if found.after.maps_scores:
        evaluator = RecalibratedEvaluator(evaluator, found.after.document_map, found.after.strip_map)
    return Calibrated(evaluator, found)


def ask(
    house: House,
    settings: Settings,
    question: str,
    files: tuple[str, ...] = (),
    history: Sequence[Exchange] = (),
    gate: Gate | None = None,
) -> Callable[[Job[TurnEvent]], AsyncIterator[TurnEvent]]:
    """The source of a turn's events, for `Runtime.start`; see `pipeline.answer`."""

    def source(job: Job[TurnEvent]) -> AsyncIterator[TurnEvent]:
        return answer(house.parts(settings), question, job.id, job.stopping, files, history, gate)

    return source


def compared(
    house: House, settings: Settings, trace: Trace, way: Way
) -> Callable[[Job[Token | Compared]], AsyncIterator[Token | Compared]]:
    """The source of the events of another way to answer, for `Runtime.start`; see `compare.compare`."""

    def source(job: Job[Token | Compared]) -> AsyncIterator[Token | Compared]:
        return compare(house.parts(settings), trace, way, job.stopping)

    return source


def answer_with(
    house: House, settings: Settings, trace: Trace, changes: Sequence[Change], gate: Gate | None = None
) -> Callable[[Job[TurnEvent]], AsyncIterator[TurnEvent]]:
    """The source of the events of an answer made anew with a person's changes; see `revision.revise`."""

    def source(job: Job[TurnEvent]) -> AsyncIterator[TurnEvent]:
        return revise(house.parts(settings), trace, changes, job.id, job.stopping, gate)

    return source


def answer_now(
    house: House,
    settings: Settings,
    question: str,
    turn_id: str,
    files: tuple[str, ...] = (),
    gate: Gate | None = None,
) -> AsyncIterator[TurnEvent]:
    """The events of a turn that nobody stops: for the command line and evaluation."""
    return answer(house.parts(settings), question, turn_id, threading.Event(), files, gate=gate)
