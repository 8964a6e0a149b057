"""A model through pydantic-ai: an object or a stream of text per call, noted in the ledger; failures as sentences."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from crag.agent_model import calls, failures, gguf
from crag.agent_model.answers import read
from crag.agent_model.base import Ledger, ModelSpec, Role
from crag.agent_model.calls import Field, Noting, Tries
from crag.agent_model.profiles import Built, address, build
from crag.agent_model.tokens import count
from crag.agent_model.window import Windows
from crag.agent_model.wire import Stream, ask_for
from crag.errors import CragError, InvalidOutputError, ModelError
from crag.pieces import Cut, Piece, Text

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

T = TypeVar("T", bound=BaseModel)

EXTRAS = ("extra_body", "openai_reasoning_effort", "thinking")
"""Settings that a server may refuse; a call works without them too, though the model may think."""


class PydanticAiModel:
    """A `ChatModel`. One per spec and process: it keeps its connections, for each loop that it is used on."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.name = spec.name
        self.windows = Windows(spec, self._listed_window)
        self._built: dict[asyncio.AbstractEventLoop, asyncio.Future[Built]] = {}
        self._refused: frozenset[Field] = frozenset()
        """What this server was seen to refuse: a call succeeded without it."""

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
            noting = Noting(self.spec, role, ledger, repeat)
            response = await self._answered(noting, instructions, asked, output, max_tokens)
            found, wrong = read(response.text or "", output, check)
            if found is not None:
                noting.end()
                return found
            wrong = _how_it_ended(response, max_tokens) or wrong[:300]
            noting.end(f"The model answered in a form that cannot be used: {wrong}.")
            asked = f"{prompt}\n\nYour last answer could not be used: {wrong}.\nAnswer again, with one JSON object."
        raise InvalidOutputError(
            f"The model {self.name} answered twice in a form that cannot be used ({wrong}): "
            "ask again, or choose another model."
        )

    async def stream(
        self, role: Role, instructions: str, prompt: str, *, ledger: Ledger, max_tokens: int
    ) -> AsyncGenerator[Piece]:
        """See `ChatModel.stream`."""
        built = await self._ready()
        tries = self._tries(built, thinking=self.spec.thinking)
        while True:
            async with calls.slot(self.spec):
                noting = Noting(self.spec, role, ledger)
                settings = self._settings(built, tries, max_tokens, thinking=self.spec.thinking)
                stream = Stream(built.model, instructions, prompt, settings, self.spec.timeout)
                wrote = False
                try:
                    async with aclosing(stream.pieces()) as pieces:
                        async for piece in pieces:
                            noting.piece()
                            wrote = wrote or isinstance(piece, Text)
                            yield piece
                except (GeneratorExit, asyncio.CancelledError):
                    noting.end(failures.STOPPED)
                    raise
                except Exception as error:
                    failed = error
                else:
                    self._refused |= tries.without
                    async for cut in self._ended(noting, stream, wrote):
                        yield cut
                    return
            why = failures.explained(failed, self.spec)
            noting.end(str(why))
            if noting.first is not None:
                yield Cut(failures.cut(failed, self.spec))
                return
            if not await tries.again(failed):
                raise why from None

    async def _ended(self, noting: Noting, stream: Stream, wrote: bool) -> AsyncGenerator[Cut]:
        """What follows a stream that was read to its end. Raises InvalidOutputError where nothing came."""
        finish = ""
        if stream.response is not None:
            noting.usage, finish = stream.response.usage, stream.response.finish_reason or ""
        if noting.first is None:
            why = f"The model {self.name} wrote nothing: ask again, or choose another model."
            noting.end(why)
            raise InvalidOutputError(why)
        ends = {"length": failures.LENGTH, "content_filter": failures.FILTERED}
        cut = ends.get(finish) or (None if wrote else failures.ONLY_THOUGHT)
        noting.end(cut)
        if cut:
            yield Cut(cut)

    async def window(self) -> int:
        """See `ChatModel.window`."""
        return (await self.windows.known()).tokens

    async def _listed_window(self) -> int | None:
        """As pydantic-ai knows it of the model."""
        try:
            return (await self._ready()).model.context_window
        except ModelError:  # the call itself will tell
            return None

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
        self, noting: Noting, instructions: str, prompt: str, output: type[BaseModel], max_tokens: int
    ) -> ModelResponse:
        """The answer, after tries that failed and were noted; `noting` is then that of the one that succeeded."""
        built = await self._ready()
        tries = self._tries(built, thinking=False)
        while True:
            mode = "prompted" if "schema" in tries.without else built.mode
            settings = self._settings(built, tries, max_tokens, thinking=False)
            async with calls.slot(self.spec):
                noting.begin()
                try:
                    async with asyncio.timeout(self.spec.timeout):
                        response = await ask_for(output, mode, built.model, instructions, prompt, settings)
                except asyncio.CancelledError:
                    noting.end(failures.STOPPED)
                    raise
                except Exception as error:
                    failed = error
                else:
                    self._refused |= tries.without
                    noting.usage = response.usage
                    return response
            why = failures.explained(failed, self.spec)
            noting.end(str(why))
            if not await tries.again(failed):
                raise why from None

    def _tries(self, built: Built, *, thinking: bool) -> Tries:
        own = built.pondering if thinking else built.quiet
        optional: set[Field] = {"extras"} if any(name in own for name in EXTRAS) else set()
        if built.mode == "native":
            optional.add("schema")
        return Tries(self.spec, frozenset(optional), self._refused)

    def _settings(self, built: Built, tries: Tries, max_tokens: int, *, thinking: bool) -> dict[str, Any]:
        own = built.pondering if thinking else built.quiet
        if "extras" in tries.without:
            own = {name: value for name, value in own.items() if name not in EXTRAS}
        return {"temperature": 0, "max_tokens": max_tokens, "timeout": self.spec.timeout, **own}

    async def _ready(self) -> Built:
        """The model for the running loop; made off the loop, since that imports much and may load a GGUF file."""
        loop = asyncio.get_running_loop()
        calls.forget_closed(self._built)
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


def _how_it_ended(response: ModelResponse, max_tokens: int) -> str:
    """Why there is no object, where that is plain without looking into the text; else empty."""
    if response.finish_reason == "length":
        return f"it was cut at {max_tokens} tokens: write less"
    if response.finish_reason == "content_filter":
        return "the content filter of the server ended it"
    return "" if (response.text or "").strip() else "it was empty"
