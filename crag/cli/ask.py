"""`python -m crag ask`: one question, answered in the terminal or as the JSON of its trace."""

from __future__ import annotations

import argparse
import asyncio
import uuid
from collections.abc import Sequence
from pathlib import Path

from config import Settings
from crag.assembly import House, answer_now
from crag.cli.console import DONE, FAILED, errors, opened, printable
from crag.cli.output import target, write
from crag.errors import ConfigurationError
from crag.events import Finished, Token
from crag.export.forms import Form, export
from crag.knowledge_base.choosing import choose
from crag.refinement import label
from crag.schema import GradedDocument, Trace, WebSearched
from crag.ui.texts import Texts, language_of

SHOWN = ("scores", "strips", "context")


def ask(options: argparse.Namespace, settings: Settings) -> int:
    """Runs the command; returns the exit code."""
    shown = [part.strip() for part in options.show.split(",") if part.strip()]
    unknown = [part for part in shown if part not in SHOWN]
    if unknown:
        raise ConfigurationError(f"--show does not know {', '.join(unknown)}: use {', '.join(SHOWN)}.")
    exported = export_target(options.export)
    with opened(settings) as house:
        files = choose(options.file, [row.path for row in house.knowledge_base.rows() if row.passages])
        trace = asyncio.run(_answer(house, settings, options.question, files, quiet=options.json))
        written = exported is None or write(exported, lambda: _exported(exported, trace, house, settings))
    if options.json:
        print(trace.model_dump_json(indent=2))
    else:
        _print_trace(trace, shown)
    if trace.error:
        errors.print(trace.error)
        return FAILED
    return DONE if written else FAILED


def export_target(name: str | None) -> Path | None:
    """The file that `--export` names; its ending says in which form. Raises ConfigurationError."""
    if name is None:
        return None
    if (ending := Path(name).suffix.lower().removeprefix(".")) not in list(Form):
        forms = ", ".join(f".{form}" for form in Form)
        raise ConfigurationError(f"--export does not know {ending or 'a name without ending'}: use one of {forms}.")
    return target("--export", name)


def _exported(path: Path, trace: Trace, house: House, settings: Settings) -> bytes:
    """In the language that is set, else in that of the question."""
    form = Form(path.suffix.lower().removeprefix("."))
    return export(form, [trace], Texts(language_of(settings.language, trace.language)), house.knowledge_base.pages)


async def _answer(house: House, settings: Settings, question: str, files: tuple[str, ...], quiet: bool) -> Trace:
    trace: Trace | None = None
    async for event in answer_now(house, settings, question, uuid.uuid4().hex, files):
        if isinstance(event, Token) and not quiet:
            print(event.text, end="", flush=True)
        elif isinstance(event, Finished):
            trace = event.trace
    assert trace is not None, "a turn always ends with its trace"
    return trace


def _print_trace(trace: Trace, shown: Sequence[str]) -> None:
    print()
    print(f"\n{trace.action or 'UNDECIDED'}: {trace.decision}")
    if trace.files:
        print(f"Only in: {printable(', '.join(trace.files))}")
    if trace.web:
        print(f"Web: {web_search(trace.web)}")
    for notice in trace.notices:
        print(f"Note: {notice}")
    for source in trace.sources:
        others = f" (also {', '.join(source.files[1:])})" if source.files[1:] else ""
        print(printable(f"[{source.n}] {label(source)}{others}"))
    if "scores" in shown:
        print("\nDocuments")
        _print_documents(trace.documents)
        if trace.web:
            print(f"\nFrom the web ({web_search(trace.web)})")
            _print_documents(trace.web_documents)
    if "strips" in shown:
        print("\nStrips")
        for strip in trace.strips:
            place = strip.file if strip.url else f"{strip.file} p. {strip.page}"
            print(f"{'+' if strip.kept else '-'} {_digits(strip.score)} {printable(place)}: {strip.text}")
    if "context" in shown:
        print("\nContext given to the generator\n" + (trace.knowledge or "(empty)"))


def _print_documents(documents: Sequence[GradedDocument]) -> None:
    for rank, document in enumerate(documents, 1):
        place = " ".join([document.heading, document.file]) if document.url else f"{document.file} p. {document.page}"
        said = document.reason or document.cause or ""
        print(f"{rank:3} {_digits(document.score)} {document.verdict:10} {printable(place.strip())}: {said}")


def _digits(score: float | None) -> str:
    return "  – " if score is None else f"{score:.2f}"


def web_search(web: WebSearched) -> str:
    """What was sent, to whom and when, and how many results came back."""
    came = "no answer" if web.results is None else "1 result" if web.results == 1 else f"{web.results} results"
    return f"{web.provider} was asked for “{printable(web.query)}” at {web.time}: {came}"
