"""The report of a run for machines: what was asked of which knowledge base, under which settings, with what result."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from crag import __version__
from crag.assembly import House
from crag.errors import QuestionSetError
from crag.evaluation.labels import in_file
from crag.evaluation.question_sets import Question
from crag.evaluation.rows import Row, row_of
from crag.evaluation.running import Outcome
from crag.evaluation.summary import Group, groups_of
from crag.schema import EvaluatorName, Frozen, Thresholds, Trace
from crag.text import counted

REPORT_SCHEMA: Final = 1
"""Version of the report's JSON; later versions only add fields."""

NO_FILE: Final = "file not in the index"
NO_PAGE: Final = "page not in the file"
"""Flag of a row whose question names a file that no indexed one matches."""
_NAMED = 5
"""At most so many files, and ids of each, are named in a note; the rows have the flag."""

_SECRET = re.compile(r"key|token|secret|password|credential", re.IGNORECASE)


class Counts(Frozen):
    """What was asked, and of how much."""

    questions: int
    answerable: int
    uncovered: int
    """Questions for which INCORRECT is expected."""
    unknown: int
    """Questions whose rows do not tell whether the knowledge base covers them."""
    failed: int
    files: int
    passages: int


class Report(Frozen):
    """One run of one question set."""

    model_config = ConfigDict(serialize_by_alias=True)

    schema_version: Literal[1] = Field(default=REPORT_SCHEMA, alias="schema")
    created: str
    """UTC, ISO 8601."""
    crag_version: str
    questions: str
    """File name of the question set."""
    questions_sha256: str
    settings: dict[str, str | int | float | bool | None]
    """Without secrets and without the folders of this machine."""
    evaluator: EvaluatorName
    generator: str
    embedding: str
    """Fingerprint of the embedding."""
    thresholds: Thresholds
    k: int
    catalog_version: int
    counts: Counts
    notes: tuple[str, ...] = ()
    """What the reader of the figures must know of the question set."""
    groups: tuple[Group, ...] = Field(min_length=1)
    """The figures; the first group is the whole run."""
    rows: tuple[Row, ...]


def report_of(outcomes: Iterable[Outcome], house: House, settings: BaseModel, name: str, sha256: str) -> Report:
    """The report on `outcomes` of the question set of this name and hash. Raises ValueError where there are none.

    Each outcome is let go once its row is made, so that many can be read one after the other.
    """
    asked: list[Question] = []
    made: list[Row] = []
    first: Trace | None = None
    catalog_version = 0
    for outcome in outcomes:
        first = first or outcome.trace
        catalog_version = max(catalog_version, outcome.trace.catalog_version)
        asked.append(outcome.question)
        made.append(row_of(outcome))
    if first is None:
        raise ValueError("a report needs outcomes")
    indexed = [row for row in house.knowledge_base.rows() if row.error is None]
    flags, notes = _strays(asked, {row.path: row.pages for row in indexed})
    rows = tuple(
        row.model_copy(update={"flags": (*row.flags, flags[row.id])}) if row.id in flags else row for row in made
    )
    return Report(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        crag_version=__version__,
        questions=name,
        questions_sha256=sha256,
        settings=public(settings),
        evaluator=first.evaluator,
        generator=first.generator,
        embedding=house.embedder.fingerprint,
        thresholds=first.thresholds,
        k=first.k,
        catalog_version=catalog_version,
        counts=Counts(
            questions=len(rows),
            answerable=sum(row.answerable is True for row in rows),
            uncovered=sum(row.answerable is False for row in rows),
            unknown=sum(row.answerable is None for row in rows),
            failed=sum(row.error is not None for row in rows),
            files=len(indexed),
            passages=sum(row.passages for row in indexed),
        ),
        notes=notes,
        groups=groups_of(rows),
        rows=rows,
    )


def _strays(questions: Sequence[Question], pages: Mapping[str, int]) -> tuple[dict[str, str], tuple[str, ...]]:
    """(flag by id of each question whose file or page is not there, a note on either); `pages` by indexed path."""
    files: dict[str, list[str]] = {}
    places: dict[str, list[str]] = {}
    for question in questions:
        if question.file is None:
            continue
        matched = [count for path, count in pages.items() if in_file(question, (path,))]
        if not matched:
            files.setdefault(question.file, []).append(question.id)
        elif question.page is not None and question.page > max(matched):
            places.setdefault(f"page {question.page} of {question.file}", []).append(question.id)
    flags = {id_: NO_FILE for ids in files.values() for id_ in ids}
    flags.update((id_, NO_PAGE) for ids in places.values() for id_ in ids)
    notes = (_stray_note(files, "file", "in the index"), _stray_note(places, "page", "in its file"))
    return flags, tuple(note for note in notes if note)


def _stray_note(strays: Mapping[str, Sequence[str]], what: str, where: str) -> str:
    total = sum(map(len, strays.values()))
    if not total:
        return ""
    named = [f"{place} ({_listed(ids)})" for place, ids in list(strays.items())[:_NAMED]]
    more = f" and {counted(len(strays) - _NAMED, f'more {what}')}" if len(strays) > _NAMED else ""
    names = f"names a {what} that is" if total == 1 else f"name {what}s that are"
    return f"{counted(total, 'question')} {names} not {where}: {', '.join(named)}{more}"


def _listed(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return ("id " if len(ids) == 1 else "ids ") + ", ".join(ids[:_NAMED]) + more


def public(settings: BaseModel) -> dict[str, str | int | float | bool | None]:
    """The settings that a stranger may read: no secret by type or name, no path, of an address the host alone."""
    found: dict[str, str | int | float | bool | None] = {}
    for name in type(settings).model_fields:
        value: Any = getattr(settings, name)
        if _SECRET.search(name) or not isinstance(value, str | int | float | bool | None):
            continue
        if isinstance(value, str) and "://" in value:
            value = urlsplit(value).hostname
        found[name] = value
    return found


def to_json(report: Report) -> str:
    """The report as JSON text."""
    return report.model_dump_json(indent=1) + "\n"


def read_report(path: Path) -> Report:
    """The report stored at `path`. Raises QuestionSetError where it is none, or of another schema."""
    try:
        stored = json.loads(path.read_bytes())
    except OSError as error:
        raise QuestionSetError(f"{path} cannot be read ({error.strerror}): give a report made with --json.") from None
    except (ValueError, RecursionError):
        raise QuestionSetError(f"{path} is no JSON: give a report made with --json.") from None
    schema = stored.get("schema") if isinstance(stored, dict) else None
    if schema is None:
        raise QuestionSetError(f"{path} is not a report of crag eval: give one made with --json.")
    if schema != REPORT_SCHEMA:
        raise QuestionSetError(
            f"{path} has the schema {schema!r}, and this version reads {REPORT_SCHEMA}: "
            "make it again with `python -m crag eval … --json`."
        )
    try:
        return Report.model_validate(stored)
    except ValidationError as error:
        place = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise QuestionSetError(f"{path} is damaged at {place}: make it again with --json.") from None
