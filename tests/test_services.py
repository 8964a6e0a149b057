"""Who does what, what leaves the machine by it, and a test of each against servers on this machine."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from config import Settings, load_settings
from crag import doctor
from crag.agent_model.registry import Models
from crag.assembly import web_search
from crag.services import Service, leaving, services, to_test, try_out
from crag.ui.texts import Texts
from crag.ui.what_leaves import what_leaves
from tests import model_server, vector_server
from tests.search import tavily_server

KEY = "sk-secret-4711"


def by_task(settings: Settings) -> dict[str, Service]:
    return {service.task: service for service in services(settings)}


def house() -> Any:
    return SimpleNamespace(embedder=None, models=Models())


def test_without_settings_nothing_leaves_the_machine_and_nothing_needs_a_test() -> None:
    found = services(load_settings())
    assert [service.name for service in found] == [
        "builtin",
        "multilingual-e5-small",
        "lightweight",
        "extractive",
        "idf",
        "",
    ]
    assert leaving(load_settings()) == {}
    assert to_test(found) == []
    assert what_leaves({}, Texts("en")) == "Nothing leaves this machine with these settings."


def test_what_leaves_is_told_by_the_host_that_it_goes_to() -> None:
    settings = load_settings(
        llm_provider="dashscope",
        dashscope_api_key=KEY,
        evaluator="llm",
        embedding_provider="ollama",
        ollama_url="http://gpu.local:11434",
        web_provider="tavily",
        tavily_api_key="t",
        web_pages="off",
    )
    assert leaving(settings) == {
        "gpu.local:11434": ("passages", "question"),
        "dashscope.aliyuncs.com": ("question", "documents", "history", "context"),
        "api.tavily.com": ("query",),
    }
    said = what_leaves(leaving(settings), Texts("en"))
    assert "to api.tavily.com the search query." in said
    assert "every retrieved document" in said
    assert KEY not in said + repr(services(settings))


def test_a_search_goes_to_the_host_of_its_provider_or_to_your_own() -> None:
    told = {"web_provider": "brave", "brave_api_key": KEY, "web_pages": "off"}
    assert leaving(load_settings(**told)) == {"api.search.brave.com": ("query",)}
    assert leaving(load_settings(**told, web_url="https://proxy.example/brave")) == {"proxy.example": ("query",)}


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/v1", "http://localhost:8000/v1", "http://[::1]:8000/v1"])
def test_a_server_on_this_machine_is_no_other(url: str) -> None:
    settings = load_settings(llm_provider="openai", llm_model="m", openai_api_base=url)
    assert leaving(settings) == {}
    assert by_task(settings)["write"].host.endswith(":8000")


def test_a_web_that_is_off_is_asked_by_nobody() -> None:
    settings = load_settings(web="off", web_provider="tavily", tavily_api_key="t")
    assert by_task(settings)["search"] == Service("search", "")


async def test_a_model_is_tested_in_one_round_trip_and_its_failure_has_the_mend() -> None:
    with model_server.serving() as server:
        server.key = KEY
        given: dict[str, Any] = {"llm_provider": "openai", "llm_model": "m", "openai_api_base": server.base}
        settings = load_settings(**given, openai_api_key=KEY, price_in=1.0, price_out=2.0)
        good = await try_out(by_task(settings)["write"], settings, house())
        assert (good.ok, good.cost) == (True, pytest.approx((11 * 1.0 + 7 * 2.0) / 1e6))
        assert len(server.chats) == 1
        refused = load_settings(**given, openai_api_key="wrong")
        bad = await try_out(by_task(refused)["write"], refused, house())
        assert not bad.ok
        assert "OPENAI_API_KEY" in bad.text
        assert "wrong" not in bad.text


async def test_the_embedding_is_tested_by_a_request_each_time_and_its_failure_told() -> None:
    with vector_server.serving() as server:
        settings = load_settings(embedding_provider="ollama", ollama_url=server.url)
        service = by_task(settings)["embed"]
        for _ in range(2):
            good = await try_out(service, settings, house())
            assert good.ok
            assert f"{service.host} answers with a vector of 48 numbers" in good.text
        assert len(server.requests) == 2
        server.always = vector_server.Reply(404)
        bad = await try_out(service, settings, house())
        assert not bad.ok
        assert "no embedding model" in bad.text


async def test_mineru_is_asked_for_its_version_and_no_file_is_sent() -> None:
    settings = load_settings(parser="mineru", mineru_url="http://127.0.0.1:9")
    service = by_task(settings)["read"]
    assert (service.name, service.host, service.sends) == ("mineru", "127.0.0.1:9", ("files",))
    bad = await try_out(service, settings, house())
    assert not bad.ok
    assert "MinerU does not answer at http://127.0.0.1:9" in bad.text


def test_files_that_mineru_reads_elsewhere_leave_the_machine() -> None:
    settings = load_settings(parser="mineru", mineru_url="http://gpu.local:8000")
    assert leaving(settings) == {"gpu.local:8000": ("files",)}
    assert "to gpu.local:8000 every file as it is" in what_leaves(leaving(settings), Texts("en"))


def test_what_reads_and_embeds_is_that_with_which_the_house_was_opened() -> None:
    wanted = load_settings(embedding_provider="ollama", ollama_url="http://gpu.local:11434")
    assert leaving(wanted, load_settings()) == {}
    assert leaving(load_settings(), wanted) == {"gpu.local:11434": ("passages", "question")}


async def test_a_web_test_is_a_search_past_what_was_kept_and_past_the_days_budget(tmp_path: Path) -> None:
    with tavily_server.serving() as tavily:
        tavily.finds(tavily_server.a_result("CRAG"))
        settings = load_settings(
            web_provider="tavily",
            tavily_api_key="t",
            tavily_url=tavily.url,
            web_price=0.01,
            web_daily_searches=1,
            cache_dir=tmp_path,
        )
        for _ in range(2):
            good = await try_out(by_task(settings)["search"], settings, house())
            assert (good.ok, good.cost) == (True, 0.01)
        assert [request["query"] for request in tavily.requests] == 2 * ["Corrective Retrieval Augmented Generation"]
        web = web_search(settings)
        assert web is not None
        assert not (await web.search("a question")).cached, "the search of the day is still there"
        tavily.status = 401
        bad = await try_out(by_task(settings)["search"], settings, house())
        assert not bad.ok


def test_doctor_asks_this_machine_always_and_others_only_with_online() -> None:
    with model_server.serving() as server, tavily_server.serving() as tavily:
        settings = load_settings(
            llm_provider="openai",
            llm_model="m",
            openai_api_base=server.base,
            web_provider="tavily",
            tavily_api_key="t",
            tavily_url=tavily.url,
        )
        found = {finding.subject: finding for finding in doctor._services(house(), settings, online=False)}
        assert found["generator"].ok
        assert len(server.chats) == 1, "the model that writes also rewrites: one test"
        assert "doctor --online" in found["web search"].text
        assert tavily.requests == []
        found = {finding.subject: finding for finding in doctor._services(house(), settings, online=True)}
        assert found["web search"].ok
        assert len(tavily.requests) == 1
        server.models = []
        server.key = "another"
        failed = doctor._services(house(), settings, online=False)[0]
        assert (failed.subject, failed.ok) == ("generator", False)
