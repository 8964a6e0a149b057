"""Answers as Markdown: question, decision, what was not in order, answer, sources. Foreign text stays text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from crag.export.doubts import doubts
from crag.export.wording import asked, cited_first, is_written, made_by, place, sent
from crag.schema import Source, Trace
from crag.ui import safe
from crag.ui.texts import Texts

_SIGNS = re.compile(r"([\\`*_\[\]<>#|~!&$])")
_STRUCTURE = re.compile(r"([\\\[\]<>!&$])")
"""What could load, lead away or be markup in an answer that a model has structured itself."""
_LINKED = re.compile(r":(?=//|[a-z_+-][\w+-]*:)|(?<=\bwww)\.|@(?=\w)", re.IGNORECASE)
"""Signs from which readers make links, mentions and emoji by themselves."""
_BEGINS = re.compile(r"^(\d{1,9}(?=[.)])|(?=[-+=]))")
"""Where a backslash keeps a line from beginning a list or underlining a heading."""


def as_markdown(traces: Sequence[Trace], t: Texts) -> str:
    """All turns, the oldest first."""
    return "\n\n".join("\n\n".join(_turn(trace, t)) for trace in traces) + "\n"


def inert(text: str) -> str:
    """One line in which every sign of Markdown shows as itself."""
    line = _SIGNS.sub(r"\\\1", " ".join(safe.clean(text).split()))
    line = _BEGINS.sub(r"\1\\", line)
    return _LINKED.sub(lambda match: "\\" + match[0], line)


def quoted(lines: Iterable[str]) -> str:
    """Lines as a quotation: what stands in it is told apart from our own words."""
    return "\n".join(f"> {line}" if line else ">" for line in lines)


def broken(lines: Sequence[str]) -> Iterator[str]:
    """Inert lines that stay lines: two spaces at the end break one."""
    for number, line in enumerate(lines):
        follows = line.strip() and "".join(lines[number + 1 : number + 2]).strip()
        yield inert(line) + ("  " if follows else "")


def _turn(trace: Trace, t: Texts) -> Iterator[str]:
    yield f"# {inert(trace.question)}"
    yield inert(asked(trace, t))
    if trace.standalone:
        yield inert(t("export_understood", question=trace.standalone))
    if trace.action is not None:
        yield f"**{t(trace.action)}.** {inert(trace.decision)}"
    told = doubts(trace, t)
    if told:
        yield f"## {t('export_doubts')}"
        yield "\n".join(f"- {inert(doubt)}" for doubt in told)
    else:
        yield inert(t("export_no_doubts"))
    yield f"## {t('export_answer')}"
    yield quoted(_answer(trace)) if trace.answer.strip() else inert(t("export_no_answer"))
    if trace.sources:
        yield f"## {t('export_sources')}"
        for source, cited in cited_first(trace):
            yield _source(source, cited, t)
    if trace.web:
        yield inert(sent(trace.web, t))
    yield inert(made_by(trace, t))


def _answer(trace: Trace) -> Iterator[str]:
    """Quotes say nothing but themselves; what a model has written keeps its lists and tables, and links nowhere."""
    lines = safe.clean(trace.answer.strip()).split("\n")
    if is_written(trace):
        structured = (_STRUCTURE.sub(r"\\\1", line) for line in lines)
        return (_LINKED.sub(lambda match: "\\" + match[0], line) for line in structured)
    return broken(lines)


def _source(source: Source, cited: bool, t: Texts) -> str:
    used = t("look_cited") if cited else t("export_not_cited")
    others = t("export_also", files=", ".join(source.files[1:])) if source.files[1:] else ""
    head = f"**\\[{source.n}\\] {inert(place(source, t))}** ({used})" + (f" {inert(others)}" if others else "")
    return f"{head}\n\n{quoted(broken(source.text.splitlines()))}"
