"""What the doctor and the Models panel learn of a model: server, key, name, and a real round trip."""

from __future__ import annotations

import pytest
from asking import model
from model_server import KEY, ModelServer, Reply, serving

from crag.agent_model.probe import probe


@pytest.mark.parametrize("grading", [False, True])
async def test_a_model_that_works(server: ModelServer, grading: bool) -> None:
    server.models = [{"id": "m", "max_model_len": 32768}, {"id": "n"}]
    server.script = [Reply('{"score": 9}' if grading else "Yes.", usage=(30, 2))]
    found = await probe(model(server, price_in=1.0, price_out=1.0), grading=grading)
    assert (found.ok, found.server, found.key, found.present) == (True, True, True, True)
    assert (found.models, found.window, found.notice) == (("m", "n"), 32768, "")
    (call,) = found.calls
    assert (call.role, call.tokens_in, call.tokens_out, call.cost) == ("check", 30, 2, pytest.approx(32e-6))
    assert found.text.startswith(f"The server at {server.url} answers with m in ")
    assert ("response_format" in server.chats[0]) == grading


async def test_ollama_without_the_model_names_the_command_and_what_is_there(server: ModelServer) -> None:
    server.models = [{"id": "llama3:latest"}]
    found = await probe(model(server, "ollama", model="qwen3:4b"))
    assert (found.ok, found.server, found.present) == (False, True, False)
    assert "run `ollama pull qwen3:4b`" in found.text
    assert found.models == ("llama3:latest",)
    assert server.chats == [], "the round trip would only fail"


async def test_ollamas_latest_needs_no_tag(server: ModelServer) -> None:
    server.models, server.script = [{"id": "llama3:latest"}], [Reply("Yes.")]
    server.show = {"model_info": {"llama.context_length": 8192}, "parameters": ""}
    found = await probe(model(server, "ollama", model="llama3"))
    assert found.ok
    assert "Ollama reads 4096 of the 8192 tokens" in found.notice


async def test_a_name_that_the_server_does_not_know_is_answered_with_those_it_has(server: ModelServer) -> None:
    server.models, server.script = [{"id": "good"}], [Reply(status=404)]
    found = await probe(model(server))
    assert (found.ok, found.server, found.key, found.present) == (False, True, True, False)
    assert "has no model m" in found.text
    assert "It has good." in found.text


async def test_a_key_that_is_refused(server: ModelServer) -> None:
    server.key = "another"
    found = await probe(model(server))
    assert (found.ok, found.server, found.key, found.present) == (False, True, False, None)
    assert "set OPENAI_API_KEY to a valid one" in found.text
    assert KEY not in repr(found)


async def test_a_server_that_is_down() -> None:
    with serving() as gone:
        asked = model(gone, "ollama")
    found = await probe(asked)
    assert (found.ok, found.server, found.key, found.present) == (False, False, None, None)
    assert "`ollama serve`" in found.text
    assert len(found.calls) == 1


async def test_a_model_that_cannot_grade(server: ModelServer) -> None:
    server.script = [Reply("I would rather not.")]
    found = await probe(model(server), grading=True)
    assert (found.ok, found.server, found.key, found.present) == (False, True, True, True)
    assert "in a form that cannot be used" in found.text
    assert len(found.calls) == 2


async def test_without_the_package_or_the_file_nothing_is_known_of_a_server() -> None:
    from crag.agent_model.base import ModelSpec
    from crag.agent_model.chat import PydanticAiModel

    found = await probe(PydanticAiModel(ModelSpec("llamacpp", "/nowhere/model.gguf")))
    assert (found.ok, found.server) == (False, None)
    assert "CRAG_LLM_MODEL" in found.text or "requirements-llamacpp.txt" in found.text
