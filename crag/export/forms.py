"""The forms in which answers are handed on: traces in, bytes out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from crag.export.html_report import as_html
from crag.export.markdown import as_markdown
from crag.export.pictures import Pages, pictures_of
from crag.export.trace_json import as_json
from crag.schema import Trace
from crag.ui.texts import Texts
from crag.ui.texts.told import told


class Form(StrEnum):
    """The value is the ending of the file's name."""

    HTML = "html"
    MARKDOWN = "md"
    JSON = "json"


MIME: Final = {Form.HTML: "text/html", Form.MARKDOWN: "text/markdown", Form.JSON: "application/json"}
LONGEST_NAME: Final = 60
"""Characters of the question in a file's name."""


def export(form: Form, traces: Sequence[Trace], t: Texts, pages: Pages | None = None, *, whole: bool = False) -> bytes:
    """One answer, or with `whole` a conversation, as a file (UTF-8). At least one trace.

    `pages` gives the images of the report; without it there are none. Blocking where images are drawn.
    """
    said = [told(trace, t.language) for trace in traces]
    match form:
        case Form.HTML:
            text = as_html(said, pictures_of(traces, pages), t)
        case Form.MARKDOWN:
            text = as_markdown(said, t)
        case Form.JSON:
            text = as_json(traces, whole)
    return text.encode("utf-8", "replace")  # lone surrogates of broken PDFs have no UTF-8


def file_name(form: Form, traces: Sequence[Trace]) -> str:
    """`crag-2026-11-30-what-batch-size-was-used.html`."""
    words = re.sub(r"[^\w]+", "-", traces[0].question.lower()).strip("-_")[:LONGEST_NAME].strip("-")
    return f"{'-'.join(part for part in ('crag', traces[0].created[:10], words) if part)}.{form}"
