"""What is handed to pydantic-ai for one request, and what its stream of events says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from crag.agent_model.answers import ThoughtSplitter
from crag.agent_model.profiles import Mode
from crag.pieces import Text, Thought

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, StreamedResponse


def _messages(instructions: str, prompt: str) -> list[ModelMessage]:
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    return [ModelRequest(parts=[UserPromptPart(prompt)], instructions=instructions)]


async def ask_for(
    output: type[BaseModel], mode: Mode, model: Model, instructions: str, prompt: str, settings: Any
) -> ModelResponse:
    """One request for an object, and its answer as it is: nothing is checked or repeated."""
    from pydantic_ai.direct import model_request
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    schema = OutputObjectDefinition(json_schema=output.model_json_schema(), name=output.__name__)
    parameters = ModelRequestParameters(output_mode=mode, output_object=schema)
    return await model_request(
        model, _messages(instructions, prompt), model_settings=settings, model_request_parameters=parameters
    )


class Stream:
    """One streamed request; `response` has its usage and its finish reason once all pieces were read."""

    def __init__(self, model: Model, instructions: str, prompt: str, settings: Any, timeout: float) -> None:
        self._model, self._settings, self._timeout = model, settings, timeout
        self._instructions, self._prompt = instructions, prompt
        self.response: StreamedResponse | None = None

    async def pieces(self) -> AsyncGenerator[Text | Thought]:
        """Raises what pydantic-ai raises, and TimeoutError where nothing comes for as long as `timeout`."""
        from pydantic_ai.messages import InstructionPart
        from pydantic_ai.models import ModelRequestParameters

        clock, splitter = asyncio.get_running_loop(), ThoughtSplitter()
        parameters = ModelRequestParameters(instruction_parts=[InstructionPart(content=self._instructions)])
        messages = _messages(self._instructions, self._prompt)
        latest = clock.time() + self._timeout
        async with AsyncExitStack() as opened:
            async with asyncio.timeout_at(latest):
                self.response = await opened.enter_async_context(
                    self._model.request_stream(messages, self._settings, parameters)
                )
            events = aiter(self.response)
            while True:
                try:
                    async with asyncio.timeout_at(latest):
                        event = await anext(events)
                except StopAsyncIteration:
                    break
                pieces = _pieces_of(event, splitter)
                if pieces is None:
                    continue  # a server that only shows that it lives is silent all the same
                latest = clock.time() + self._timeout
                for piece in pieces:
                    yield piece
            for piece in splitter.end():
                yield piece


def _pieces_of(event: object, splitter: ThoughtSplitter) -> list[Text | Thought] | None:
    """What an event says; None: nothing. The first text of a part comes with the event that starts it."""
    from pydantic_ai.messages import (
        PartDeltaEvent,
        PartStartEvent,
        TextPart,
        TextPartDelta,
        ThinkingPart,
        ThinkingPartDelta,
    )

    match event:
        case PartStartEvent(part=ThinkingPart(content=said)) if said:
            return [Thought(said)]
        case PartDeltaEvent(delta=ThinkingPartDelta(content_delta=str(said))) if said:
            return [Thought(said)]
        case PartStartEvent(part=TextPart(content=said)) if said:
            return list(splitter.feed(said))
        case PartDeltaEvent(delta=TextPartDelta(content_delta=said)) if said:
            return list(splitter.feed(said))
    return None
