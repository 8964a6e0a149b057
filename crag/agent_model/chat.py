"""A model through pydantic-ai: an object or a stream of text per call, noted in the ledger; failures as sentences."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from crag.agent_model import failures, gguf
from crag.agent_model.answers import ThoughtSplitter, read
from crag.agent_model.base import Ledger, ModelSpec, Role
from crag.agent_model.profiles import Built, Mode, address, build
from crag.agent_model.tokens import count
from crag.agent_model.window import Windows
from crag.errors import CragError, InvalidOutputError, ModelError
from crag.pieces import Cut, Piece, Text, Thought
from crag.schema import ModelCall

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelRequest, ModelResponse
    from pydantic_ai.models import ModelRequestParameters

T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")

_slots: dict[asyncio.AbstractEventLoop, dict[tuple[str, str, int], asyncio.Semaphore]] = {}
"""Per loop, since a semaphore belongs to one: how many calls of a provider run at the same time."""


@dataclass
class _Streamed:
    """What is known of one streamed call."""

    start: float = field(default_factory=time.perf_counter)
    first: float | None = None
    wrote: bool = False
    usage: Any = None
    finish: str | None = None


class PydanticAiModel:
    """A `ChatModel`. One per spec and process: it keeps its connections, for each loop that it is used on."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.name = f"{spec.provider}:{spec.model}"
        self.windows = Windows(spec)
        self._built: dict[asyncio.AbstractEventLoop, asyncio.Future[Built]] = {}
        self._refused: set[str] = set()
        """What this server does not take: "schema", "extras"."""

    async def structured(
        self,
        role: Role,
        instructions: str,
        prompt: str,
        output: type[T],
        *,
        ledger: Ledger,
        max_tokens: int,
        check: Callable[[T], str | None] | None = None,
    ) -> T:
        """See `ChatModel.structured`."""
        asked, wrong = prompt, ""
        for repeat in (False, True):
            start, response = await self._answered(role, instructions, asked, output, ledger, max_tokens, repeat)
            text = response.text or ""
            found, wrong = read(text, output, check)
            if found is None and response.finish_reason == "length":
                wrong = f"it was cut at {max_tokens} tokens: write less"
            elif not text.strip():
                wrong = "it was empty"
            said = None if found is not None else f"The model answered in a form that cannot be used: {wrong[:300]}."
            self._note(ledger, role, start, response.usage, repeat=repeat, error=said)
            if found is not None:
                return found
            asked = f"{prompt}\n\nYour last answer could not be used: {wrong}.\nAnswer again, with one JSON object."
        raise InvalidOutputError(
            f"The model {self.name} answered twice in a form that cannot be used ({wrong[:300]}): "
            "ask again, or choose another model."
        )

    async def stream(
        self, role: Role, instructions: str, prompt: str, *, ledger: Ledger, max_tokens: int
    ) -> AsyncGenerator[Piece]:
        """See `ChatModel.stream`."""
        for again in range(self.spec.retries + 2):  # one more, where the server refuses an extra field
            seen = _Streamed()
            try:
                async with aclosing(self._pieces(instructions, prompt, max_tokens, seen)) as pieces:
                    async for piece in pieces:
                        seen.first = seen.first or time.perf_counter() - seen.start
                        seen.wrote = seen.wrote or isinstance(piece, Text)
                        yield piece
            except (GeneratorExit, asyncio.CancelledError):
                self._note(ledger, role, seen.start, seen.usage, seen.first, error=failures.STOPPED)
                raise
            except CragError:
                raise
            except Exception as error:
                why = failures.explained(error, self.spec)
                self._note(ledger, role, seen.start, seen.usage, seen.first, error=str(why))
                if seen.first is not None:
                    yield Cut(failures.cut(error, self.spec))
                    return
                if not await self._may_try_again(error, again):
                    raise why from None
                continue
            async for end in self._ended(role, seen, ledger):
                yield end
            return

    async def _ended(self, role: Role, seen: _Streamed, ledger: Ledger) -> AsyncGenerator[Cut]:
        """What follows a stream that came to its end."""
        if seen.first is None:
            why = f"The model {self.name} wrote nothing: ask again, or choose another model."
            self._note(ledger, role, seen.start, seen.usage, error=why)
            raise InvalidOutputError(why)
        ends = {"length": failures.LENGTH, "content_filter": failures.FILTERED}
        cut = ends.get(seen.finish or "") or (None if seen.wrote else failures.ONLY_THOUGHT)
        self._note(ledger, role, seen.start, seen.usage, seen.first, error=cut)
        if cut:
            yield Cut(cut)

    async def window(self) -> int:
        """See `ChatModel.window`."""
        return (await self.windows.known()).tokens

    def count(self, text: str) -> int:
        """See `ChatModel.count`."""
        return count(text)

    async def aclose(self) -> None:
        """Closes the connections of the running loop. The model can be used again afterwards."""
        built = self._built.pop(asyncio.get_running_loop(), None)
        if built is not None and built.done() and not built.cancelled() and built.exception() is None:
            if (http := built.result().http) is not None:
                await http.aclose()
            else:
                async with built.result().model:
                    pass  # leaving the block closes what its provider holds

    def loops(self) -> list[asyncio.AbstractEventLoop]:
        """Those with open connections."""
        return list(self._built)

    async def _answered(
        self,
        role: Role,
        instructions: str,
        prompt: str,
        output: type[BaseModel],
        ledger: Ledger,
        max_tokens: int,
        repeat: bool,
    ) -> tuple[float, ModelResponse]:
        """When it was asked and what it answered, after tries of which those that failed are noted."""
        from pydantic_ai.direct import model_request

        for again in range(self.spec.retries + 2):
            built = await self._ready()
            async with self._slot():
                start = time.perf_counter()
                try:
                    async with asyncio.timeout(self.spec.timeout):
                        return start, await model_request(
                            built.model,
                            [_message(instructions, prompt)],
                            model_settings=self._settings(built, max_tokens, thinking=False),
                            model_request_parameters=_asks_for(output, self._mode(built)),
                        )
                except asyncio.CancelledError:
                    self._note(ledger, role, start, None, repeat=repeat, error=failures.STOPPED)
                    raise
                except Exception as error:
                    failed, why = error, failures.explained(error, self.spec)
                    self._note(ledger, role, start, None, repeat=repeat, error=str(why))
            if not await self._may_try_again(failed, again):
                raise why from None
        raise AssertionError("unreachable: the last try raises")

    async def _pieces(
        self, instructions: str, prompt: str, max_tokens: int, seen: _Streamed
    ) -> AsyncGenerator[Text | Thought]:
        """The pieces of one streamed call; raises what pydantic-ai raises, TimeoutError for silence."""
        from pydantic_ai.messages import (
            PartDeltaEvent,
            PartStartEvent,
            TextPart,
            TextPartDelta,
            ThinkingPart,
            ThinkingPartDelta,
        )
        from pydantic_ai.models import ModelRequestParameters

        built, splitter, clock = await self._ready(), ThoughtSplitter(), asyncio.get_running_loop()
        async with self._slot(), AsyncExitStack() as opened:
            seen.start, latest = time.perf_counter(), clock.time() + self.spec.timeout
            async with asyncio.timeout_at(latest):
                response = await opened.enter_async_context(
                    built.model.request_stream(
                        [_message(instructions, prompt)],
                        self._settings(built, max_tokens, thinking=self.spec.thinking),
                        ModelRequestParameters(instruction_parts=_parts(instructions)),
                    )
                )
            events = aiter(response)
            while True:
                try:
                    async with asyncio.timeout_at(latest):
                        event = await anext(events)
                except StopAsyncIteration:
                    break
                pieces: list[Text | Thought]
                match event:
                    case PartStartEvent(part=ThinkingPart(content=text)) if text:
                        pieces = [Thought(text)]
                    case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(text))) if text:
                        pieces = [Thought(text)]
                    case PartStartEvent(part=TextPart(content=text)) if text:
                        pieces = list(splitter.feed(text))
                    case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
                        pieces = list(splitter.feed(text))
                    case _:
                        continue  # says nothing, so the clock goes on
                latest = clock.time() + self.spec.timeout
                for piece in pieces:
                    yield piece
            for piece in splitter.end():
                yield piece
            seen.usage, seen.finish = response.usage, response.finish_reason

    async def _may_try_again(self, error: BaseException, again: int) -> bool:
        """Waits as long as the failure asks for. A field that the server refuses is left out from now on."""
        if (said := failures.refuses(error)) is not None:
            names = {"schema": ("response_format", "json_schema", "grammar"), "extras": ("chat_template", "extra")}
            told = {what for what, words in names.items() if any(word in said for word in words)}
            fresh = (told or set(names)) - self._refused
            self._refused |= fresh
            return bool(fresh)
        wait = failures.pause(error, again) if again < self.spec.retries else None
        if wait is not None:
            await asyncio.sleep(wait)
        return wait is not None

    async def _ready(self) -> Built:
        """The model for the running loop; made off the loop, since that imports much and may load a GGUF."""
        loop = asyncio.get_running_loop()
        _forget_closed(self._built)
        if loop not in self._built:
            self._built[loop] = asyncio.ensure_future(asyncio.to_thread(self._make))
        try:
            return await asyncio.shield(self._built[loop])
        except Exception as error:
            self._built.pop(loop, None)  # the next call tries anew
            if isinstance(error, ModelError):
                raise
            told = isinstance(error, CragError)
            raise (ModelError(str(error)) if told else failures.explained(error, self.spec)) from None

    def _make(self) -> Built:
        if self.spec.provider == "llamacpp":
            served = gguf.serve(self.spec.model, self.spec.context)
            return build(self.spec, served.url, served.key)
        return build(self.spec, address(self.spec), self.spec.key.get_secret_value())

    def _mode(self, built: Built) -> Mode:
        return "prompted" if "schema" in self._refused else built.mode

    def _settings(self, built: Built, max_tokens: int, *, thinking: bool) -> Any:
        own = built.pondering if thinking else built.quiet
        if "extras" in self._refused:
            own = {name: value for name, value in own.items() if name != "extra_body"}
        return {"temperature": 0, "max_tokens": max_tokens, "timeout": self.spec.timeout, **own}

    def _slot(self) -> asyncio.Semaphore:
        limit = gguf.SLOTS if self.spec.provider == "llamacpp" else self.spec.concurrency
        whose = (self.spec.provider, address(self.spec) or self.spec.model, limit)
        _forget_closed(_slots)
        return _slots.setdefault(asyncio.get_running_loop(), {}).setdefault(whose, asyncio.Semaphore(limit))

    def _note(
        self,
        ledger: Ledger,
        role: Role,
        start: float,
        usage: Any,
        first: float | None = None,
        *,
        repeat: bool = False,
        error: str | None = None,
    ) -> None:
        read_, written = (usage.input_tokens or None, usage.output_tokens) if usage is not None else (None, None)
        if read_ is None:
            written = written or None  # a server that says nothing is counted as 0 by pydantic-ai
        spec, cost = self.spec, None
        if read_ is not None and written is not None and (spec.price_in or spec.price_out):
            cost = (read_ * spec.price_in + written * spec.price_out) / 1e6
        ledger.calls.append(
            ModelCall(
                role=role,
                model=self.name,
                seconds=time.perf_counter() - start,
                first_token=first,
                tokens_in=read_,
                tokens_out=written,
                cost=cost,
                repeat=repeat,
                error=error,
            )
        )


def _forget_closed(of_loops: dict[asyncio.AbstractEventLoop, Any]) -> None:
    """What belonged to a loop that has ended, as each `asyncio.run` does, is of no use to another."""
    for loop in [loop for loop in of_loops if loop.is_closed()]:
        of_loops.pop(loop, None)


def _message(instructions: str, prompt: str) -> ModelRequest:
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    return ModelRequest(parts=[UserPromptPart(prompt)], instructions=instructions)


def _parts(instructions: str) -> Any:
    from pydantic_ai.messages import InstructionPart

    return [InstructionPart(content=instructions)]


def _asks_for(output: type[BaseModel], mode: Mode) -> ModelRequestParameters:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    schema = OutputObjectDefinition(json_schema=output.model_json_schema(), name=output.__name__)
    return ModelRequestParameters(output_mode=mode, output_object=schema, allow_text_output=True)
