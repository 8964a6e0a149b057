"""How the LLM judge's documents are put into calls: as many together as the model's window takes, too long ones cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Final

from crag.evaluator.judge_answer import tokens_around, tokens_of_grade
from crag.evaluator.judge_prompt import Shown, instructions, prompt
from crag.schema import Document

MOST_DOCUMENTS: Final = 12
"""Documents of one call: two calls side by side are sooner done than one with a long output."""
MOST_OUTPUT: Final = 8000
"""Tokens of one call's output; what models of every provider may write."""
LEAST_CHARACTERS: Final = 40
"""A document of which not even so much could be shown is not graded."""

_TOKENS_OF_FORM: Final = 450
_TOKENS_OF_ID: Final = 8
"""Tokens of the output's JSON schema, which providers put before the prompt: all but the ids, and one id."""
_WIDEST: Final = f"d{MOST_DOCUMENTS}"


@dataclass(frozen=True)
class Budget:
    """What one call may take, for one question. `count` gives tokens of a text; all sizes are in tokens."""

    question: str
    today: date
    window: int
    count: Callable[[str], int]
    with_query: bool

    @cached_property
    def room(self) -> int:
        """What is left of the window for documents and their grades."""
        told = instructions(self.today, with_query=self.with_query) + prompt(self.question, [])
        output = tokens_around(self.question, with_query=self.with_query)
        return self.window - self.count(told) - _TOKENS_OF_FORM - output

    @cached_property
    def output(self) -> int:
        """What all grades of one call may take."""
        return MOST_OUTPUT - tokens_around(self.question, with_query=self.with_query)

    def taken(self, document: Document) -> tuple[int, int]:
        """What `document` takes: (of the window, of the output)."""
        one = Shown(_WIDEST, document)
        output = tokens_of_grade(self.question, one)
        return self.count(one.text()) + _TOKENS_OF_ID * (1 + len(one.strips)) + output, output

    def holds(self, document: Document) -> bool:
        """Whether `document` alone fits."""
        window, output = self.taken(document)
        return window <= self.room and output <= self.output


def split(documents: Sequence[Document], budget: Budget) -> list[list[Document]]:
    """The documents of each call, in their order. Each of them has to fit alone (`cut`)."""
    calls: list[list[Document]] = []
    room = output = 0
    for document in documents:
        window, written = budget.taken(document)
        if not calls or len(calls[-1]) == MOST_DOCUMENTS or window > room or written > output:
            calls.append([])
            room, output = budget.room, budget.output
        calls[-1].append(document)
        room, output = room - window, output - written
    return calls


def cut(document: Document, budget: Budget) -> Document | None:
    """`document` itself where it fits alone, else as many of its first strips as fit, or the beginning of its first.

    None where the window has no room for anything that could be graded.
    """
    if budget.holds(document):
        return document
    strips = document.strips
    whole = _most(len(strips), lambda n: n > 0 and budget.holds(_with_strips(document, n)))
    if whole:
        return _with_strips(document, whole)
    longest = len(strips[0].text if strips else document.text)
    characters = _most(longest, lambda n: budget.holds(_beginning(document, n)))
    return _beginning(document, characters) if characters >= LEAST_CHARACTERS else None


def share_shown(document: Document, part: Document) -> float:
    """How much of `document` stands in `part`, what `cut` left of it, in [0, 1]."""
    return _length(part) / _length(document)


def _with_strips(document: Document, n: int) -> Document:
    return document.model_copy(update={"strips": document.strips[:n]})


def _beginning(document: Document, characters: int) -> Document:
    if not document.strips:
        return document.model_copy(update={"text": document.text[:characters]})
    first = document.strips[0]
    return document.model_copy(update={"strips": (first.model_copy(update={"text": first.text[:characters]}),)})


def _length(document: Document) -> int:
    return sum(len(strip.text) for strip in document.strips) or len(document.text)


def _most(top: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `top` that fits, 0 where none does; what fits less than another fits too."""
    low, high = 0, top
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
