"""The conversations in the sidebar: found, opened, renamed, exported, deleted and brought back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st

from crag.errors import CragError
from crag.ui import exporting, safe, state
from crag.ui.conversations import Conversation
from crag.ui.state import Process
from crag.ui.texts import Texts

if TYPE_CHECKING:
    from crag.history.conversations import Listed

log = logging.getLogger(__name__)

AT_FIRST: Final = 30
"""Conversations, and so many more with each *Show more*."""
SEARCH, LIMIT, DELETED, ERROR = "search-conversations", "conversation-limit", "conversations-deleted", "list-error"
"""What a session knows of the list: the search, how many are shown, what can be brought back, what went wrong."""


def draw(process: Process, conversation: Conversation | None, t: Texts) -> bool:
    """Draws the list, `conversation` marked; returns whether one was opened by this run."""
    search, limit = st.session_state.get(SEARCH, ""), st.session_state.get(LIMIT, AT_FIRST)
    try:
        found = process.kept().latest(search, limit + 1, st.session_state.get(DELETED, ()))
    except CragError as error:
        _title(t)
        st.error(safe.in_markdown(str(error)), icon=":material/error:")
        return False
    rows = found[:limit] if search else with_open(found[:limit], conversation)
    if not rows and not search:
        return False
    _title(t)
    st.text_input(
        t("search_conversations"),
        key=SEARCH,
        placeholder=t("search_conversations"),
        icon=":material/search:",
        label_visibility="collapsed",
    )
    if failed := st.session_state.pop(ERROR, None):
        st.error(safe.in_markdown(failed), icon=":material/error:")
    if not rows:
        st.caption(safe.in_markdown(t("nothing_found", search=search)))
    opened, current = False, conversation.id if conversation else ""
    with st.container(gap=None, key="conversations"):
        for name, some in by_day(rows, datetime.now(UTC), zone()):
            st.html(f"<h3 class='crag-day'>{t(name)}</h3>")
            for row in some:
                opened |= _row(process, row, row.id == current, t)
        if len(found) > limit:
            st.button(t("show_more"), key="more-conversations", type="tertiary", on_click=_more, args=(limit,))
    return opened


def with_open(rows: list[Listed], conversation: Conversation | None) -> list[Listed]:
    """The open conversation first where it is not among them: just begun, not kept, or older than those."""
    from crag.history.conversations import Listed

    if conversation is None or any(row.id == conversation.id for row in rows):
        return rows
    return [Listed(id=conversation.id, title=conversation.title, changed=datetime.now(UTC).isoformat()), *rows]


def by_day(rows: Sequence[Listed], now: datetime, here: tzinfo) -> list[tuple[str, list[Listed]]]:
    """The rows under the names of their days, as the calendar counts them where the person is."""
    today = now.astimezone(here).date()
    groups: dict[str, list[Listed]] = {}
    for row in rows:
        day = datetime.fromisoformat(row.changed).astimezone(here).date()
        ago = today - day
        name = "today" if ago <= timedelta(0) else "yesterday" if ago == timedelta(1) else "last_days"
        groups.setdefault(name if ago <= timedelta(7) else "before", []).append(row)
    return list(groups.items())


def zone() -> tzinfo:
    """The browser's time zone; UTC where it does not say."""
    try:
        return ZoneInfo(st.context.timezone or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        log.warning("this time zone is not known: %s", st.context.timezone)
        return UTC


def _title(t: Texts) -> None:
    st.html(f"<h2 class='crag-section'>{t('conversations')}</h2>")


def _row(process: Process, row: Listed, current: bool, t: Texts) -> bool:
    title = safe.in_markdown(row.title)
    with st.container(
        horizontal=True,
        vertical_alignment="center",
        gap=None,
        wrap=False,
        key=f"{'current' if current else 'conversation'}-{row.id}",
    ):
        if row.deleted:
            st.caption(t("deleted_conversation", title=title), width="stretch")
            st.button(t("undo"), key=f"undo-{row.id}", type="tertiary", on_click=_restore, args=(process, row.id))
            return False
        opened = st.button(
            f"**{title}**" if current else title,
            key=f"talk-{row.id}",
            type="tertiary",
            width="stretch",
            on_click=state.open_conversation,
            args=(row.id,),
        )
        menu = st.popover(
            t("conversation_menu", title=title),
            icon=":material/more_horiz:",
            type="tertiary",
            key=f"menu-{row.id}",
            on_change="rerun",
        )
        if menu.open:
            with menu:
                _menu(process, row, current, t)
    return opened


def _menu(process: Process, row: Listed, current: bool, t: Texts) -> None:
    """Drawn when it is open."""
    key = f"title-{row.id}"
    st.text_input(t("title"), row.title, key=key, on_change=_rename, args=(process, row.id, key), help=t("title_help"))
    kept = process.conversation(row.id)
    traces = [turn.trace for turn in kept.turns if turn.trace] if kept else []
    if traces:
        st.caption(t("export_conversation"))
        exporting.draw_forms(traces, f"list-{row.id}", t, whole=True)
    st.button(
        t("delete_conversation"),
        key=f"delete-{row.id}",
        icon=":material/delete:",
        on_click=_delete,
        args=(process, row.id, current),
    )


def _more(limit: int) -> None:
    st.session_state[LIMIT] = limit + AT_FIRST


def _rename(process: Process, conversation_id: str, key: str) -> None:
    _told(lambda: process.talks.rename(conversation_id, st.session_state[key]))


def _delete(process: Process, conversation_id: str, current: bool) -> None:
    if _told(lambda: process.talks.delete(conversation_id)):
        st.session_state[DELETED] = [*st.session_state.get(DELETED, ()), conversation_id]
        if current:
            state.show(None)


def _restore(process: Process, conversation_id: str) -> None:
    if _told(lambda: process.talks.restore(conversation_id)):
        st.session_state[DELETED] = [known for known in st.session_state[DELETED] if known != conversation_id]
        if state.CONVERSATION not in st.query_params:
            state.open_conversation(conversation_id)


def _told(act: Callable[[], None]) -> bool:
    """Whether it was done; where not, the list says why."""
    try:
        act()
    except CragError as error:
        st.session_state[ERROR] = str(error)
        return False
    return True
