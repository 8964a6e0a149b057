"""The box to ask in: a question, the files that `@name` narrows it to, and PDFs that come with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from config import Settings
from crag.events import BuildEvent
from crag.pipeline import LONGEST_QUESTION
from crag.runtime import Job
from crag.ui import long_conversation, safe, sidebar, state, turn_tools, uploading
from crag.ui.conversations import Conversation
from crag.ui.knowledge import Overview
from crag.ui.naming_files import Unclear, naming, narrowed
from crag.ui.state import Process
from crag.ui.texts import Texts
from crag.ui.upload import Outcome

KEY: Final = "question"
TOLD: Final = "asking-told"
"""Where a session keeps what is told at the box until the next question."""
FILED: Final = (Outcome.SAVED, Outcome.SAME)
BUTTON: Final = 40
"""Characters of a file's name on a button."""


@dataclass(frozen=True)
class Told:
    """What came of what was sent from the box, where it was not simply asked."""

    conversation: str | None
    """In which it is told; None: in a new one."""
    text: str = ""
    """What was typed."""
    unclear: Unclear | None = None
    empty: bool = False
    """Whether no question was left to be asked."""
    outcomes: tuple[tuple[Outcome, str], ...] = ()
    """What became of the files that came with it, by name."""
    reading: Job[BuildEvent] | None = None
    """Ends when those that are new are read."""
    taken: tuple[str, ...] = ()
    """Those whose name another file has: the person decides in the sidebar."""


def draw(
    process: Process, conversation: Conversation | None, running: bool, overview: Overview, settings: Settings, t: Texts
) -> None:
    """The box, and above it what is to be told of the last thing that was sent from it."""
    told: Told | None = st.session_state.get(TOLD)
    if told is not None and told.conversation == (conversation.id if conversation else None):
        with st.bottom, st.container(key="asking-told", gap="small"):
            _tell(process, conversation, told, settings, t)
    st.chat_input(
        t("answering" if running else "nothing_to_ask" if overview.empty else "ask"),
        key=KEY,
        disabled=overview.empty,
        max_chars=LONGEST_QUESTION + turn_tools.ROOM,
        accept_file="multiple",
        file_type=["pdf"],
        max_upload_size=process.settings.max_upload_mb,
        on_submit=_submit,
        args=(process, conversation, overview, settings),
    )


def ask(
    process: Process,
    conversation: Conversation | None,
    question: str,
    settings: Settings,
    only: tuple[str, ...] = (),
    after: Job[BuildEvent] | None = None,
) -> Conversation | None:
    """Asks in the conversation, or in a new one, and shows it; `only` and `after` as for `Process.ask`."""
    if not question.strip():
        return None
    known = conversation.id if conversation else None
    asked = process.ask(known, question.strip(), settings, sidebar.files(conversation), only, after)
    long_conversation.to_newest(asked)
    state.show(asked)
    return asked


def _submit(process: Process, conversation: Conversation | None, overview: Overview, settings: Settings) -> None:
    """Files what came along and begins to read it; asks, unless a name in the question is not clear."""
    sent: Any = st.session_state[KEY]
    text, uploads = (sent, []) if isinstance(sent, str) else (sent.text or "", sent.files)
    before = len(st.session_state.get("upload-waiting", []))
    outcomes = tuple(uploading.take(uploads, process.settings)) if uploads else ()
    taken = tuple(waiting.name for waiting in st.session_state.get("upload-waiting", [])[before:])
    indexed = [row.path for row in overview.indexed]
    there = [name for outcome, name in outcomes if outcome in FILED]
    new = [name for outcome, name in outcomes if outcome is Outcome.SAVED or (name in there and name not in indexed)]
    after = process.read_added() if new else None
    found = narrowed(text, list(dict.fromkeys([*indexed, *there])))
    empty = found.unclear is None and not found.question.strip() and bool(found.files)
    asked = conversation
    if found.unclear is not None or empty:
        st.session_state[KEY] = text  # nothing typed is lost: it stands in the box again
    else:
        asked = ask(process, conversation, found.question, settings, found.files, after) or conversation
    told = Told(asked.id if asked else None, text, found.unclear, empty, outcomes, after, taken)
    st.session_state[TOLD] = told if (told.unclear or empty or outcomes or taken) else None


def _tell(process: Process, conversation: Conversation | None, told: Told, settings: Settings, t: Texts) -> None:
    known = () if told.reading else (Outcome.SAME,)
    uploading.say([one for one in told.outcomes if one[0] not in FILED or one[0] in known], process.settings, t)
    if told.reading is not None and told.reading.running:
        names = ", ".join(name for outcome, name in told.outcomes if outcome in FILED)
        key = "added_then_asked" if told.text.strip() else "added_to_read"
        st.caption(f":material/hourglass_top: {t(key, files=safe.in_markdown(names))}")
    for name in told.taken:
        st.info(t("name_taken_decide", file=safe.in_markdown(name)), icon=":material/file_copy:")
    if told.empty:
        st.info(t("only_files_named"), icon=":material/alternate_email:")
    if told.unclear is not None:
        _suggest(process, conversation, told, told.unclear, settings, t)


def _suggest(
    process: Process, conversation: Conversation | None, told: Told, unclear: Unclear, settings: Settings, t: Texts
) -> None:
    """The files that could be meant, as buttons that ask them; and the question as it was typed, of all files."""
    which = "name_of_several" if unclear.several else "name_of_none"
    st.info(t(which, name=safe.in_markdown(unclear.written)), icon=":material/alternate_email:")
    with st.container(horizontal=True, gap="small", key="asking-candidates"):
        for number, path in enumerate(unclear.candidates):
            st.button(
                safe.in_markdown(_short(path)),
                key=f"asking-candidate-{number}",
                icon=":material/description:",
                help=safe.in_markdown(path),
                on_click=_choose,
                args=(process, conversation, told, unclear.written, path, settings),
            )
        st.button(
            t("ask_as_typed"),
            key="asking-as-typed",
            type="tertiary",
            on_click=_as_typed,
            args=(process, conversation, told.text, settings),
        )


def _short(path: str) -> str:
    name: Sequence[str] = path.rpartition("/")[2]
    return str(name) if len(name) <= BUTTON else f"{name[: BUTTON - 1]}…"


def _choose(
    process: Process, conversation: Conversation | None, told: Told, written: str, path: str, settings: Settings
) -> None:
    """The chosen file takes the place of the name; another name may still be unclear."""
    rows = process.house.knowledge_base.rows() if process.house else []
    paths = list(dict.fromkeys([path, *(row.path for row in rows if row.passages and not row.error)]))
    text = told.text.replace(written, naming(path), 1)
    found = narrowed(text, paths)
    empty = found.unclear is None and not found.question.strip()
    if found.unclear is not None or empty:
        st.session_state[KEY] = text
        st.session_state[TOLD] = Told(told.conversation, text, found.unclear, empty)
        return
    _clear()
    ask(process, conversation, found.question, settings, found.files)


def _as_typed(process: Process, conversation: Conversation | None, text: str, settings: Settings) -> None:
    _clear()
    ask(process, conversation, text, settings)


def _clear() -> None:
    st.session_state[TOLD] = None
    st.session_state[KEY] = ""
