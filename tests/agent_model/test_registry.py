"""Models are shared, limited, and work on whichever loop they are asked on."""

from __future__ import annotations

import asyncio
import threading

import pytest
from asking import GOOD, Verdict, spec
from model_server import ModelServer, Reply

from crag.agent_model.base import Ledger, ModelSpec
from crag.agent_model.chat import PydanticAiModel
from crag.agent_model.registry import Models
from crag.errors import ModelError
from crag.runtime import Runtime


async def ask(model: PydanticAiModel) -> int:
    found = await model.structured("grade", "Grade.", "What?", Verdict, ledger=Ledger(), max_tokens=50)
    return found.score


def test_equal_specs_share_one_model(server: ModelServer) -> None:
    models = Models()
    assert models.get(spec(server)) is models.get(spec(server))
    assert models.get(spec(server)) is not models.get(spec(server, model="n"))


def test_one_model_works_on_one_loop_after_the_other_and_on_two_at_once(server: ModelServer) -> None:
    server.script = [Reply(GOOD)]
    models, runtime = Models(), Runtime()
    model = models.get(spec(server))
    assert [asyncio.run(ask(model)) for _ in range(3)] == [8, 8, 8]
    on_the_loop = [asyncio.run_coroutine_threadsafe(ask(model), runtime.loop) for _ in range(8)]
    assert asyncio.run(ask(model)) == 8
    assert [future.result(10) for future in on_the_loop] == [8] * 8
    assert [loop for loop in model.loops() if not loop.is_closed()] == [runtime.loop], "ended loops are forgotten"
    models.close()
    assert model.loops() == [] or all(loop.is_closed() for loop in model.loops())
    runtime.close()


def test_a_closed_registry_makes_its_models_anew(server: ModelServer) -> None:
    server.script = [Reply(GOOD)]
    models = Models()
    first = models.get(spec(server))
    models.close()
    assert models.get(spec(server)) is not first
    assert asyncio.run(ask(first)) == 8, "a turn that still holds it goes on"


async def test_no_more_calls_of_a_provider_run_at_once_than_set(server: ModelServer) -> None:
    server.script = [Reply(GOOD, delay=0.05)]
    models = Models()
    two = [models.get(spec(server, concurrency=3, model=name)) for name in ("m", "n")]
    assert await asyncio.gather(*[ask(model) for model in two * 5]) == [8] * 10
    assert server.at_once == 3, "over all its models"
    models.close()
    await asyncio.sleep(0)


async def test_waiting_for_a_free_place_is_no_silence_of_the_server(server: ModelServer) -> None:
    server.script = [Reply(GOOD, delay=0.2)]
    model = PydanticAiModel(spec(server, concurrency=1, timeout=0.9))
    assert await asyncio.gather(*[ask(model) for _ in range(6)]) == [8] * 6
    await model.aclose()


async def test_many_questions_at_once_get_their_own_answers(server: ModelServer) -> None:
    def echo(body: dict[str, object]) -> Reply:
        score = int(str(body["messages"][-1]["content"]).split()[-1])  # type: ignore[index]
        return Reply(f'{{"score": {score}, "reason": "r"}}', delay=0.05)

    server.script = echo
    model = PydanticAiModel(spec(server))

    async def one(score: int) -> int:
        found = await model.structured("grade", "Grade.", f"It is {score}", Verdict, ledger=Ledger(), max_tokens=50)
        return found.score

    assert await asyncio.gather(*[one(i % 10) for i in range(16)]) == [i % 10 for i in range(16)]
    await model.aclose()


def test_a_model_that_cannot_be_made_is_an_error_with_its_mend() -> None:
    for broken in (ModelSpec("pydantic-ai", "nobody:model"), ModelSpec("pydantic-ai", "plainname")):
        with pytest.raises(ModelError, match="provider:model"):
            asyncio.run(ask(PydanticAiModel(broken)))


def test_a_missing_key_of_a_named_provider_says_where_it_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ModelError, match="environment variable"):
        asyncio.run(ask(PydanticAiModel(ModelSpec("pydantic-ai", "openai-chat:gpt-4o-mini"))))


def test_a_provider_whose_package_is_missing_names_the_command() -> None:
    with pytest.raises(ModelError, match="pip install"):
        asyncio.run(ask(PydanticAiModel(ModelSpec("pydantic-ai", "groq:llama"))))


def test_closing_from_another_thread_than_the_loops(server: ModelServer) -> None:
    server.script = [Reply(GOOD)]
    models, runtime = Models(), Runtime()
    asyncio.run_coroutine_threadsafe(ask(models.get(spec(server))), runtime.loop).result(10)
    closing = threading.Thread(target=models.close)
    closing.start()
    closing.join(10)
    assert not closing.is_alive()
    runtime.close()
