"""The Models page: who does what, what leaves the machine, and a test of each by a click."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest
from ui_stage import Stage

from crag.ui import state
from tests import model_server


def models_page(stage: Stage) -> AppTest:
    stage.page()
    at = AppTest.from_function(_page, default_timeout=20).run()
    assert not at.exception
    return at


def _page() -> None:
    from crag.ui import models_page, state
    from crag.ui.texts import Texts

    models_page.draw(state.process(), Texts("en"))


def shown(at: AppTest) -> str:
    elements = [*at.markdown, *at.caption, *at.info, *at.success, *at.error]
    return "\n".join(element.value for element in elements).replace("\\", "").replace("\u2060", "")


def test_without_a_provider_nothing_leaves_and_nothing_can_be_tested(stage: Stage) -> None:
    at = models_page(stage)
    assert "Nothing leaves this machine" in shown(at)
    assert "multilingual-e5-small" in shown(at)
    assert not at.button


def test_a_click_tests_the_model_and_shows_how_it_went(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    with model_server.serving() as server:
        monkeypatch.setenv("CRAG_LLM_PROVIDER", "openai")
        monkeypatch.setenv("CRAG_LLM_MODEL", "m")
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        at = models_page(stage)
        assert server.asked == [], "nothing is sent by looking"
        at.button(key="test-write").click().run()
        list(state.process().tests["write"].follow(timeout=20))
        at.run()
        assert "answers with m in" in at.success[0].value.replace("\\", "")
        server.key = "another"
        at.button(key="test-write").click().run()
        list(state.process().tests["write"].follow(timeout=20))
        at.run()
        assert "OPENAI_API_KEY" in at.error[0].value.replace("\\", "")
