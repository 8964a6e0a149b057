"""The knowledge base on the page: add PDFs, what a rebuild would do, the rebuild as it runs, and its results."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass

import streamlit as st

from crag.errors import CragError
from crag.events import BuildEvent, BuildFinished, FileChange, FileProgress, FileRow, FileState, VectorsAhead
from crag.runtime import Job, JobState
from crag.ui import safe, uploading, vectors_ahead
from crag.ui.money import money
from crag.ui.progress import BuildView, build_view
from crag.ui.settings import person
from crag.ui.state import Process
from crag.ui.texts import Texts, told
from crag.ui.texts.files import translated

log = logging.getLogger(__name__)

TICK = 0.4
WATCH = 5.0
"""Seconds between two looks at the folder where it is watched."""
NEWEST = 20
"""So many finished files are shown while a build runs; all of them when it has ended."""
MOST_LINES = 200
"""So many files are listed; the rest is counted."""
FEW = 40
"""Files whose list is drawn before anybody opens it."""


@dataclass(frozen=True)
class Overview:
    """The knowledge base as one run of the page sees it."""

    rows: tuple[FileRow, ...] = ()
    changes: tuple[FileChange, ...] = ()
    ignored: tuple[str, ...] = ()
    staged: int = 0
    ahead: VectorsAhead | None = None
    building: bool = False
    error: str | None = None

    @property
    def indexed(self) -> list[FileRow]:
        return [row for row in self.rows if row.passages and not row.error]

    @property
    def passages(self) -> int:
        """Equal files share theirs."""
        return sum(row.passages for row in {row.content: row for row in self.indexed}.values())

    @property
    def to_do(self) -> list[FileChange]:
        return [change for change in self.changes if change.state is not FileState.UNCHANGED]

    @property
    def empty(self) -> bool:
        """Nothing can be asked yet."""
        return self.passages == 0


def look(process: Process) -> Overview:
    """Reads the catalog and Files/ once; while a build runs, what a rebuild would do is left out."""
    job = process.runtime.latest("build")
    building = job is not None and job.running
    if process.house is None:
        return Overview(building=building)
    base = process.house.knowledge_base
    try:
        if building:
            return Overview(rows=tuple(base.rows()), building=True)
        seen = base.look()
        found = Overview(seen.rows, seen.changes, seen.ignored, base.staged(), seen.ahead)
        process.forget_overtaken_build(base.version())
        if not found.to_do or (process.refused_at is not None and process.refused_at != found.rows):
            process.forget_failed_build()
        return found
    except CragError as error:
        return Overview(building=building, error=str(error))
    except OSError as error:
        log.exception("the knowledge base could not be looked at")
        return Overview(building=building, error=f"{type(error).__name__}: {error.strerror}")


def draw(process: Process, overview: Overview, t: Texts) -> None:
    """Everything about the knowledge base; stands in the sidebar, and in the middle while there is nothing to ask."""
    if overview.error:
        st.error(safe.in_markdown(overview.error), icon=":material/error:")
    if not overview.empty:
        st.caption(f"{t('kb_files', n=len(overview.indexed))} · {t('kb_passages', n=overview.passages)}")
    settings = person.of(process).settings
    uploading.draw(settings, t)
    job = process.runtime.latest("build")
    if job is not None and overview.building:  # as it was when the rest was read: the follower ends in a rerun
        _follow(job, t)
        return
    if settings.watch == "on" and not overview.to_do:
        _watch(process, t)
    _preview(process, overview, t)
    _staged(process, overview, t)
    if process.refused_at is not None:
        st.info(t("build_elsewhere"), icon=":material/hourglass_top:")
    elif (last := process.last_build()) is not None:
        _result(last, process.settings.currency, t)
    _files(overview.rows, t)


@st.fragment(run_every=TICK)
def _follow(job: Job[BuildEvent], t: Texts) -> None:
    running = job.running
    view = build_view(job.events)
    with st.container(key="building"):
        current = view.current
        if current is not None and current.stage == "compacting":  # of the whole index, not of a file
            st.progress(view.share, text=t("stage_compacting", done=current.done, total=current.total))
        elif current is None:
            done = t("build_between", n=view.passed, of=len(view.to_do)) if view.finished else t("build_starting")
            st.progress(view.share, text=t("build_finishing") if view.publishing else done)
        else:
            file = safe.in_markdown(current.path)
            st.progress(view.share, text=t("build_file", n=view.passed + 1, of=max(1, len(view.to_do)), file=file))
            stage = t(f"stage_{current.stage}", done=current.done, total=current.total)
            st.caption(" · ".join([stage, *_pace(current, t)]))
        _lines(view.finished[: -NEWEST - 1 : -1], t)
        stopping = job.stopping.is_set()
        st.button(
            t("cancelling" if stopping else "cancel"),
            on_click=job.stop,
            disabled=stopping,
            key="build-cancel",
            icon=":material/stop_circle:",
        )
    if not running:
        st.rerun()


@st.fragment(run_every=WATCH)
def _watch(process: Process, t: Texts) -> None:
    """Looks whether the folder has changed, and then offers to rebuild; nothing is rebuilt by itself."""
    if process.house is None:
        return
    try:
        changed = process.house.knowledge_base.changed_since_build()
    except CragError as error:
        st.error(safe.in_markdown(str(error)), icon=":material/error:")
        return
    if changed:
        with st.container(border=True, key="folder-changed"):
            st.markdown(f":small[{t('folder_changed')}]")
            if st.button(t("rebuild"), key="rebuild-changed", icon=":material/sync:", type="primary"):
                _rebuild(process)
                st.rerun()


def _pace(current: FileProgress, t: Texts) -> list[str]:
    """How fast it goes, how much is done in all, and how long it will still take."""
    said = []
    if current.stage == "reading" and current.pages_per_second > 0:
        said.append(t("pages_per_second", rate=current.pages_per_second))
    if current.pages:
        said.append(t("so_far", pages=current.pages, n=current.passages))
    if (left := current.seconds_left) is not None:
        said.append(t("minutes_left", n=round(left / 60)) if left >= 90 else t("seconds_left", n=round(left)))
    return said


def _preview(process: Process, overview: Overview, t: Texts) -> None:
    """What a rebuild would do, and the button."""
    counts = Counter(change.state for change in overview.changes)
    parts = [t(f"n_{state}", n=counts[state]) for state in FileState if counts[state]]
    if not overview.changes and not overview.ignored:
        st.caption(t("no_files", folder=safe.in_markdown(str(process.settings.files_dir))))
    elif overview.to_do:
        with st.expander(" · ".join(parts), icon=":material/difference:"):
            marks = [f"{t(change.state)}: {change.path}" for change in overview.to_do]
            _list(marks, t)
    else:
        st.caption(t("up_to_date", n=counts[FileState.UNCHANGED]))
    if overview.ignored:
        with st.expander(t("ignored", n=len(overview.ignored)), icon=":material/block:"):
            st.caption(t("ignored_help"))
            _list(list(overview.ignored), t)
    if overview.ahead is not None and overview.to_do:
        vectors_ahead.draw(overview.ahead, t)
    with st.container(horizontal=True, gap="small"):
        st.button(
            t("rebuild"),
            on_click=_rebuild,
            args=(process,),
            key="rebuild",
            icon=":material/sync:",
            type="primary" if overview.to_do else "secondary",
            disabled=not overview.changes,
        )
        st.button(
            t("refresh"),
            on_click=_look_again,
            args=(process,),
            key="refresh",
            icon=":material/refresh:",
            type="tertiary",
            help=t("refresh_help"),
        )


def _staged(process: Process, overview: Overview, t: Texts) -> None:
    """After a cancelled build: publish what is finished, or keep it for the next one."""
    if not overview.staged or st.session_state.get("kept-staged") == overview.staged:
        return
    with st.container(border=True, key="staged"):
        st.markdown(f":small[{t('staged', n=overview.staged)}]")
        st.button(t("publish"), on_click=_publish, args=(process,), key="publish", type="primary")
        st.button(t("keep"), on_click=_keep, args=(overview.staged,), key="keep-staged")


def _rebuild(process: Process) -> None:
    uploading.forget()
    process.build()


def _look_again(process: Process) -> None:
    process.forget_failed_build()


def _publish(process: Process) -> None:
    process.publish_staged()


def _keep(staged: int) -> None:
    st.session_state["kept-staged"] = staged


def _result(job: Job[BuildEvent], currency: str, t: Texts) -> None:
    """How the last build ended in one line; it unfolds the files that failed or have notes."""
    if job.state is JobState.FAILED:
        failed = told.translated(job.error or "", t.language)
        st.error(t("build_failed", error=safe.in_markdown(failed)), icon=":material/error:")
        return
    view = build_view(job.events)
    if view.end is None:
        return
    text, icon = _summary(view, view.end, t)
    text += _spent(view.end, currency, t)
    noted = [row for row in view.finished if row.error or row.warnings]
    if noted:
        with st.expander(text, icon=icon, key=f"result-{job.id}"):
            _lines(sorted(noted, key=_worst_first), t)
    else:
        st.caption(f"{icon} {text}")


def _summary(view: BuildView, end: BuildFinished, t: Texts) -> tuple[str, str]:
    failed = sum(bool(row.error) for row in view.finished)
    read = len(view.finished) - failed
    if not end.published:
        text, icon = t("build_cancelled", n=read), ":material/stop_circle:"
    elif not view.started:
        text, icon = t("build_published", n=end.staged), ":material/check_circle:"
    elif not view.finished:
        text, icon = t("nothing_to_read"), ":material/check_circle:"
    else:
        text, icon = t("build_done", n=read, seconds=end.seconds), ":material/check_circle:"
        if end.seconds and (pages := sum(row.pages for row in view.finished)):
            text += f" · {t('pages_per_second', rate=pages / end.seconds)}"
    if failed:
        return f"{text} · {t('n_failed', n=failed)}", ":material/warning:"
    return text, icon


def _spent(end: BuildFinished, currency: str, t: Texts) -> str:
    """What the vectors took of a service, as far as it says."""
    tokens = f" · {t('build_tokens', n=end.tokens)}" if end.tokens is not None else ""
    return tokens + (f" · {money(end.cost, currency)}" if end.cost is not None else "")


def _files(rows: tuple[FileRow, ...], t: Texts) -> None:
    """A short list is there at once, a long one when it is opened: it would cost every run of the page."""
    if not rows:
        return
    many = len(rows) > FEW
    label, icon = t("files", n=len(rows)), ":material/folder:"
    box = st.expander(label, icon=icon, key="files-open", on_change="rerun") if many else st.expander(label, icon=icon)
    if not many or box.open:
        with box:
            _lines(sorted(rows, key=_worst_first), t)


def _worst_first(row: FileRow) -> tuple[bool, bool, str]:
    return not row.error, not row.warnings, row.path


def _lines(rows: list[FileRow], t: Texts) -> None:
    """One line per file: what became of it, its pages and passages, its warnings or its error."""
    lines = []
    for row in rows[:MOST_LINES]:
        kind = "failed" if row.error else "warned" if row.warnings else "ok"
        numbers = "" if row.error else t("file_numbers", pages=row.pages, n=row.passages)
        if row.ocr_pages and not row.error:
            numbers += f" · {t('n_ocr', n=row.ocr_pages)}"
        told = (translated(note, t.language) for note in (row.error or "", *row.warnings))
        notes = [note for note in (numbers, *told) if note]
        below = "".join(f"<div class='crag-note'>{safe.in_html(note)}</div>" for note in notes)
        label = safe.in_html(t(f"file_{kind}"))
        lines.append(
            f"<li class='crag-{kind}'><span class='crag-state' role='img' aria-label='{label}' title='{label}'></span>"
            f"<div><div class='crag-file'>{safe.in_html(row.path)}</div>{below}</div></li>"
        )
    if lines:
        st.html(f"<ul class='crag-files'>{''.join(lines)}</ul>")
    if len(rows) > MOST_LINES:
        st.caption(t("and_more", n=len(rows) - MOST_LINES))


def _list(names: list[str], t: Texts) -> None:
    items = "".join(f"<li>{safe.in_html(name)}</li>" for name in names[:MOST_LINES])
    st.html(f"<ul class='crag-list'>{items}</ul>")
    if len(names) > MOST_LINES:
        st.caption(t("and_more", n=len(names) - MOST_LINES))
