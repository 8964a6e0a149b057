"""The services on the Settings page: who does what, and a test of each by a click."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from settings_stage import change, press, settings_page, shown
from streamlit.testing.v1 import AppTest
from ui_stage import Stage

from config import load_settings
from crag.assembly import web_search
from crag.ui.settings import services_at_work
from tests import model_server
from tests.search.search_service import service


def after_a_test(at: AppTest, task: str) -> AppTest:
    at = press(at, f"test-{task}")
    _, job = at.session_state[services_at_work.TESTS][task]
    list(job.follow(timeout=20))
    return at.run()


def test_without_a_provider_nothing_leaves_and_nothing_can_be_tested(stage: Stage) -> None:
    at = settings_page(stage)
    assert "Nothing leaves this machine" in shown(at)
    assert "multilingual-e5-small" in shown(at)
    assert not [button for button in at.button if button.label == "Test connection"]


def test_a_click_tests_the_model_and_shows_how_it_went(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    with model_server.serving() as server:
        monkeypatch.setenv("CRAG_LLM_PROVIDER", "openai")
        monkeypatch.setenv("CRAG_LLM_MODEL", "m")
        monkeypatch.setenv("OPENAI_API_BASE", server.base)
        at = settings_page(stage)
        assert server.asked == [], "nothing is sent by looking"
        at = after_a_test(at, "write")
        assert "answers with m in" in at.success[0].value.replace("\\", "")
        server.key = "another"
        at = after_a_test(at, "write")
        assert "OPENAI_API_KEY" in at.error[0].value.replace("\\", "")
        at = change(at, "llm_model", "n")
        assert not at.error, "that was another model"


def test_a_test_is_seen_by_who_made_it_alone(stage: Stage) -> None:
    with model_server.serving() as server:
        at = change(settings_page(stage), "llm_provider", "openai")
        at = after_a_test(change(change(at, "llm_model", "m"), "openai_api_base", server.base), "write")
        assert at.success
        assert not settings_page(stage).success


def test_the_searches_of_the_day_are_counted_with_their_cost(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CRAG_CACHE_DIR", str(tmp_path))
    with service() as engine:
        engine.says({"results": [{"url": "https://example.org/1", "title": "Anvils", "content": "An anvil is heavy."}]})
        for name, value in {"WEB_PROVIDER": "searxng", "WEB_URL": engine.url, "WEB_PAGES": "off"}.items():
            monkeypatch.setenv(f"CRAG_{name}", value)
        assert "searches are used" not in shown(settings_page(stage)), "there is no limit"
        monkeypatch.setenv("CRAG_WEB_DAILY_SEARCHES", "20")
        monkeypatch.setenv("CRAG_WEB_PRICE", "0.005")
        web = web_search(load_settings())
        assert web is not None
        for query in ("anvil", "saw", "anvil"):
            asyncio.run(web.search(query))
        assert "2 of today's 20 searches are used. That cost 0.0100" in shown(settings_page(stage))
