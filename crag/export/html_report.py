"""Answers as one HTML file with images of the cited pages: nothing in it runs, and it loads nothing from anywhere."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crag import __version__
from crag.cited import look_of
from crag.export.doubts import doubts
from crag.export.pictures import Picture, Place, cited_pages
from crag.export.wording import asked, cited_first, is_written, made_by, moment, place, sent
from crag.rulings import ANSWERS, own_grade
from crag.schema import GradedDocument, Source, Trace
from crag.text import language
from crag.ui import answer_text, marks, safe, written_text
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from jinja2 import Environment


def as_html(traces: Sequence[Trace], pictures: Mapping[Place, Picture], t: Texts) -> str:
    """The whole file, in light and dark, for a phone and for paper; `pictures` as `pictures_of` gives them."""
    written = moment(datetime.now(UTC).isoformat())
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            t=t,
            title=safe.clean(traces[0].question) if len(traces) == 1 else t("export_title"),
            written=t("export_written", n=len(traces), time=written, version=__version__),
            turns=[_turn(number, trace, pictures, t) for number, trace in enumerate(traces, 1)],
        )
    )


def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,  # questions, documents and answers are data: none of them becomes markup
        finalize=lambda value: safe.clean(value) if type(value) is str else value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _turn(number: int, trace: Trace, pictures: Mapping[Place, Picture], t: Texts) -> dict[str, Any]:
    """What the template needs of one turn; what ends in `_html` is escaped already, and all else by the template."""
    shown = {key: _figure(trace, key, pictures, t) for key in cited_pages(trace)}
    return {
        "number": number,
        "trace": trace,
        "lang": language,
        "asked": asked(trace, t),
        "doubts": doubts(trace, t),
        "answer_html": _answer(trace, t),
        "written": is_written(trace),
        "sources": [_source(trace, source, cited, shown, t) for source, cited in cited_first(trace)],
        "web": sent(trace.web, t) if trace.web else "",
        "groups": [group for group in (trace.documents, trace.web_documents) if group],
        "place": partial(place, t=t),
        "ledger": [(name, list(strips)) for name, strips in groupby(trace.strips, partial(place, t=t))],
        "score": partial(_score, t=t),
        "reason": partial(_reason, t=t),
        "look": lambda look: t(f"look_{look}"),
        "made_by": made_by(trace, t),
    }


def _answer(trace: Trace, t: Texts) -> str:
    """As on the page: quotes as they are, a model's own words with their structure; all of it escaped."""
    draw = written_text.as_html if is_written(trace) else answer_text.as_html
    return draw(trace.answer, marks.look_of(trace, t))


def _source(
    trace: Trace, source: Source, cited: bool, figures: dict[tuple[str, int], dict[str, Any] | None], t: Texts
) -> dict[str, Any]:
    """A source with its strips, and the images of its pages where no source before it has shown them."""
    ids = set(source.strips)
    pages = [(source.content, page) for page in source.pages or (source.page,)] if cited and not source.url else []
    named = place(source, t)
    return {
        "n": source.n,
        "cited": cited,
        "place_html": safe.link(source.url, named) if source.url else safe.in_html(named),
        "also": t("export_also", files=", ".join(source.files[1:])) if source.files[1:] else "",
        "strips": [(strip, look_of(trace, strip)) for strip in trace.strips if strip.id in ids],
        "figures": [figure for key in pages if (figure := figures.pop(key, None))],
    }


def _figure(trace: Trace, key: tuple[str, int], pictures: Mapping[Place, Picture], t: Texts) -> dict[str, Any] | None:
    """A page's image as a data address with its caption, or the sentence why it is not shown; None: none was asked."""
    content, page = key
    picture = pictures.get((trace.turn_id, content, page))
    if picture is None:
        return None
    file = next(source.file for source in trace.sources if source.content == content)
    data = f"data:image/png;base64,{base64.b64encode(picture.image).decode()}" if picture.image else ""
    return {
        "data": data,
        "name": t("page_alt", page=page, file=file),
        "note": t(picture.why_not) if picture.why_not else t("export_stale" if picture.stale else "export_legend"),
    }


def _reason(document: GradedDocument, t: Texts) -> str:
    """Why it has its score; where a person set that, what the evaluator had said."""
    own = own_grade(document)
    why = own.reason or own.cause or ""
    if document.by_evaluator is None:
        return why
    word = "yes" if document.score == ANSWERS else "no"
    parts = (t(f"export_by_hand_{word}"), t("by_evaluator", score=_score(own.score, t)), why)
    return " · ".join(part for part in parts if part)


def _score(score: float | None, t: Texts) -> str:
    return t("no_score") if score is None else f"{score:.2f}"
