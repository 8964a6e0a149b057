"""The page from top to bottom: what is said here is where things stand; each part is drawn by its own module."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from crag.errors import CragError
from crag.ui import chat, knowledge, library, models_page, opening, safe, sidebar, spoken, state
from crag.ui.sidebar import Places
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
    t = Texts(language_of(process.settings.language, st.context.locale))
    in_chat = st.Page(
        lambda: chat.draw(process, conversation, gone, overview, settings, t),
        title=t("chat"),
        url_path="chat",
        default=True,
    )
    in_library = st.Page(lambda: library.draw(process, overview, t), title=t("knowledge_base"), url_path="knowledge")
    in_models = st.Page(lambda: models_page.draw(process, t), title=t("models"), url_path="models")
    st.session_state[state.LIBRARY] = in_library
    chosen = st.navigation([in_chat, in_library, in_models], position="hidden")
    if process.house is None:
        opening.draw(process, t)
        return
    conversation, gone = state.conversation(process)
    overview = knowledge.look(process)
    with st.sidebar:
        places = Places(in_chat, in_library, in_models, chosen is in_chat)
        settings = sidebar.draw(process, overview, conversation, places, t)
    spoken.begin(t)
    chosen.run()


main()
