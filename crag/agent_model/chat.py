"""A model through pydantic-ai: an object or a stream of text per call, noted in the ledger; failures as sentences."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable
from typing import Any, TypeVar

from pydantic import BaseModel

from crag.agent_model.base import Ledger, ModelSpec, Role
from crag.agent_model.profiles import build
from crag.errors import InvalidOutputError, ModelError
from crag.pieces import Cut, Piece, Text, Thought
from crag.schema import ModelCall

T = TypeVar("T", bound=BaseModel)
WINDOW = 8192


class PydanticAiModel:
    """A `ChatModel`. One per spec and process: it keeps its connections."""

    def __init__(self, spec: ModelSpec) -> None:
        self.spec = spec
        self.name = f"{spec.provider}:{spec.model}"
        self._built = build(spec)

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
        from pydantic_ai import Agent, ModelRetry, NativeOutput
        from pydantic_ai.exceptions import AgentRunError, UnexpectedModelBehavior

        agent: Agent[None, T] = Agent(
            self._built.model, output_type=NativeOutput(output), instructions=instructions, retries=1
        )

        @agent.output_validator
        def checked(value: T) -> T:
            if check is not None and (wrong := check(value)):
                raise ModelRetry(wrong)
            return value

        start = time.perf_counter()
        try:
            result = await agent.run(prompt, model_settings=self._settings(max_tokens))
        except UnexpectedModelBehavior as error:
            raise InvalidOutputError(f"The model {self.name} answered in a form that cannot be used.") from error
        except AgentRunError as error:
            raise ModelError(f"The model {self.name} could not be asked ({type(error).__name__}).") from error
        self._note(ledger, role, start, result.usage)
        return result.output

    async def stream(
        self, role: Role, instructions: str, prompt: str, *, ledger: Ledger, max_tokens: int
    ) -> AsyncGenerator[Piece]:
        """See `ChatModel.stream`."""
        from pydantic_ai import Agent, AgentRunResultEvent
        from pydantic_ai.exceptions import AgentRunError
        from pydantic_ai.messages import (
            PartDeltaEvent,
            PartStartEvent,
            TextPart,
            TextPartDelta,
            ThinkingPart,
            ThinkingPartDelta,
        )

        agent = Agent(self._built.model, instructions=instructions, retries=0)
        start, first, usage, reason = time.perf_counter(), None, None, None
        try:
            async with agent.run_stream_events(prompt, model_settings=self._settings(max_tokens)) as events:
                async for event in events:
                    piece: Piece | None = None
                    match event:
                        case PartStartEvent(part=ThinkingPart(content=str(content))) if content:
                            piece = Thought(content)
                        case PartStartEvent(part=TextPart(content=content)) if content:
                            piece = Text(content)
                        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(content))) if content:
                            piece = Thought(content)
                        case PartDeltaEvent(delta=TextPartDelta(content_delta=content)) if content:
                            piece = Text(content)
                        case AgentRunResultEvent(result=result):
                            usage, reason = result.usage, result.response.finish_reason
                    if piece is not None:
                        first = first or time.perf_counter() - start
                        yield piece
        except AgentRunError as error:
            if first is None:
                raise ModelError(f"The model {self.name} could not be asked ({type(error).__name__}).") from error
            yield Cut("The connection to the model was lost.")
        else:
            if reason == "length":
                yield Cut("The answer reached the most tokens that it may have.")
        self._note(ledger, role, start, usage, first)

    async def window(self) -> int:
        """See `ChatModel.window`."""
        return self.spec.context or WINDOW

    def count(self, text: str) -> int:
        """See `ChatModel.count`."""
        return len(text.encode()) // 3 + 1

    def _settings(self, max_tokens: int) -> Any:
        from pydantic_ai import ModelSettings

        return ModelSettings(temperature=0, max_tokens=max_tokens, timeout=self.spec.timeout)

    def _note(self, ledger: Ledger, role: Role, start: float, usage: Any, first: float | None = None) -> None:
        ledger.calls.append(
            ModelCall(
                role=role,
                model=self.name,
                seconds=time.perf_counter() - start,
                first_token=first,
                tokens_in=getattr(usage, "input_tokens", None),
                tokens_out=getattr(usage, "output_tokens", None),
            )
        )
