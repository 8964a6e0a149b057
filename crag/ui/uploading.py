"""The upload widget: what came in is filed once, each file gets its message, and a taken name is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from config import Settings
from crag.ui import safe
from crag.ui.texts import Texts
from crag.ui.upload import OnConflict, Outcome, save

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

MEGABYTE = 1024 * 1024
ICONS = {Outcome.SAVED: ":material/check:", Outcome.SAME: ":material/done_all:"}


@dataclass(frozen=True)
class Waiting:
    """An upload whose name is taken by other bytes, until the user decides."""

    name: str
    data: bytes


def draw(settings: Settings, t: Texts) -> None:
    """The drop area, the question about each taken name, and what became of the last uploads."""
    batch = st.session_state.setdefault("upload-batch", 0)
    key = f"upload-{batch}"
    _in_own_words(settings, t)
    st.file_uploader(
        t("add_pdfs"),
        type="pdf",
        accept_multiple_files=True,
        max_upload_size=settings.max_upload_mb,
        key=key,
        on_change=_file,
        args=(key, settings),
        help=t("add_pdfs_help", folder=settings.files_dir.name),
    )
    for number, waiting in enumerate(st.session_state.get("upload-waiting", [])):
        _ask(number, waiting, settings, t)
    say(st.session_state.get("upload-outcomes", []), settings, t)


def _in_own_words(settings: Settings, t: Texts) -> None:
    """Streamlit's drop area speaks English alone: in another language of the page our words stand in their place."""
    if t.language == "en":
        return
    words = {
        "[data-testid='stFileUploaderDropzone'] button p": t("upload_choose"),
        "[class*='st-key-upload-'] [data-testid='stFileUploaderDropzoneInstructions'] span": t(
            "upload_limit", limit=settings.max_upload_mb
        ),
    }
    rules = (
        f"{of} {{ font-size: 0; }} {of}::after {{ content: '{said}'; font-size: .875rem; }}"
        for of, said in words.items()
    )
    st.html(f"<style>{' '.join(rules)}</style>")


def forget() -> None:
    """The messages about the last uploads are read."""
    st.session_state["upload-outcomes"] = []


def _file(key: str, settings: Settings) -> None:
    """Runs once per batch: afterwards the widget gets a new key, so that no rerun files the same batch again."""
    uploads = st.session_state.get(key) or []
    st.session_state["upload-batch"] += 1
    forget()
    st.session_state["upload-outcomes"] = take(uploads, settings)


def take(uploads: Sequence[UploadedFile], settings: Settings) -> list[tuple[Outcome, str]]:
    """Files what came in: what became of each, by its name there. A name that is taken is asked about by `draw`."""
    told = [_save(Waiting(upload.name, upload.getvalue()), settings, OnConflict.ASK) for upload in uploads]
    return [outcome for outcome in told if outcome is not None]


def _save(waiting: Waiting, settings: Settings, on_conflict: OnConflict) -> tuple[Outcome, str] | None:
    """What became of it; None: it waits for an answer."""
    outcome, name = save(settings.files_dir, waiting.name, waiting.data, settings.max_upload_mb * MEGABYTE, on_conflict)
    if outcome is Outcome.CONFLICT:
        st.session_state.setdefault("upload-waiting", []).append(Waiting(name, waiting.data))
        return None
    return outcome, name


def _ask(number: int, waiting: Waiting, settings: Settings, t: Texts) -> None:
    with st.container(border=True, key=f"conflict-{number}"):
        st.markdown(f":small[{t('name_taken', file=safe.in_markdown(waiting.name))}]")
        with st.container(horizontal=True, gap="small"):
            for choice in (OnConflict.KEEP_BOTH, OnConflict.REPLACE, None):
                st.button(
                    t(choice or "skip"),
                    key=f"conflict-{number}-{choice}",
                    on_click=_decide,
                    args=(waiting, choice, settings),
                )


def _decide(waiting: Waiting, choice: OnConflict | None, settings: Settings) -> None:
    st.session_state["upload-waiting"].remove(waiting)
    forget()
    if choice is not None and (outcome := _save(waiting, settings, choice)):
        st.session_state["upload-outcomes"] = [outcome]


def say(outcomes: Sequence[tuple[Outcome, str]], settings: Settings, t: Texts) -> None:
    """A line for all that went well, and one for each file that did not."""
    for outcome, icon in ICONS.items():
        names = [name for what, name in outcomes if what is outcome]
        if len(names) == 1:
            st.caption(f"{icon} {t(f'upload_{outcome}', file=safe.in_markdown(names[0]))}")
        elif names:
            st.caption(f"{icon} {t(f'uploads_{outcome}', n=len(names))}")
    for outcome, name in outcomes:
        if outcome not in ICONS:
            text = t(f"upload_{outcome}", file=safe.in_markdown(name), limit=settings.max_upload_mb)
            st.error(text, icon=":material/error:")
