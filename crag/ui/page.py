"""The page from top to bottom: what is said here is where things stand; each part is drawn by its own module."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from crag.errors import CragError
from crag.ui import chat, knowledge, library, opening, safe, sidebar, spoken, state
from crag.ui.evaluate import page as evaluate_page
from crag.ui.settings import page as settings_page
from crag.ui.settings import person
from crag.ui.sidebar import Place, Places
from crag.ui.texts import Texts, language_of

HERE = Path(__file__).parent


def main() -> None:
    """One run of the page."""
    st.set_page_config(page_title="CRAG", page_icon=str(HERE / "icon.svg"), layout="wide")
    st.html(HERE / "style.css")
    try:
        process = state.process()
    except CragError as error:
        st.error(safe.in_markdown(str(error)), icon=":material/error:")
        return
    language = language_of(person.of(process).settings.language, st.context.locale)
    t = Texts(language, st.context.locale or "", st.context.timezone or "")
    in_chat = st.Page(
        lambda: chat.draw(process, conversation, gone, overview, settings, t),
        title=t("chat"),
        url_path="chat",
        default=True,
    )
    in_library = st.Page(lambda: library.draw(process, overview, t), title=t("knowledge_base"), url_path="knowledge")
    in_evaluate = st.Page(lambda: evaluate_page.draw(process, overview, t), title=t("evaluate"), url_path="evaluate")
    in_settings = st.Page(lambda: settings_page.draw(process, t), title=t("settings"), url_path="settings")
    places = (
        Place(in_chat, ":material/forum:"),
        Place(in_library, ":material/library_books:"),
        Place(in_evaluate, ":material/rule:"),
        Place(in_settings, ":material/settings:"),
    )
    st.session_state[state.LIBRARY] = in_library
    chosen = st.navigation([place.page for place in places], position="hidden")
    if process.house is None:
        opening.draw(process, t)
        return
    conversation, gone = state.conversation(process)
    overview = knowledge.look(process)
    with st.sidebar:
        settings = sidebar.draw(process, overview, conversation, Places(places, chosen is in_chat), t)
    spoken.begin(t)
    chosen.run()


main()
