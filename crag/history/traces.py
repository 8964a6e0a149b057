"""A trace as it is stored, and the words by which a search finds it."""

from __future__ import annotations

import json
import logging
import unicodedata
import zlib
from typing import Literal

from crag.schema import TRACE_SCHEMA, Trace
from crag.text import visible

log = logging.getLogger(__name__)

Gap = Literal["interrupted", "damaged", "newer"]
"""Why a kept turn has no answer: its program ended first, its row cannot be read, or a later version wrote it."""


def packed(trace: Trace) -> bytes:
    """The trace's JSON through zlib. What has no UTF-8, as in names of files, becomes a question mark."""
    try:
        text = trace.model_dump_json()
    except ValueError:  # what pydantic raises for halves of characters
        text = json.dumps(trace.model_dump(), ensure_ascii=False)
    return zlib.compress(text.encode("utf-8", "replace"))


def unpacked(data: bytes) -> Trace | Gap:
    """The trace that was stored, or why it cannot be read."""
    try:
        text = zlib.decompress(data)
    except zlib.error:
        log.warning("a kept answer is damaged", exc_info=True)
        return "damaged"
    try:
        return Trace.model_validate_json(text)
    except ValueError:
        log.warning("a kept answer cannot be read", exc_info=True)
        return "newer" if _schema(text) > TRACE_SCHEMA else "damaged"


def _schema(text: bytes) -> int:
    """The version that a trace's JSON names; 0 where it names none."""
    try:
        found = json.loads(text)
    except ValueError:
        return 0
    version = found.get("schema") if isinstance(found, dict) else None
    return version if isinstance(version, int) else 0


def folded(text: str) -> str:
    """The form in which a search compares: NFKC without case."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible(text)).casefold())


def words_of(trace: Trace) -> str:
    """Question, answer, and names, titles and addresses of the sources, folded."""
    said = [trace.question, trace.standalone or "", trace.answer]
    for source in trace.sources:
        said += [*source.files, source.title, source.url or ""]
    return folded("\n".join(dict.fromkeys(filter(None, said))))
