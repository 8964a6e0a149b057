"""The Settings page alone, over the stage's house: what is shown on it, and the clicks that the tests make."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest
from ui_stage import Stage

from crag.ui import state


def settings_page(stage: Stage, group: str = "models") -> AppTest:
    """In a session of its own; the house is open."""
    if state.process().house is None:
        stage.page()
    at = AppTest.from_function(_page, default_timeout=20)
    at.query_params["group"] = group
    return fine(at.run())


def _page() -> None:
    import streamlit as st

    from crag.ui import state
    from crag.ui.settings import page, person
    from crag.ui.texts import Texts, language_of

    process = state.process()
    if process.house is None:
        return
    page.draw(process, Texts(language_of(person.of(process).settings.language, st.context.locale)))


def fine(at: AppTest) -> AppTest:
    assert not at.exception
    return at


def shown(at: AppTest) -> str:
    """Everything that is said in words."""
    elements = [*at.markdown, *at.caption, *at.info, *at.success, *at.error, *at.warning]
    html = [element.proto.body for element in at.get("html")]
    said = "\n".join([*(element.value for element in elements), *html])
    return said.replace("\\", "").replace("\u2060", "")


def change(at: AppTest, name: str, value: Any) -> AppTest:
    """As a person enters it into the widget of a setting."""
    for kind in ("selectbox", "text_input", "number_input", "slider", "toggle", "segmented_control"):
        for widget in at.get("button_group") if kind == "segmented_control" else at.get(kind):
            if widget.key == f"set-{name}":
                return fine(widget.set_value(value).run())
    raise AssertionError(f"{name} is not shown")


def enter_key(at: AppTest, name: str, key: str, remember: bool = False) -> AppTest:
    at.text_input(key=f"key-{name}").set_value(key)
    at.checkbox(key=f"remember-{name}").set_value(remember)
    return press(at, f"use-{name}")


def press(at: AppTest, key: str) -> AppTest:
    return fine(at.button(key=key).click().run())
