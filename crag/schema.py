"""The vocabulary as frozen data: what flows between the stations, and the trace that an answer leaves behind."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, computed_field, model_validator

TRACE_SCHEMA: Final = 1
"""Version of the trace's JSON; later versions only add fields."""

Unit = Annotated[float, Field(ge=0.0, le=1.0)]


class Frozen(BaseModel):
    """Immutable, comparable, serialisable; fields added by a later version are ignored on reading."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class Action(StrEnum):
    """What the evidence triggers (paper, section 4.2)."""

    CORRECT = "CORRECT"
    AMBIGUOUS = "AMBIGUOUS"
    INCORRECT = "INCORRECT"


class Verdict(StrEnum):
    """A score seen against the thresholds; derived, never asked for."""

    RELEVANT = "relevant"
    PARTIAL = "partial"
    IRRELEVANT = "irrelevant"
    UNGRADED = "ungraded"


class Thresholds(Frozen):
    """The numbers of the decision: all on the evaluator's scale [0, 1], `lower <= upper`."""

    upper: Unit = 0.7
    lower: Unit = 0.3
    strip: Unit = 0.5
    top_strips: Annotated[int, Field(ge=1, le=100)] = 8

    @model_validator(mode="after")
    def _ordered(self) -> Thresholds:
        if self.lower > self.upper:
            raise ValueError(f"the lower threshold {self.lower:.2f} is above the upper threshold {self.upper:.2f}")
        return self

    def verdict(self, score: float | None) -> Verdict:
        """`>= upper` relevant, `< lower` irrelevant, between them partial, no score ungraded."""
        if score is None:
            return Verdict.UNGRADED
        if score >= self.upper:
            return Verdict.RELEVANT
        return Verdict.IRRELEVANT if score < self.lower else Verdict.PARTIAL


class Span(Frozen):
    """A stretch of one page's canonical text: 1-based physical page, code points `[start, end)`."""

    page: Annotated[int, Field(ge=1)]
    start: Annotated[int, Field(ge=0)]
    end: int


class Strip(Frozen):
    """The unit of refinement: one to three sentences; strips of one content with equal spans share their id."""

    id: str
    text: str
    spans: tuple[Span, ...] = ()
    starts_line: bool = False
    """Whether it begins a paragraph or a table row, so that it is not run on from the strip before it."""


class Passage(Frozen):
    """The unit that is indexed. `id` derives from content, index fingerprint and number."""

    id: str
    content: str
    """sha256 (hex) of the PDF's bytes."""
    number: int
    """Position in the content, from 0."""
    text: str
    heading: str = ""
    """Title of the section it stands in; empty where none was recognised."""
    spans: tuple[Span, ...]
    strips: tuple[Strip, ...]

    @property
    def pages(self) -> tuple[int, ...]:
        return pages_of(self.spans)


class Document(Frozen):
    """A retrieved passage with its place in the files and in the rankings, or the text of a web page."""

    id: str
    content: str
    files: tuple[str, ...]
    """All paths below Files/ that hold this content; the first is shown. The address alone for a web page."""
    number: int = 0
    text: str
    heading: str = ""
    spans: tuple[Span, ...]
    strips: tuple[Strip, ...]
    dense_rank: int | None = None
    """1-based rank among the passages nearest in embedding space; None if not among them."""
    lexical_rank: int | None = None
    """1-based rank by BM25; None if not among them."""
    fused: float = 0.0
    """Reciprocal rank fusion score; for ordering only, it says nothing about relevance."""
    url: str | None = None
    """http(s) address of a web page; None for what stands in a file. A web page is one page, its heading its title."""
    published: str | None = None
    """When the web page was published, as its provider writes it."""

    @computed_field
    @property
    def file(self) -> str:
        return self.files[0]

    @computed_field
    @property
    def pages(self) -> tuple[int, ...]:
        return pages_of(self.spans)

    @computed_field
    @property
    def page(self) -> int:
        return self.pages[0]


class Grade(Frozen):
    """How surely a text holds information that answers the question; `score` None means ungraded, for `cause`."""

    score: Unit | None
    reason: str = ""
    cause: str | None = None
    features: dict[str, float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _ungraded_has_a_cause(self) -> Grade:
        if (self.score is None) != (self.cause is not None):
            raise ValueError("a grade has a score or the cause why it has none")
        return self


class DocumentGrade(Frozen):
    """What the evaluator says of one document: of the whole, and of each of its strips in their order."""

    document: Grade
    strips: tuple[Grade, ...]
    cached: bool = False
    """Whether a model has given it before and it was kept: then no call was made for it."""
    known: int = 0
    """Vectors of the document and its strips that were there already."""
    made: int = 0
    """Those that were made for this grade."""


class GradedDocument(Document):
    """A document as the trace keeps it. `verdict` is what the thresholds of that turn made of the score."""

    score: Unit | None
    cause: str | None = None
    reason: str = ""
    features: dict[str, float] = Field(default_factory=dict)
    verdict: Verdict
    by_evaluator: Grade | None = None
    """The evaluator's grade, where a person has said whether the document answers: then the score is 1 or 0. None: the
    grade is the evaluator's."""

    @classmethod
    def of(cls, document: Document, grade: Grade, thresholds: Thresholds) -> GradedDocument:
        """The document with its grade and the verdict derived from `thresholds`."""
        fields = {name: getattr(document, name) for name in Document.model_fields}
        graded = {name: getattr(grade, name) for name in Grade.model_fields}
        return cls(**fields, **graded, verdict=thresholds.verdict(grade.score))


class Decision(Frozen):
    """An action with the sentence that explains it and the documents it was taken on."""

    action: Action
    sentence: str
    best: Unit | None = None
    """The highest score, None where nothing was graded."""
    query: str
    """What was searched for: the question, or the rewritten query of the second look."""
    documents: tuple[str, ...] = ()
    """Ids, in rank order."""
    by_hand: bool = False
    """Whether a person has set the action."""
    by_scores: Action | None = None
    """What the scores lead to, where a person has set the action; None: nothing, no document is graded."""


class Fate(StrEnum):
    """Why a strip was kept or dropped."""

    KEPT = "kept"
    FALLBACK = "fallback"
    """Kept although below the threshold: nothing was above it, and this is the best there is."""
    DOCUMENT_IRRELEVANT = "document below the lower threshold"
    DOCUMENT_UNGRADED = "document ungraded"
    BELOW_THRESHOLD = "below the strip threshold"
    BEYOND_TOP = "more strips than are sent"
    BEYOND_WINDOW = "beyond the model's window"
    """It would be kept, but the model takes no more; better strips filled it."""
    UNGRADED = "ungraded"
    DISCARDED = "documents discarded"
    """The action leaves its kind out: INCORRECT the documents of the files, CORRECT those of the web."""
    KEPT_BY_HAND = "kept by hand"
    """A person keeps it, or vouches for its document, of which nothing else would be kept."""
    DROPPED_BY_HAND = "dropped by hand"


class GradedStrip(Strip):
    """A strip as the trace keeps it, kept or dropped."""

    content: str
    files: tuple[str, ...]
    documents: tuple[str, ...]
    """Ids of the documents that hold it."""
    order: int
    """Position in document order: file, page, place on the page; those of web pages come last."""
    url: str | None = None
    """http(s) address of the web page that it stands on; None for what stands in a file."""
    title: str = ""
    """Title of that web page."""
    score: Unit | None
    cause: str | None = None
    reason: str = ""
    fate: Fate = Fate.BELOW_THRESHOLD

    @computed_field
    @property
    def kept(self) -> bool:
        return self.fate in (Fate.KEPT, Fate.FALLBACK, Fate.KEPT_BY_HAND)

    @computed_field
    @property
    def file(self) -> str:
        return self.files[0]

    @computed_field
    @property
    def page(self) -> int:
        return self.spans[0].page


class Source(Frozen):
    """One numbered source of the knowledge: the kept strips of one page of one file."""

    n: int
    file: str
    files: tuple[str, ...]
    content: str
    page: int
    pages: tuple[int, ...] = ()
    """All pages that its strips touch: more than `page` only where a sentence runs over a page break."""
    text: str
    strips: tuple[str, ...]
    """Ids of its strips, in document order."""
    url: str | None = None
    """http(s) address where the source is a web page; None for a file."""
    title: str = ""


class Knowledge(Frozen):
    """What the generator is given. `text` is byte for byte what a model reads; empty means not covered."""

    text: str = ""
    sources: tuple[Source, ...] = ()
    strips: tuple[GradedStrip, ...] = ()
    """The kept strips with their scores, in document order: what an extractive generator quotes from."""


class Citation(Frozen):
    """A source that the answer cites."""

    n: int
    file: str
    page: int
    pages: tuple[int, ...] = ()
    url: str | None = None
    title: str = ""


class Support(StrEnum):
    SUPPORTED = "supported"
    WEAK = "weak"
    UNSUPPORTED = "unsupported"


class CheckedSentence(Frozen):
    """A sentence of the answer held against the strips of the sources that it cites."""

    text: str
    cites: tuple[int, ...]
    support: Support
    numbers: tuple[str, ...] = ()
    """Its numbers that the cited strips do not hold; empty where it is supported, or cites no strip."""
    words: tuple[str, ...] = ()
    """Its rarest content words that they do not hold, as it writes them; empty as `numbers`."""
    foreign: bool = False
    """Whether they are in another language, so that words cannot be compared."""


class CitationCheck(Frozen):
    citations: tuple[Citation, ...] = ()
    unknown: tuple[int, ...] = ()
    """Markers in the answer that no source has."""
    sentences: tuple[CheckedSentence, ...] = ()


class WebSearched(Frozen):
    """A search of the web: what was sent, to whom and when, and what came of it."""

    provider: str
    query: str
    """Exactly what was sent."""
    time: str
    """When it was sent, and so the date of access: UTC, ISO 8601."""
    results: int | None = None
    """How many results came back; None where no answer came: it failed, or was stopped."""
    error: str | None = None
    """Why no answer came, as a sentence."""
    proposed: str | None = None
    """What W had made of the question, where a person edited it before it was sent; None: it was sent as made."""
    time_range: str | None = None
    """How old results might be: day, week, month or year; None: of any age."""
    cached: bool = False
    """Whether the results were kept from an earlier search: then nothing was sent this time."""
    cost: float | None = None
    """In the currency of the trace; None: unknown."""


class ModelCall(Frozen):
    """One call of a language model: what for, of whom, and what it took."""

    role: str
    """condense, draft, grade, rewrite, generate or check."""
    model: str
    """`provider:name`."""
    seconds: float
    first_token: float | None = None
    """Seconds to the first piece of a streamed answer; None where it was not streamed or nothing came."""
    tokens_in: int | None = None
    """None where the server does not say."""
    tokens_out: int | None = None
    cost: float | None = None
    """In the currency of the trace; None where prices or tokens are unknown."""
    repeat: bool = False
    """Whether it repeats a call whose output was invalid."""
    error: str | None = None
    """Why nothing usable came, as a sentence."""


class Origin(StrEnum):
    """Where a part of what a model was given comes from."""

    INSTRUCTIONS = "instructions"
    """What CRAG tells the model, and the tags around what follows."""
    HISTORY = "history"
    QUESTION = "question"
    LOCAL = "local"
    WEB = "web"


class SentPart(Frozen):
    """A part of what the writing model was given. The texts of one role, joined, are its message byte for byte."""

    role: Literal["system", "user"]
    origin: Origin
    text: str


class Reused(Frozen):
    """What a stage did not have to do again: `n` of `of`."""

    what: Literal["grades", "vectors"]
    n: int
    of: int


class StageRun(Frozen):
    """One stretch of work: a stage that is entered twice has two."""

    stage: str
    """As in `Trace.timings`."""
    started: float
    """Seconds after the turn began."""
    seconds: float
    calls: tuple[int, ...] = ()
    """Indices into `Trace.calls`: those that ended in it."""
    reused: tuple[Reused, ...] = ()


class Exchange(Frozen):
    """An earlier question of the conversation and what was answered."""

    question: str
    answer: str


class Changed(StrEnum):
    """What of an answer a person can change."""

    GRADE = "grade"
    STRIP = "strip"
    ACTION = "action"
    WEB_QUERY = "web query"
    SECOND_QUERY = "query of the second look"
    THRESHOLDS = "thresholds"


class Change(Frozen):
    """One thing that a person changed before the answer was made anew."""

    what: Changed
    id: str = ""
    """Of the document or the strip; of an action the number of the look that it is set for, from 1; else empty."""
    before: Thresholds | bool | float | str | None = None
    """As `after`; of a grade the evaluator's score, None: ungraded. None for an action: nothing was decided."""
    after: Thresholds | bool | str | None
    """Of a grade whether the document answers, of a strip whether it is kept; else the action, query or thresholds.
    None takes an earlier change of a grade, a strip or an action back: what the scores say counts again."""
    user: str = "local"
    time: str = ""
    """UTC, ISO 8601."""

    @model_validator(mode="after")
    def _fits(self) -> Change:
        match self.what, self.after:
            case ((Changed.GRADE | Changed.STRIP), (bool() | None)):
                return self
            case Changed.ACTION, (str() | None) if self.after is None or self.after in set(Action):
                return self
            case ((Changed.WEB_QUERY | Changed.SECOND_QUERY), str()):
                return self
            case Changed.THRESHOLDS, Thresholds():
                return self
        raise ValueError(f"{self.after!r} is nothing that a {self.what} can be changed to")


class EvaluatorName(Frozen):
    name: str
    version: str


class Trace(Frozen):
    """Everything one answer was made of: enough to show every panel and to replay every decision without a call."""

    model_config = ConfigDict(serialize_by_alias=True)

    schema_version: Literal[1] = Field(default=TRACE_SCHEMA, alias="schema")
    turn_id: str
    revises: str | None = None
    """The turn whose answer was changed by a person and so made anew; None: it was asked."""
    changes: tuple[Change, ...] = ()
    """What people changed, all in all since the pipeline's own answer; of what was changed twice the last."""
    created: str
    """UTC, ISO 8601."""
    catalog_version: int = 0
    question: str
    standalone: str | None = None
    """The follow-up as a question that stands alone, by which everything is graded; None: the question itself."""
    direct: bool = False
    """Whether it was answered without evidence, since it asked for none: a greeting, thanks, "shorter please"."""
    language: str = "en"
    files: tuple[str, ...] = ()
    """The paths that the question was limited to; empty: all files."""
    search_query: str | None = None
    """The rewritten query of the second look; None when there was none. What was sent to the web is in `web`."""
    hypothetical: str | None = None
    """The drafted answer that was searched for beside the question (HyDE); None: there was none."""
    k: int
    thresholds: Thresholds
    evaluator: EvaluatorName
    generator: str
    action: Action | None = None
    """None: no decision could be taken (nothing graded), see `error`."""
    decision: str = ""
    decisions: tuple[Decision, ...] = ()
    documents: tuple[GradedDocument, ...] = ()
    """Those of the knowledge base."""
    web_gate: Literal["off", "ask", "auto"] = "off"
    """Whether the web would have been searched for an action that asks for it, and whether a person was asked first."""
    web: WebSearched | None = None
    """None: nothing was sent."""
    web_documents: tuple[GradedDocument, ...] = ()
    """What the search found, graded, in the provider's order."""
    strips: tuple[GradedStrip, ...] = ()
    knowledge: str = ""
    sources: tuple[Source, ...] = ()
    sent: tuple[SentPart, ...] = ()
    """What the model was given that was to write the answer, in order; empty: none was asked to."""
    answer: str = ""
    thinking: str = ""
    """What the model thought before it wrote; no part of the answer."""
    cut: str | None = None
    """Why the answer ends before it is complete, as a sentence; None: it is complete, or was stopped."""
    covered: bool = False
    """False where the answer says that the knowledge base does not cover the question."""
    citations: tuple[Citation, ...] = ()
    check: CitationCheck = CitationCheck()
    timings: dict[str, float] = Field(default_factory=dict)
    """Seconds per stage."""
    runs: tuple[StageRun, ...] = ()
    """When each stage ran, in the order in which they began; empty in traces of before 2026-12."""
    calls: tuple[ModelCall, ...] = ()
    """The calls of language models, in the order in which they ended."""
    currency: str = "USD"
    notices: tuple[str, ...] = ()
    """What the user should know about this turn: a fallback that acted, a part that failed."""
    stopped: bool = False
    error: str | None = None


def pages_of(spans: Iterable[Span]) -> tuple[int, ...]:
    """The pages that the spans touch, ascending, each once."""
    return tuple(sorted({span.page for span in spans}))
