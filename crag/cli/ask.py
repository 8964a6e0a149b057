"""`python -m crag ask`: one question, answered in the terminal or as the JSON of its trace."""

from __future__ import annotations

import argparse
import asyncio
import uuid
from collections.abc import Sequence
from pathlib import Path

from config import Settings
from crag.assembly import House, answer_now
from crag.cli.allowing import allow, is_a_terminal
from crag.cli.console import DONE, FAILED, errors, opened, printable
from crag.cli.output import target, write
from crag.errors import ConfigurationError
from crag.events import Asking, Finished, Token
from crag.export.forms import Form, export
from crag.gate import Gate
from crag.knowledge_base.choosing import choose
from crag.refinement import label
from crag.schema import GradedDocument, ModelCall, Trace, WebSearched
from crag.ui.texts import Texts, language_of

SHOWN = ("scores", "strips", "context", "calls")


def ask(options: argparse.Namespace, settings: Settings) -> int:
    """Runs the command; returns the exit code."""
    shown = [part.strip() for part in options.show.split(",") if part.strip()]
    unknown = [part for part in shown if part not in SHOWN]
    if unknown:
        raise ConfigurationError(f"--show does not know {', '.join(unknown)}: use {', '.join(SHOWN)}.")
    exported = export_target(options.export)
    settings = _with_web(settings, options.web)
    with opened(settings) as house:
        files = choose(options.file, [row.path for row in house.knowledge_base.rows() if row.passages])
        trace = asyncio.run(_answer(house, settings, options.question, files, quiet=options.json))
        written = exported is None or write(exported, lambda: _exported(exported, trace, house, settings))
    if options.json:
        print(trace.model_dump_json(indent=2))
    else:
        print_trace(trace, shown)
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


def _with_web(settings: Settings, web: str | None) -> Settings:
    """The settings with what `--web` asks for; what CRAG_WEB=off forbids it cannot allow."""
    if web is None or web == settings.web:
        return settings
    if settings.web == "off":
        raise ConfigurationError(f"CRAG_WEB=off forbids the web: unset it to use --web {web}.")
    if settings.web_provider == "none" and web != "off":
        raise ConfigurationError(f"Nobody is set up to search the web: set CRAG_WEB_PROVIDER to use --web {web}.")
    return settings.model_copy(update={"web": web})


async def _answer(house: House, settings: Settings, question: str, files: tuple[str, ...], quiet: bool) -> Trace:
    """Prints the answer as it comes; a query for the web is put to whoever sits at the terminal."""
    trace: Trace | None = None
    gate = Gate() if is_a_terminal() else None
    async for event in answer_now(house, settings, question, uuid.uuid4().hex, files, gate):
        match event:
            case Token(text=text) if not quiet:
                print(text, end="", flush=True)
            case Asking(query=query, provider=provider) if gate is not None:
                gate.answer(allow(query, provider))
            case Finished():
                trace = event.trace
    assert trace is not None, "a turn always ends with its trace"
    return trace


def print_trace(trace: Trace, shown: Sequence[str]) -> None:
    """What stands below the answer: the decision, notices, the sources that it cites, and what is to be `shown`."""
    print()
    if trace.direct:
        print("\nAnswered without documents: no evidence was needed.")
    else:
        print(f"\n{trace.action or 'UNDECIDED'}: {trace.decision}")
    if trace.cut:
        print(f"Cut: {trace.cut}")
    if trace.standalone:
        print(f"Understood as: {trace.standalone}")
    if trace.files:
        print(f"Only in: {printable(', '.join(trace.files))}")
    if trace.web:
        print(f"Web: {web_search(trace.web)}")
    for notice in trace.notices:
        print(f"Note: {notice}")
    cited = {citation.n for citation in trace.citations}
    for source in (source for source in trace.sources if source.n in cited):
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
    if "calls" in shown:
        print("\nCalls of models")
        for call in trace.calls:
            print(_call(call, trace.currency))
    if "context" in shown:
        print("\nContext given to the generator\n" + (trace.knowledge or "(empty)"))


def _print_documents(documents: Sequence[GradedDocument]) -> None:
    for rank, document in enumerate(documents, 1):
        place = " ".join([document.heading, document.file]) if document.url else f"{document.file} p. {document.page}"
        said = document.reason or document.cause or ""
        print(f"{rank:3} {_digits(document.score)} {document.verdict:10} {printable(place.strip())}: {said}")


def _call(call: ModelCall, currency: str) -> str:
    """`grade    openai:qwen3 1.20 s, 812 tokens in, 96 out, 0.0004 USD`, and what went wrong."""
    parts = [f"{call.seconds:.2f} s"]
    if call.tokens_in is not None:
        parts.append(f"{call.tokens_in} tokens in, {call.tokens_out or 0} out")
    if call.cost is not None:
        parts.append(f"{call.cost:.6f} {currency}")
    if call.repeat:
        parts.append("a repeat: the output before was invalid")
    failed = f": {call.error}" if call.error else ""
    return f"{call.role:9} {printable(call.model)} {', '.join(parts)}{failed}"


def _digits(score: float | None) -> str:
    return "  – " if score is None else f"{score:.2f}"


def web_search(web: WebSearched) -> str:
    """What was sent, to whom and when, and how many results came back."""
    came = "no answer" if web.results is None else "1 result" if web.results == 1 else f"{web.results} results"
    edited = f" (edited, it was “{printable(web.proposed)}”)" if web.proposed else ""
    if web.cached:
        return f"{came} of {web.provider} for “{printable(web.query)}”{edited}, kept from an earlier search"
    since = f" of the last {web.time_range}" if web.time_range else ""
    return f"{web.provider} was asked for “{printable(web.query)}”{edited}{since} at {web.time}: {came}"
