"""The sidebar: the conversations, the knowledge base, and the numbers of the decision."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from config import Settings
from crag.ui import conversation_list, knowledge, safe, state
from crag.ui.conversations import Conversation
from crag.ui.dates import day
from crag.ui.knowledge import Overview
from crag.ui.settings import person
from crag.ui.settings.wrong import label
from crag.ui.state import Limits, Process
from crag.ui.texts import Texts


@dataclass(frozen=True)
class Place:
    """A page that can be gone to."""

    page: st.Page
    icon: str


@dataclass(frozen=True)
class Places:
    """The pages that can be gone to, the chat first, and whether it is the one that is shown."""

    all: tuple[Place, ...]
    in_chat: bool

    @property
    def chat(self) -> st.Page:
        return self.all[0].page


def draw(process: Process, overview: Overview, conversation: Conversation | None, places: Places, t: Texts) -> Settings:
    """Draws it and returns the settings for the next question."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.html("<span class='crag-brand'>CRAG</span>", width="content")
        new = st.button(t("new"), key="new", icon=":material/add:", type="tertiary", on_click=state.show, args=(None,))
    kept = {state.CONVERSATION: conversation.id} if conversation else {}
    with st.container(gap="xsmall", key="places"):
        for place in places.all:
            st.page_link(place.page, icon=place.icon, query_params=kept)
    if (conversation_list.draw(process, conversation, t) or new) and not places.in_chat:
        named = st.query_params.get(state.CONVERSATION)
        st.switch_page(places.chat, query_params={state.CONVERSATION: named} if named else {})
    if conversation is not None or not places.in_chat or not overview.empty:
        st.html(f"<h2 class='crag-section'>{t('knowledge_base')}</h2>")
        knowledge.draw(process, overview, t)
    if not overview.empty:
        _which_files(conversation, overview, t)
    _not_in_force(process, t)
    with st.expander(t("decision"), icon=":material/tune:", expanded=False):
        return _decision(process, t)


def _not_in_force(process: Process, t: Texts) -> None:
    """A setting that waits, for a key of an earlier visit say: whoever asks now should know."""
    if waiting := person.of(process).resolved.left_out:
        names = t("and").join(label(problem.name, t) for problem in waiting if problem.code != "unknown")
        if names:
            st.warning(safe.in_markdown(t("person_left_out", names=names)), icon=":material/hourglass_top:")


def files(conversation: Conversation | None) -> tuple[str, ...]:
    """The paths that the next question of a conversation may use; none: all."""
    return tuple(st.session_state.get(_files_key(conversation), conversation.files if conversation else ()))


def _files_key(conversation: Conversation | None) -> str:
    return f"which-files-{conversation.id if conversation else 'new'}"


def _which_files(conversation: Conversation | None, overview: Overview, t: Texts) -> None:
    """A chosen file that has gone stays, and is named: a question for one file is never put to all of them unasked."""
    key, paths = _files_key(conversation), [row.path for row in overview.indexed]
    chosen = files(conversation)
    st.session_state.setdefault(key, list(chosen))
    st.multiselect(
        t("which_files"),
        [*paths, *(path for path in chosen if path not in paths)],
        key=key,
        format_func=lambda path: safe.clean(path if path in paths else t("which_files_gone", file=path)),
        placeholder=t("which_files_all", n=len(paths)),
        help=t("which_files_help"),
        on_change=_remember_files,
        args=(conversation,),
    )


def _remember_files(conversation: Conversation | None) -> None:
    if conversation is not None:
        conversation.files = files(conversation)


def _decision(process: Process, t: Texts) -> Settings:
    base = person.of(process).settings
    found = process.limits(base)
    limits = found.thresholds
    defaults = {"limits": (limits.lower, limits.upper), "strip": limits.strip, "k": base.k}
    _follow(defaults)
    st.slider(t("thresholds"), 0.0, 1.0, step=0.01, format="%.2f", key="decision-limits", help=t("thresholds_help"))
    strip = st.slider(
        t("strip_threshold"), 0.0, 1.0, step=0.01, format="%.2f", key="decision-strip", help=t("strip_threshold_help")
    )
    k = st.slider(t("k"), 1, 50, step=1, key="decision-k", help=t("k_help"))
    lower, upper = st.session_state["decision-limits"]
    chosen = {"limits": (lower, upper), "strip": strip, "k": k}
    st.caption(f"{_origin(found, t)} {t('decision_help')}")
    st.button(
        t("reset"),
        key="decision-reset",
        type="tertiary",
        icon=":material/restart_alt:",
        on_click=_reset,
        args=(defaults,),
        disabled=chosen == defaults,
    )
    return base.model_copy(update={"lower": lower, "upper": upper, "strip_threshold": strip, "k": k})


def _origin(found: Limits, t: Texts) -> str:
    """Where the thresholds come from that hold where no slider is moved."""
    said = []
    if found.calibration is not None:
        said.append(t("limits_calibrated", day=day(found.calibration.day, t), n=found.calibration.counts.questions))
    if found.explicit:
        said.append(t("limits_set"))
    return " ".join(said) or t("limits_default")


def _follow(defaults: dict[str, object]) -> None:
    """Sliders start at the defaults, and those that nobody moved go along when a calibration changes these."""
    before = st.session_state.get("decision-defaults", {})
    for key, value in defaults.items():
        if st.session_state.get(f"decision-{key}", before.get(key)) == before.get(key):
            st.session_state[f"decision-{key}"] = value
    st.session_state["decision-defaults"] = defaults


def _reset(defaults: dict[str, object]) -> None:
    for key, value in defaults.items():
        st.session_state[f"decision-{key}"] = value
