"""What is installed, configured and reachable, each with the mend for what is not."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from config import Settings
from crag.assembly import House, open_house
from crag.errors import ConfigurationError, CragError, EmptyIndexError
from crag.knowledge_base.mineru import MinerU, ask_version
from crag.runtime import sentence
from crag.search.opening import service_at
from crag.services import leaving, searches_used, services, to_test, try_out
from crag.ui.texts import Texts
from crag.ui.what_leaves import what_leaves

SUBJECTS = {
    "embed": "embedding",
    "grade": "evaluator",
    "write": "generator",
    "rewrite": "rewriter",
    "search": "web search",
}
PACKAGES = ("streamlit", "chromadb", "pymupdf", "onnxruntime", "tokenizers", "sentencex", "sqlalchemy", "pebble")
FREE_BYTES = 500_000_000
"""Below this much free disk space the model's conversion or a build may fail."""


@dataclass(frozen=True)
class Finding:
    """One line of the examination; `text` names the mend where `ok` is False."""

    subject: str
    ok: bool
    text: str


def examine(settings: Settings, online: bool = False, of_the_page: Sequence[Finding] = ()) -> list[Finding]:
    """Looks at everything a question needs, in the order in which it is needed. Never raises.

    What runs on this machine is asked for a few words; with `online` also what lies outside, which may cost a little.
    `of_the_page` is what is to be said of the settings that were changed there.
    """
    findings = [
        *_python(),
        *_packages(),
        *_folders(settings),
        *of_the_page,
        *_parser(settings),
        *_ocr(settings),
        *_web(settings),
    ]
    findings += _privacy(settings)
    try:
        house = open_house(settings)
    except Exception as error:  # whatever is broken is what was asked for
        subject = "evaluator" if isinstance(error, ConfigurationError) else "embedding"
        return [*findings, Finding(subject, False, sentence(error))]
    findings += _evaluator(house, settings)
    findings += _thresholds(house, settings)
    looks = (
        ("engine", lambda: _engine(house, settings)),
        ("services", lambda: _services(house, settings, online)),
        ("index", lambda: _index(house)),
    )
    for subject, look in looks:
        try:
            findings += look()
        except Exception as error:
            findings.append(Finding(subject, False, sentence(error)))
    house.close()
    return findings


def _python() -> Iterator[Finding]:
    running = ".".join(str(part) for part in sys.version_info[:3])
    fresh = sys.version_info >= (3, 11)
    yield Finding("Python", fresh, running if fresh else f"{running} is too old: install Python 3.11 or newer.")
    with sqlite3.connect(":memory:") as database:
        options = {row[0] for row in database.execute("PRAGMA compile_options")}
    has_fts = "ENABLE_FTS5" in options
    mend = f"SQLite {sqlite3.sqlite_version} lacks FTS5: use a Python build that has it (python.org, Debian, uv)."
    yield Finding("lexical index", has_fts, f"SQLite {sqlite3.sqlite_version} with FTS5" if has_fts else mend)


def _packages() -> Iterator[Finding]:
    found, missing = [], []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
    if missing:
        yield Finding("packages", False, f"{', '.join(missing)} missing: run `pip install -r requirements.txt`.")
    else:
        yield Finding("packages", True, ", ".join(found))


def _folders(settings: Settings) -> Iterator[Finding]:
    for subject, folder, needs_writing in (
        ("PDF folder", settings.files_dir, False),
        ("index folder", settings.chroma_dir, True),
        ("data folder", settings.data_dir, True),
        ("model cache", settings.cache_dir, True),
    ):
        nearest = _nearest(folder)
        if not os.access(nearest, os.W_OK if needs_writing else os.R_OK):
            verb = "written" if needs_writing else "read"
            yield Finding(subject, False, f"{folder} cannot be {verb}: change its permissions or the CRAG_* variable.")
        elif needs_writing and (free := shutil.disk_usage(nearest).free) < FREE_BYTES:
            yield Finding(subject, False, f"{folder}: only {free // 1_000_000} MB free on its disk: make room.")
        elif folder == settings.files_dir and not folder.is_dir():
            yield Finding(subject, False, f"{folder} does not exist: create it and put PDFs into it.")
        else:
            yield Finding(subject, True, str(folder))


def _nearest(folder: Path) -> Path:
    """The folder itself, or the nearest parent that exists, in which it would be created."""
    return next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())


def _parser(settings: Settings) -> Iterator[Finding]:
    """Who reads the files; MinerU is asked for its version alone."""
    if settings.parser == "builtin":
        yield Finding("parser", True, "built in: files are read on this machine")
        return
    found = ask_version(MinerU(settings.mineru_url, settings.mineru_timeout))
    if found is None:
        yield Finding("parser", False, "MinerU cannot be asked: start the service, or correct CRAG_MINERU_URL.")
    elif found.split(".")[0] not in ("2", "3"):
        yield Finding("parser", False, f"MinerU {found} has no /file_parse: run MinerU 3 (`pip install 'mineru<4'`).")
    else:
        yield Finding("parser", True, f"MinerU {found} at {settings.mineru_url}: every file is sent there")


def _ocr(settings: Settings) -> Iterator[Finding]:
    """Whether scans can be read; the engine is looked for, not loaded."""
    if settings.ocr == "off":
        yield Finding("OCR", True, "off by CRAG_OCR=off: pages without a text layer are named and left out")
    elif missing := [name for name in ("rapidocr", "cv2") if find_spec(name) is None]:
        yield Finding("OCR", False, f"{', '.join(missing)} missing: run `pip install -r requirements.txt`.")
    else:
        what = "every page" if settings.ocr == "force" else "pages without usable text"
        yield Finding("OCR", True, f"rapidocr {version('rapidocr')} reads {what}, kept in {settings.cache_dir / 'ocr'}")


def _web(settings: Settings) -> Iterator[Finding]:
    """Who would be asked; nothing is sent here."""
    if settings.web_provider == "none":
        said = "off: INCORRECT takes a second look in your documents"
    elif settings.web == "off":
        said = f"off by CRAG_WEB=off, although {settings.web_provider} is set up"
    else:
        address = service_at(settings.web_provider, settings.web_url, settings.tavily_url)
        said = f"{settings.web_provider} would be asked{f' at {address}' if address else ''} where your documents do "
        said += "not suffice"
        if (used := searches_used(settings)) is not None:
            said += f"; {used} of today's {settings.web_daily_searches} searches are used"
    yield Finding("web search", True, said)


def _evaluator(house: House, settings: Settings) -> Iterator[Finding]:
    """The packages of a cross-encoder; that what grades works has been seen when the house was opened."""
    if settings.evaluator == "cross-encoder":
        packages = ", ".join(f"{name} {version(name)}" for name in ("sentence-transformers", "transformers", "torch"))
        yield Finding("cross-encoder", True, f"{settings.grader_model} by {packages}")


def _thresholds(house: House, settings: Settings) -> Iterator[Finding]:
    """Those in force, and where they come from."""
    found = house.in_force(settings)
    said = f"upper {found.thresholds.upper:.3f}, lower {found.thresholds.lower:.3f}, strip {found.thresholds.strip:.3f}"
    if found.calibration is not None:
        said += f", calibrated {found.calibration.day} on {found.calibration.counts.questions} questions"
    if found.explicit:
        said += f", set explicitly: {', '.join(found.explicit)}"
    yield Finding("thresholds", True, said)
    if not_applied := house.calibrated().not_applied:
        yield Finding("thresholds", False, not_applied)


def _engine(house: House, settings: Settings) -> Iterator[Finding]:
    """The engine of this process; a service is looked at with the others."""
    if settings.embedding_provider == "embedded":
        try:
            vectors = house.embedder.embed_passages(["one", "一"])
        except CragError as error:
            yield Finding("embedding", False, str(error))
            return
        yield Finding("embedding", vectors.shape == (2, house.embedder.dimension), house.embedder.fingerprint)
    for notice in house.notices:
        yield Finding("embedding", False, notice)
    yield Finding("evaluator", True, f"{house.evaluator.name} {house.evaluator.version}")
    if settings.llm_provider == "embedded":
        yield Finding("generator", True, "extractive: quotes what it is given; nothing leaves this machine")


def _services(house: House, settings: Settings, online: bool) -> list[Finding]:
    """One round trip to everyone who is set up: to this machine always, to others with `online`."""
    return asyncio.run(_tested(house, settings, online))


async def _tested(house: House, settings: Settings, online: bool) -> list[Finding]:
    findings = []
    for service in to_test(services(settings)):
        if service.task == "read":
            continue  # asked by `_parser`
        subject = SUBJECTS[service.task]
        if service.outside and not online:
            said = f"{service.name} at {service.host}: not asked; `python -m crag doctor --online` tests it"
            findings.append(Finding(subject, True, said))
            continue
        tested = await try_out(service, settings, house)
        cost = f" It cost {tested.cost:.6f} {settings.currency}." if tested.cost is not None else ""
        findings.append(Finding(subject, tested.ok, f"{service.name}: {tested.text}{cost}"))
        if tested.notice:
            findings.append(Finding(subject, True, f"note: {tested.notice}"))
    return findings


def _privacy(settings: Settings) -> Iterator[Finding]:
    """What leaves the machine, in the words of the page."""
    yield Finding("privacy", True, what_leaves(leaving(settings), Texts("en")))


def _index(house: House) -> Iterator[Finding]:
    try:
        with house.knowledge_base.snapshot() as index:
            yield Finding("index", True, f"version {index.version}, {index.size} passages")
    except EmptyIndexError as error:
        yield Finding("index", True, str(error))
    refused = [row for row in house.knowledge_base.rows() if row.error]
    for row in refused:
        yield Finding("file", True, f"{row.path} is not indexed: {row.error}")
