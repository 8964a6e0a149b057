"""For the tests of the LLM judge: documents, and a model that reads what it is shown and writes down every call."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from crag.agent_model.base import Ledger, Role
from crag.errors import InvalidOutputError
from crag.pieces import Piece
from crag.schema import Document, ModelCall, Span, Strip

T = TypeVar("T", bound=BaseModel)

SPAN = Span(page=1, start=0, end=9)
_DOCUMENT = re.compile(r'^<document id="(d\d+)">\n(.*?)^</document>$', re.DOTALL | re.MULTILINE)
_STRIP = re.compile(r"^\[(d\d+s\d+)\] (.*)$", re.MULTILINE)


def a_document(id_: str, *strips: str, heading: str = "", published: str | None = None) -> Document:
    """A document of these strips."""
    return Document(
        id=id_,
        content="c",
        files=("a.pdf",),
        text=" ".join(strips),
        heading=heading,
        spans=(SPAN,),
        strips=tuple(Strip(id=f"{id_}-{n}", text=strip, spans=(SPAN,)) for n, strip in enumerate(strips)),
        published=published,
    )


def documents_in(prompt: str) -> dict[str, str]:
    """What stands between the tags of each document, by the id in the prompt."""
    return dict(_DOCUMENT.findall(prompt))


def strips_in(text: str) -> dict[str, str]:
    """The first line of each strip of one document, by its id in the prompt."""
    return dict(_STRIP.findall(text))


def read(prompt: str) -> dict[str, Any]:
    """A proper answer: texts that hold the word "answer" score 9 and have their strips listed, others 0."""
    grades = [
        {
            "id": id_,
            "score": 9 if "answer" in text else 0,
            "reason": f"it begins with {next(iter(strips_in(text).values()), text)}",
            "strips": [{"id": strip, "score": 8} for strip, line in strips_in(text).items() if "answer" in line],
        }
        for id_, text in documents_in(prompt).items()
    ]
    return {"grades": grades, "query": "moon landing year"}


@dataclass
class ReadingModel:
    """A `ChatModel` that answers by `says`, whose answers are held to form and check as those of a real one are."""

    says: Callable[[str], dict[str, Any]] = read
    """The answer to a prompt; it may raise a `ModelError`."""
    name: str = "test:reader"
    tokens: int = 32_000
    prompts: list[str] = field(default_factory=list)
    instructions: list[str] = field(default_factory=list)
    outputs: list[type[BaseModel]] = field(default_factory=list)
    max_tokens: list[int] = field(default_factory=list)
    repeated_with: list[str] = field(default_factory=list)
    """What was said to be wrong with each answer that was asked for again."""
    waits: asyncio.Event | None = None
    """Where there is one, nothing is answered before it is set."""
    running: int = 0
    most_running: int = 0

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
        assert role == "grade"
        self.prompts.append(prompt)
        self.instructions.append(instructions)
        self.outputs.append(output)
        self.max_tokens.append(max_tokens)
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        try:
            await (self.waits.wait() if self.waits else asyncio.sleep(0))
            for attempt in range(2):
                ledger.calls.append(ModelCall(role=role, model=self.name, seconds=0.0, repeat=attempt > 0))
                try:
                    value = output.model_validate(self.says(prompt))
                except ValidationError as error:
                    wrong: str | None = str(error)
                else:
                    wrong = check(value) if check else None
                if wrong is None:
                    return value
                self.repeated_with.append(wrong)
        finally:
            self.running -= 1
        raise InvalidOutputError(f"The model {self.name} answered in a form that cannot be used.")

    def stream(
        self, role: Role, instructions: str, prompt: str, *, ledger: Ledger, max_tokens: int
    ) -> AsyncGenerator[Piece]:
        raise AssertionError("a judge streams nothing")

    async def until_running(self, calls: int) -> None:
        """Waits until so many calls run side by side; they do where `waits` holds them up."""
        async with asyncio.timeout(10):
            while self.running < calls:  # noqa: ASYNC110
                await asyncio.sleep(0)

    async def window(self) -> int:
        return self.tokens

    def count(self, text: str) -> int:
        return len(text.encode()) // 3 + 1
