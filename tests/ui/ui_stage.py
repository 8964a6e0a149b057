"""A house without an engine and traces as the pipeline leaves them, so that every state of the page can be drawn."""

from __future__ import annotations

import base64
import contextlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from pipeline_stage import parts
from streamlit.testing.v1 import AppTest

from crag.action_trigger import decide
from crag.calibrations import Calibration
from crag.errors import KnowledgeBaseError, PageImageError
from crag.events import (
    BuildEvent,
    BuildFinished,
    Decided,
    FileChange,
    FileRow,
    FileState,
    Finished,
    Graded,
    Refined,
    Retrieved,
    Rewritten,
    Token,
    TurnEvent,
    VectorsAhead,
)
from crag.knowledge_base.evidence import PageWords
from crag.knowledge_base.page_text import PageFacts
from crag.knowledge_base.pages import GONE, Page, PageRow
from crag.knowledge_base.records import Look
from crag.parts import Parts
from crag.refinement import ledger, recompose, select
from crag.schema import (
    Action,
    Citation,
    CitationCheck,
    Document,
    DocumentGrade,
    EvaluatorName,
    Exchange,
    Grade,
    GradedDocument,
    Passage,
    Span,
    Strip,
    Thresholds,
    Trace,
)
from crag.ui import state

PAGE = Path(__file__).resolve().parents[2] / "crag" / "ui" / "page.py"
LIMITS = Thresholds()
FILES = ("dense passage retrieval.pdf", "检索增强.pdf", "tables.pdf")
SENTENCES = (
    "The main experiments use a batch size of 128 with one additional BM25 negative per question.",
    "Training ran for 40 epochs on the larger data sets and for 100 epochs on the smaller ones.",
    "检索器在八张显卡上训练，批量大小为 128。",
    "Thresholds decide between Correct, Ambiguous and Incorrect; they are conventions until calibrated.",
)


def document(number: int, strips: int = 3) -> Document:
    """A document of some strips; `number` chooses its file, page and sentences."""
    made, start = [], 0
    for i in range(strips):
        text = SENTENCES[(number + i) % len(SENTENCES)]
        span = Span(page=number + 1, start=start, end=start + len(text))
        made.append(Strip(id=f"s{number}-{i}", text=text, spans=(span,)))
        start += len(text) + 1
    file = FILES[number % len(FILES)]
    return Document(
        id=f"d{number}",
        content=file,
        files=(file,),
        number=number,
        text=" ".join(strip.text for strip in made),
        spans=(Span(page=number + 1, start=0, end=start),),
        strips=tuple(made),
    )


def events(
    scores: list[float | None],
    second: list[float | None] | None = None,
    *,
    question: str = "What batch size was used?",
    answer: str = "",
    stopped: bool = False,
) -> list[TurnEvent]:
    """The events of a turn whose documents have these scores; `second` are those found by a second look."""
    graded = [_graded(number, score) for number, score in enumerate(scores)]
    log: list[TurnEvent] = [Retrieved(query=question, documents=tuple(d for d, _, _ in graded))]
    log.append(Graded(documents=tuple(g for _, g, _ in graded)))
    first = decide([g for _, g, _ in graded], LIMITS, question)
    decisions = [first] if first else []
    query = None
    if second is not None:
        query = "batch size retriever"
        log += [Decided(decision=decisions[0]), Rewritten(query=query)]
        graded += [_graded(len(scores) + number, score) for number, score in enumerate(second)]
        log += [Retrieved(query=query, documents=tuple(d for d, _, _ in graded))]
        log += [Graded(documents=tuple(g for _, g, _ in graded))]
        again = decide([g for _, g, _ in graded], LIMITS, query, second_look=True)
        assert again
        decisions.append(again)
    last = decisions[-1] if decisions else None
    documents = [g for _, g, _ in graded]
    strips = (
        select(documents, ledger(documents, [grade for _, _, grade in graded]), LIMITS, last.action) if last else ()
    )
    knowledge = recompose(strips)
    if last:
        log += [Decided(decision=last), Refined(strips=strips, knowledge=knowledge)]
        answer = answer or (
            f"From your documents:\n\n“{knowledge.sources[0].text}” [1]"
            if knowledge.sources
            else "The knowledge base does not cover this question."
        )
        log += [Token(text=piece) for piece in (answer[:20], answer[20:])]
    citations = tuple(Citation(n=s.n, file=s.file, page=s.page) for s in knowledge.sources[:2])
    trace = Trace(
        turn_id="t" * 8,
        created="2025-01-01T00:00:00+00:00",
        question=question,
        search_query=query,
        k=len(scores),
        thresholds=LIMITS,
        evaluator=EvaluatorName(name="lightweight", version="1"),
        generator="extractive",
        action=last.action if last else None,
        decision=last.sentence if last else "",
        decisions=tuple(decisions),
        documents=tuple(documents),
        strips=strips,
        knowledge=knowledge.text,
        sources=knowledge.sources,
        answer=answer,
        covered=bool(knowledge.sources),
        citations=citations,
        check=CitationCheck(citations=citations),
        timings={
            "embed": 0.012,
            "retrieve": 0.031,
            "grade": 0.244,
            "decide": 0.0001,
            "refine": 0.002,
            "generate": 0.02,
        },
        stopped=stopped,
        error=None if last else "None of the documents could be graded (the engine stopped), so nothing was decided.",
    )
    return [*log, Finished(trace=trace)]


def _graded(number: int, score: float | None) -> tuple[Document, GradedDocument, DocumentGrade]:
    found = document(number)
    if score is None:
        grade = Grade(score=None, cause="the engine stopped")
        return found, GradedDocument.of(found, grade, LIMITS), DocumentGrade(document=grade, strips=(grade,) * 3)
    grade = Grade(score=score, reason=f"3 of 4 rare words of the question, best sentence {score:.2f} similar")
    strips = tuple(Grade(score=max(0.0, min(1.0, score + step))) for step in (0.1, -0.15, -0.4))
    return found, GradedDocument.of(found, grade, LIMITS), DocumentGrade(document=grade, strips=strips)


CORRECT: list[float | None] = [0.91, 0.74, 0.55, 0.42, 0.31, 0.2, 0.12, 0.05]
AMBIGUOUS: list[float | None] = [0.62, 0.44, 0.2, 0.1]
INCORRECT: list[float | None] = [0.21, 0.12, 0.04]


PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
"""One pixel."""


@dataclass
class FakePages:
    """What was read of each file: `count` pages each, whose passage is that of `document`."""

    count: int = 31
    fails: str | None = None
    gone: bool = False
    anew: bool = False
    facts: PageFacts = field(default_factory=PageFacts)
    health: str = "text"

    def of(self, path: str) -> list[PageRow]:
        return [self._row(number) for number in range(1, self.count + 1)]

    def _row(self, number: int) -> PageRow:
        return PageRow(number=number, width=595, height=842, rotation=0, health=self.health, facts=self.facts)

    def page(self, path: str, number: int) -> Page:
        if number > self.count:
            raise KnowledgeBaseError(GONE)
        found = document(number - 1)
        text = " ".join(strip.text for strip in found.strips)
        offsets = [match.span() for match in re.finditer(r"\S+", text)]
        boxes = [
            (50 + a % 90 * 5, 60 + a // 90 * 14, 50 + a % 90 * 5 + 5 * (b - a), 72 + a // 90 * 14) for a, b in offsets
        ]
        words = PageWords(text, np.array(offsets, np.int32), np.array(boxes, np.float32), 595, 842, 0)
        passage = Passage(
            id=f"anew{number}" if self.anew else found.id,
            content=found.content,
            number=found.number,
            text=found.text,
            heading="Training",
            spans=found.spans,
            strips=found.strips,
        )
        return Page(self._row(number), words, (passage,))

    def path_of(self, sha256: str) -> str | None:
        return None if self.gone else sha256

    def sizes(self) -> dict[str, int]:
        return {"guide.pdf": 12_345}

    def image(self, path: str, number: int, dpi: int) -> bytes:
        if self.fails:
            raise PageImageError(self.fails)
        return PNG

    def marked(self, path: str, number: int, marks: object, size: object, dpi: int) -> bytes:
        return self.image(path, number, dpi)

    def thumbnails(self, path: str, numbers: Sequence[int], width: int) -> dict[int, bytes]:
        return {number: self.image(path, number, 10) for number in numbers}


@dataclass
class FakeBase:
    """The facade of the knowledge base, over lists; `script` are the events of the next build."""

    row_list: list[FileRow] = field(default_factory=list)
    change_list: list[FileChange] = field(default_factory=list)
    ignored_list: list[str] = field(default_factory=list)
    staged_count: int = 0
    script: list[BuildEvent] = field(default_factory=list)
    goes_on: threading.Event = field(default_factory=threading.Event)
    heading_list: list[tuple[str, str]] = field(
        default_factory=lambda: [("guide.pdf", "Thresholds"), ("a.pdf", "阈值")]
    )
    calls: int = 0
    pages: FakePages = field(default_factory=FakePages)
    option_map: dict[str, str] = field(default_factory=dict)
    again: list[tuple[str, str | None]] = field(default_factory=list)
    passwords: dict[str, str] = field(default_factory=dict)
    changed: bool = False
    ahead: VectorsAhead | None = None
    published: int = 1

    def version(self) -> int:
        return self.published

    def rows(self) -> list[FileRow]:
        return self.row_list

    def changes(self) -> list[FileChange]:
        self.calls += 1
        return self.change_list

    def look(self) -> Look:
        return Look(tuple(self.rows()), tuple(self.changes()), tuple(self.ignored_list), self.ahead)

    def staged(self) -> int:
        return self.staged_count

    def vectors_ahead(self) -> VectorsAhead | None:
        return self.ahead

    def build(self, cancel: threading.Event) -> Iterator[BuildEvent]:
        """All events but the last at once; the last when the test lets it, or when cancelled."""
        *before, last = self.script
        yield from before
        while not self.goes_on.wait(0.01) and not cancel.is_set():
            pass
        yield BuildFinished(version=1, published=False, staged=1) if cancel.is_set() else last

    def options(self) -> dict[str, str]:
        return self.option_map

    def read_again(self, path: str, ocr: str | None, cancel: threading.Event) -> Iterator[BuildEvent]:
        """What was asked for is kept; a chosen option counts from now on."""
        self.again.append((path, ocr))
        self.option_map |= {path: ocr} if ocr else {}
        yield BuildFinished(version=2, published=True, files=1)

    def delete(self, path: str) -> None:
        self.row_list = [row for row in self.row_list if row.path != path]

    def set_password(self, path: str, password: str) -> None:
        self.passwords[path] = password

    def size_on_disk(self) -> int:
        return 12_300_000

    def changed_since_build(self) -> bool:
        return self.changed

    def publish_staged(self) -> BuildFinished:
        self.staged_count = 0
        return BuildFinished(version=2, published=True, files=1)

    def snapshot(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext(SimpleNamespace(version=1, headings=lambda n: self.heading_list[:n]))

    def warm_up(self, settings: object) -> None:
        """Nothing here is slow."""

    def close(self) -> None:
        pass


@dataclass
class Stage:
    """What a test sets before it runs the page."""

    base: FakeBase
    open: Callable[[Any, Any], Any]
    turn: list[TurnEvent] = field(default_factory=lambda: events(CORRECT))
    goes_on: threading.Event = field(default_factory=threading.Event)
    """Set: a turn runs through. Clear: it waits before its last event."""
    fails: Exception | None = None
    calibration: Calibration | None = None
    histories: list[tuple[Exchange, ...]] = field(default_factory=list)
    """The history that each turn was begun with."""
    sent: list[str | None] = field(default_factory=list)
    """What the gates let out."""
    parts: Parts = field(default_factory=lambda: parts({}))
    """What an answer is made anew with."""

    def page(self) -> AppTest:
        """The page, run until the house is open."""
        at = AppTest.from_file(str(PAGE), default_timeout=20).run()
        for job in [state.process().runtime.latest("open")]:
            if job is not None:
                list(job.follow(timeout=5))
        return at.run()


INDEXED = FileRow(path="guide.pdf", content="c", pages=12, passages=80, seconds=1.0)


def labels(at: AppTest) -> list[str]:
    return [button.label for button in at.button]


def html(at: AppTest) -> str:
    """All HTML of the page that can be seen, in order."""
    bodies = [element.proto.body for element in at.get("html")]
    return "\n".join(body for body in bodies if not body.startswith(("<style>", "<div class='crag-hidden'>")))


def scripts(at: AppTest) -> str:
    """The hidden HTML with the page's own scripts."""
    bodies = [element.proto.body for element in at.get("html")]
    return "\n".join(body for body in bodies if body.startswith("<div class='crag-hidden'>"))


def ended(at: AppTest, kind: str = "turn") -> AppTest:
    """The page after the newest job of a kind has ended."""
    job = state.process().runtime.latest(kind)
    assert job is not None
    list(job.follow(timeout=5))
    return at.run()


def action_of(turn: list[TurnEvent]) -> Action | None:
    last = turn[-1]
    assert isinstance(last, Finished)
    return last.trace.action


def messages(at: AppTest) -> str:
    """All error messages of the page."""
    return "\n".join(error.value for error in at.error)


ADDED = FileChange(path="new.pdf", state=FileState.ADDED)


def ask(at: AppTest, question: str = "What batch size was used?") -> AppTest:
    at = at.chat_input[0].set_value(question).run()
    assert not at.exception
    return at


def answered(stage: Stage) -> AppTest:
    at = ended(ask(stage.page()))
    assert not at.exception
    return at


def open_panel(at: AppTest, name: str) -> AppTest:
    at = at.get("button_group")[0].set_value(name).run()
    assert not at.exception
    return at
