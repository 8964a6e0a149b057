"""What a model wrote, read: the object in a text with prose, fences or thoughts around it, and thoughts in a stream."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from crag.pieces import Text, Thought

T = TypeVar("T", bound=BaseModel)

OPEN: Final = "<think>"
CLOSE: Final = "</think>"
_LONE_OPEN = re.compile(r"\A\s*<think>.*", re.DOTALL)


def read(text: str, output: type[T], check: Callable[[T], str | None] | None) -> tuple[T | None, str]:
    """The last object of `output` in `text` that passes `check`; else None and what is wrong, for the model to read."""
    wrong = "it holds no JSON object"
    if not text.lstrip().startswith("{"):
        text = _LONE_OPEN.sub("", text.rpartition(CLOSE)[2])
    for candidate in reversed(list(_objects(text))):
        try:
            found = output.model_validate(candidate)
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors()[:5]
            )
            continue
        if check is None or (said := check(found)) is None:
            return found, ""
        wrong = said
    return None, wrong


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects in `text`, in order."""
    decoder = json.JSONDecoder(strict=False)
    at = text.find("{")
    while at >= 0:
        try:
            found, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield found
        at = text.find("{", end)


class ThoughtSplitter:
    """Cuts a stream of text at `<think>` (at the start of a line) and `</think>`, wherever its chunks end."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._line_start = True
        self._after_thought = False

    def feed(self, chunk: str) -> Iterator[Text | Thought]:
        """What can be told apart so far; the beginning of a possible tag is held back."""
        self._held += chunk
        while self._held:
            tag = CLOSE if self._thinking else OPEN
            at = self._find(tag)
            if at < 0:
                ready = len(self._held) - _overlap(self._held, tag)
                yield from self._piece(self._held[:ready])
                self._held = self._held[ready:]
                return
            yield from self._piece(self._held[:at])
            self._held = self._held[at + len(tag) :]
            self._thinking = not self._thinking
            self._after_thought = not self._thinking

    def end(self) -> Iterator[Text | Thought]:
        """What was held back."""
        held, self._held = self._held, ""
        yield from self._piece(held)

    def _find(self, tag: str) -> int:
        """Where the tag stands, -1: nowhere. One that opens counts at the start of a line: elsewhere it is quoted."""
        if self._thinking:
            return self._held.find(tag)
        at = self._held.find(tag)
        while at >= 0:
            before = self._held[:at].rpartition("\n")
            if not before[2].strip() and (before[1] or self._line_start):
                return at
            at = self._held.find(tag, at + 1)
        return -1

    def _piece(self, text: str) -> Iterator[Text | Thought]:
        if self._thinking:
            if text:
                yield Thought(text)
            return
        if self._after_thought:
            text = text.lstrip()
        if text:
            self._after_thought = False
            line = text.rpartition("\n")
            self._line_start = not line[2].strip() and (bool(line[1]) or self._line_start)
            yield Text(text)


def _overlap(text: str, tag: str) -> int:
    """Length of the longest end of `text` with which `tag` begins."""
    return next((n for n in range(min(len(tag) - 1, len(text)), 0, -1) if text.endswith(tag[:n])), 0)
