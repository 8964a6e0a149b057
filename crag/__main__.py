"""The command line: build, ask, grade, doctor. Drives the same functions as the page."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import signal
import sys
import threading
import uuid
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from config import Settings, load_settings
from crag import __version__
from crag.assembly import House, answer_now, open_house
from crag.doctor import examine
from crag.errors import BuildLockedError, ConfigurationError, CragError, EmptyIndexError
from crag.refinement import decompose
from crag.schema import (
    BuildFinished,
    BuildStarted,
    Document,
    DocumentGrade,
    FileFinished,
    FileProgress,
    FileState,
    Finished,
    Span,
    Token,
    Trace,
)

DONE, FAILED, USAGE, NOTHING_INDEXED, LOCKED, INTERRUPTED = 0, 1, 2, 3, 4, 130
SHOWN = ("scores", "strips", "context")
GRADE_BATCH = 32
"""Texts that are graded in one go, so that their vectors are made in full batches."""

errors = Console(stderr=True, highlight=False, soft_wrap=True, markup=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code (see `python -m crag --help`)."""
    options = _parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        return int(options.run(options, load_settings()))
    except CragError as error:
        errors.print(str(error))
        codes = {ConfigurationError: USAGE, EmptyIndexError: NOTHING_INDEXED, BuildLockedError: LOCKED}
        return codes.get(type(error), FAILED)
    except KeyboardInterrupt:
        errors.print("Interrupted.")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone: nothing is left to say
        sys.stderr.close()
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m crag",
        description="Ask your own PDFs; the evidence is checked before it answers.",
        epilog="Exit codes: 0 done, 1 failed, 2 wrong usage or setting, 3 nothing indexed yet, "
        "4 another process is building, 130 interrupted. Options: CRAG_* variables, see README.md.",
    )
    parser.add_argument("--version", action="version", version=f"crag {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    build = commands.add_parser("build", help="bring the index up to date with the PDFs in Files/")
    build.add_argument("--publish-staged", action="store_true", help="only publish what a cancelled build finished")
    build.set_defaults(run=_build)

    ask = commands.add_parser("ask", help="answer one question")
    ask.add_argument("question")
    ask.add_argument("--show", default="", metavar="LIST", help=f"also print, separated by commas: {', '.join(SHOWN)}")
    ask.add_argument("--json", action="store_true", help="print the whole trace as JSON instead")
    ask.set_defaults(run=_ask)

    grade = commands.add_parser("grade", help='grade JSON lines {"question", "texts"} from standard input')
    grade.set_defaults(run=_grade)

    doctor = commands.add_parser("doctor", help="say what is installed, configured and reachable, and what to mend")
    doctor.set_defaults(run=_doctor)
    return parser


# --- build -----------------------------------------------------------------------------------------------------


def _build(options: argparse.Namespace, settings: Settings) -> int:
    with _opened(settings) as house:
        if options.publish_staged:
            return _built(house.knowledge_base.publish_staged())
        return _follow_build(house, threading.Event())


def _follow_build(house: House, cancel: threading.Event) -> int:
    result: BuildFinished | None = None
    with _progress() as bar, _interrupt_sets(cancel):
        task = bar.add_task("Looking at the files …", total=None)
        for event in house.knowledge_base.build(cancel):
            if isinstance(event, BuildStarted):
                counts = ((state, sum(change.state is state for change in event.changes)) for state in FileState)
                errors.print(", ".join(f"{count} {state}" for state, count in counts))
            elif isinstance(event, FileProgress):
                text = f"[{event.index}/{event.files}] {event.stage} {event.path}"
                bar.update(task, description=text, completed=event.done, total=event.total)
            elif isinstance(event, FileFinished):
                errors.print(_row_line(event))
            elif isinstance(event, BuildFinished):
                result = event
    assert result is not None, "a build always ends with its result"
    return _built(result)


@contextlib.contextmanager
def _interrupt_sets(cancel: threading.Event) -> Iterator[None]:
    """The first Ctrl-C cancels in good order; a second one ends the program at once."""

    def interrupted(_number: int, _frame: FrameType | None) -> None:
        if cancel.is_set():
            raise KeyboardInterrupt
        errors.print("Stopping …")
        cancel.set()

    before = signal.signal(signal.SIGINT, interrupted)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _row_line(event: FileFinished) -> str:
    row = event.row
    place = f"[{event.index}/{event.files}] {row.path}: "
    if row.error:
        return place + f"not indexed. {row.error}"
    notes = "".join(f" Note: {warning}" for warning in row.warnings)
    return place + f"{row.pages} pages, {row.passages} passages, {row.seconds:.1f} s.{notes}"


def _built(event: BuildFinished) -> int:
    if not event.published:
        errors.print(
            f"Stopped. {event.staged} finished files are kept aside: `python -m crag build` goes on from there, "
            "`python -m crag build --publish-staged` makes them available now."
        )
        return INTERRUPTED
    failed = f", {event.failed} not readable" if event.failed else ""
    errors.print(f"{event.files} files, {event.passages} passages{failed} ({event.seconds:.1f} s).")
    return DONE


# --- ask -------------------------------------------------------------------------------------------------------


def _ask(options: argparse.Namespace, settings: Settings) -> int:
    shown = [part.strip() for part in options.show.split(",") if part.strip()]
    unknown = [part for part in shown if part not in SHOWN]
    if unknown:
        raise ConfigurationError(f"--show does not know {', '.join(unknown)}: use {', '.join(SHOWN)}.")
    with _opened(settings) as house:
        trace = asyncio.run(_answer(house, settings, options.question, quiet=options.json))
    if options.json:
        print(trace.model_dump_json(indent=2))
    else:
        _print_trace(trace, shown)
    if trace.error:
        errors.print(trace.error)
        return FAILED
    return DONE


async def _answer(house: House, settings: Settings, question: str, quiet: bool) -> Trace:
    trace: Trace | None = None
    async for event in answer_now(house, settings, question, uuid.uuid4().hex):
        if isinstance(event, Token) and not quiet:
            print(event.text, end="", flush=True)
        elif isinstance(event, Finished):
            trace = event.trace
    assert trace is not None, "a turn always ends with its trace"
    return trace


def _print_trace(trace: Trace, shown: Sequence[str]) -> None:
    print()
    print(f"\n{trace.action or 'UNDECIDED'}: {trace.decision}")
    for notice in trace.notices:
        print(f"Note: {notice}")
    for source in trace.sources:
        print(f"[{source.n}] {source.file}, page {source.page}")
    if "scores" in shown:
        print("\nDocuments")
        for rank, document in enumerate(trace.documents, 1):
            score = "  – " if document.score is None else f"{document.score:.2f}"
            print(f"{rank:3} {score} {document.verdict:10} {document.file} p. {document.page}: {document.reason}")
    if "strips" in shown:
        print("\nStrips")
        for strip in trace.strips:
            score = "  – " if strip.score is None else f"{strip.score:.2f}"
            print(f"{'+' if strip.kept else '-'} {score} {strip.file} p. {strip.page}: {strip.text}")
    if "context" in shown:
        print("\nContext given to the generator\n" + trace.knowledge)


# --- grade -----------------------------------------------------------------------------------------------------


def _grade(_: argparse.Namespace, settings: Settings) -> int:
    with _opened(settings) as house:
        for number, line in enumerate(sys.stdin, 1):
            if line.strip():
                grades = asyncio.run(_grade_line(house, *_graded_input(line, number)))
                print(json.dumps(_graded_output(grades, settings), ensure_ascii=False), flush=True)
    return DONE


def _graded_input(line: str, number: int) -> tuple[str, list[str]]:
    try:
        row = json.loads(line)
        question, texts = row["question"], row["texts"]
        if not isinstance(question, str) or not all(isinstance(text, str) for text in texts):
            raise TypeError
    except (ValueError, KeyError, TypeError):
        raise ConfigurationError(
            f'Line {number} of standard input is not {{"question": "…", "texts": ["…"]}}: correct it.'
        ) from None
    return question, texts


async def _grade_line(house: House, question: str, texts: Sequence[str]) -> list[DocumentGrade]:
    documents = [_raw_document(text, number) for number, text in enumerate(texts)]
    grades: list[DocumentGrade] = []
    for start in range(0, len(documents), GRADE_BATCH):
        grades += await house.evaluator.grade(question, documents[start : start + GRADE_BATCH])
    return grades


def _raw_document(text: str, number: int) -> Document:
    """A text that stands in no file, so that nothing of it is looked up or kept."""
    span = Span(page=1, start=0, end=len(text))
    return Document(
        id=f"text-{number}", content="", files=("",), number=number, text=text, spans=(span,), strips=decompose(text)
    )


def _graded_output(grades: Sequence[DocumentGrade], settings: Settings) -> dict[str, list[object]]:
    documents = [grade.document for grade in grades]
    return {
        "scores": [grade.score for grade in documents],
        "verdicts": [settings.thresholds.verdict(grade.score).value for grade in documents],
        "reasons": [grade.reason or grade.cause for grade in documents],
    }


# --- doctor ----------------------------------------------------------------------------------------------------


def _doctor(_: argparse.Namespace, settings: Settings) -> int:
    findings = examine(settings)
    for finding in findings:
        print(f"{'ok  ' if finding.ok else 'FAIL'} {finding.subject}: {finding.text}")
    return DONE if all(finding.ok for finding in findings) else FAILED


# --- shared ----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _opened(settings: Settings) -> Iterator[House]:
    with _progress() as bar:
        task = bar.add_task("Opening", total=1.0, visible=False)

        def show(message: str, share: float) -> None:
            if bar.live.is_started and errors.is_terminal:
                bar.update(task, description=message, completed=share, visible=True)
            elif share in (0.0, 1.0):
                errors.print(message)

        house = open_house(settings, show)
    try:
        yield house
    finally:
        house.close()


def _progress() -> Progress:
    """A bar on a terminal; in a pipe nothing is drawn and what is printed are plain lines on standard error."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    )


def _utf8(stream: TextIO) -> None:
    """Chinese text and the sign ≥ must not fail on a console with a narrow encoding."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8", errors="replace")


if __name__ == "__main__":
    for standard in (sys.stdout, sys.stderr, sys.stdin):
        _utf8(standard)
    sys.exit(main())
