"""The whole house with a service that makes the vectors: opened without it, built, asked, and told where it is down."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from vector_server import KEY, TOKENS, VectorServer, serving

from config import Settings, load_settings
from crag.__main__ import main
from crag.assembly import House, answer_now, open_house
from crag.doctor import examine
from crag.embedding.remote import RemoteEmbedder
from crag.errors import EmbeddingError
from crag.events import Finished
from crag.schema import Action, Trace

PROVIDERS = ("ollama", "dashscope", "openai")
QUESTION = "How many days of vacation do employees get each year?"


@pytest.fixture
def server() -> Iterator[VectorServer]:
    with serving() as made:
        yield made


def settings_for(folder: Path, provider: str, url: str) -> Settings:
    given: dict[str, Any] = {
        "ollama": {"ollama_url": url},
        "dashscope": {"dashscope_url": f"{url}/compatible-mode/v1", "dashscope_api_key": KEY},
        "openai": {"openai_api_base": f"{url}/v1", "openai_api_key": KEY},
        "embedded": {},
    }[provider]
    folders = {"files_dir": folder / "Files", "chroma_dir": folder / "chroma_db", "data_dir": folder / ".crag"}
    return load_settings(embedding_provider=provider, llm_retries=0, **folders, **given)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Files").mkdir()
    for name, text in {
        "handbook.pdf": "Employees get thirty days of vacation each year. Unused days expire in March.",
        "cats.pdf": "A cat sleeps for sixteen hours every day and hunts at night.",
    }.items():
        document = pymupdf.open()
        document.new_page().insert_text((72, 72), text)
        document.save(tmp_path / "Files" / name)
    return tmp_path


def asked(house: House, settings: Settings, question: str = QUESTION) -> Trace:
    async def run() -> Trace:
        events = [event async for event in answer_now(house, settings, question, "t")]
        assert isinstance(events[-1], Finished)
        return events[-1].trace

    return asyncio.run(run())


def scores(trace: Trace) -> dict[str, float]:
    """By file; every document is graded."""
    found = {document.file: document.score for document in trace.documents}
    assert None not in found.values()
    return found  # type: ignore[return-value]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_question_is_answered_over_vectors_of_a_service_and_graded_as_without_it(
    folder: Path, server: VectorServer, provider: str
) -> None:
    settings = settings_for(folder, provider, server.url)
    house = open_house(settings)
    assert server.requests == [], "opening asks nobody"
    list(house.knowledge_base.build())
    trace = asked(house, settings)
    assert trace.decisions[-1].action is Action.CORRECT
    assert "thirty days" in trace.answer
    sent = " ".join(server.texts)
    assert "thirty days" in sent
    assert server.texts[-1].endswith(QUESTION)
    (call,) = trace.calls
    assert (call.role, call.tokens_in, call.error) == ("embed", TOKENS, None)
    count = len(server.requests)
    again = asked(house, settings)
    assert again.calls == ()
    assert len(server.requests) == count, "the question is known, and grading needs no service"
    assert scores(again) == pytest.approx(scores(trace), abs=0.01), "now from the vectors that were kept, halved"
    house.close()
    assert isinstance(house.embedder, RemoteEmbedder)
    assert house.embedder._loop is None, "its connections are closed with the house"


def test_with_the_service_down_the_house_opens_and_says_so_when_it_is_asked(folder: Path, server: VectorServer) -> None:
    settings = settings_for(folder, "ollama", server.url)
    house = open_house(settings)
    list(house.knowledge_base.build())
    house.close()
    down = settings_for(folder, "ollama", "http://127.0.0.1:9")
    house = open_house(down)
    assert isinstance(house.embedder, RemoteEmbedder)
    house.warm_up(down)
    assert len(house.knowledge_base.rows()) == 2
    assert all(change.state == "unchanged" for change in house.knowledge_base.changes())
    assert house.knowledge_base.vectors_ahead() is not None
    house.parts(down)
    with pytest.raises(EmbeddingError, match=r"127\.0\.0\.1:9.* cannot be reached"):
        asked(house, down)
    house.close()
    (failed,) = [f for f in examine(down) if f.subject == "embedding" and not f.ok]
    assert "cannot be reached" in failed.text


def test_another_embedding_is_announced_before_the_build_and_leaves_the_grades_as_they_were(
    folder: Path, server: VectorServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    embedded = settings_for(folder, "embedded", server.url)
    house = open_house(embedded)
    list(house.knowledge_base.build())
    usual, version = asked(house, embedded), house.own.version
    house.close()
    settings = settings_for(folder, "ollama", server.url)
    monkeypatch.setenv("CRAG_EMBEDDING_PROVIDER", "ollama")
    monkeypatch.setenv("CRAG_OLLAMA_URL", server.url)
    for name in ("files_dir", "chroma_dir", "data_dir"):
        monkeypatch.setenv(f"CRAG_{name.upper()}", str(getattr(settings, name)))
    assert main(["build"]) == 0
    told = capsys.readouterr().err
    assert "built with multilingual-e5-small (embedded): its 2 passages are read again and embedded with nomic" in told
    assert f"sent to Ollama at {server.url}." in told
    assert told.index("sent to Ollama") < told.index("handbook.pdf")
    house = open_house(settings)
    assert house.own.version == version, "its calibration holds"
    assert scores(asked(house, settings)) == pytest.approx(scores(usual), abs=0.01)
    house.close()
