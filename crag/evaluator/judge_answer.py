"""What the LLM judge has to answer: the form of one call's output, what may be wrong with it, and grades from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, Field, create_model
from pydantic.json_schema import SkipJsonSchema

from crag.evaluator.judge_prompt import Shown
from crag.schema import DocumentGrade, Grade
from crag.search.base import LONGEST_QUERY
from crag.text import language, visible

LONGEST_REASON: Final = 160
"""Characters."""
TOP: Final = 10
"""The highest score that the judge gives; 1 on the scale of grades."""

_TOKENS_OF_REASON: Final = {"en": 70, "zh": 200}
_TOKENS_OF_QUERY: Final = {"en": 120, "zh": 240}
_TOKENS_OF_MARK: Final = 45
_TOKENS_OF_STRIP: Final = 24
_TOKENS_AROUND: Final = 60
"""Tokens that JSON takes, written with blanks and line breaks as some models write it."""


def _at_most(longest: int) -> BeforeValidator:
    """A text that is too long is cut, since the rest of the answer may well be good."""

    def cut(value: object) -> object:
        if not isinstance(value, str):
            return value
        line = " ".join(visible(value).split())
        return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"

    return BeforeValidator(cut)


class StripMark(BaseModel):
    """The score of one strip."""

    id: str
    score: Annotated[int, Field(ge=0, le=TOP)]


class Mark(BaseModel):
    """What the judge says of one document; `strips` is asked for where it has some."""

    id: str
    score: Annotated[int, Field(ge=0, le=TOP)]
    reason: Annotated[str, Field(max_length=LONGEST_REASON), _at_most(LONGEST_REASON)]
    strips: SkipJsonSchema[list[StripMark]] = []


class Marks(BaseModel):
    """The output of one call; `query` is asked for where none is known."""

    grades: list[Mark]
    query: SkipJsonSchema[str] = ""


def form(documents: Sequence[Shown], *, with_query: bool) -> type[Marks]:
    """`Marks` with just the ids, lengths and fields of this call.

    It uses only what servers that constrain by a JSON schema keep to: enums, bounded integers, lengths of lists and
    strings (llama.cpp and with it Ollama pass over the bounds of other numbers).
    """
    mark: Any = create_model("Mark", __base__=Mark, **_fields_of_mark(documents))
    count = len(documents)
    fields: dict[str, Any] = {"grades": (list[mark], Field(min_length=count, max_length=count))}
    if with_query:
        query = Annotated[str, Field(max_length=LONGEST_QUERY), _at_most(LONGEST_QUERY)]
        fields["query"] = (query, ...)
    return create_model("Marks", __base__=Marks, **fields)


def _fields_of_mark(documents: Sequence[Shown]) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": (_one_of([one.id for one in documents]), ...)}
    if strips := [id_ for one in documents for id_ in one.strips]:
        own_id: dict[str, Any] = {"id": (_one_of(strips), ...)}
        strip: Any = create_model("StripMark", __base__=StripMark, **own_id)
        fields["strips"] = (list[strip], Field(max_length=max(len(one.strips) for one in documents)))
    return fields


def _one_of(ids: Sequence[str]) -> Any:
    return Literal[tuple(ids)]


def wrong_with(documents: Sequence[Shown]) -> Callable[[Marks], str | None]:
    """What is wrong with an output although it has the form, as a sentence for the model; None: nothing.

    That a strip comes twice is borne: the lower score counts.
    """
    ids, own = [one.id for one in documents], {one.id: set(one.strips) for one in documents}

    def wrong(marks: Marks) -> str | None:
        times = Counter(mark.id for mark in marks.grades)
        said = []
        if twice := [id_ for id_ in ids if times[id_] > 1]:
            said.append(f"graded more than once: {', '.join(twice)}")
        if missing := [id_ for id_ in ids if not times[id_]]:
            said.append(f"not graded: {', '.join(missing)}")
        if unknown := sorted(set(times) - set(ids)):
            said.append(f"there is no document {', '.join(unknown)}")
        said += [
            f"{', '.join(foreign)} is no strip of {mark.id}"
            for mark in marks.grades
            if (foreign := sorted({strip.id for strip in mark.strips} - own.get(mark.id, set())))
        ]
        return f"Grade each document exactly once ({'; '.join(said)})." if said else None

    return wrong


def grades_of(marks: Marks, documents: Sequence[Shown]) -> list[DocumentGrade]:
    """One grade per document, in their order, from an output with which nothing is wrong."""
    by_id = {mark.id: mark for mark in marks.grades}
    return [_grade(by_id[one.id], one) for one in documents]


def tokens_of_answer(question: str, documents: Sequence[Shown], *, with_query: bool) -> int:
    """At most so many tokens the output takes, rather too many than too few."""
    return tokens_around(question, with_query=with_query) + sum(tokens_of_grade(question, one) for one in documents)


def tokens_around(question: str, *, with_query: bool) -> int:
    """The part of `tokens_of_answer` that is there once."""
    return _TOKENS_AROUND + (_TOKENS_OF_QUERY[language(question)] if with_query else 0)


def tokens_of_grade(question: str, document: Shown) -> int:
    """The part of `tokens_of_answer` that one document adds."""
    return _TOKENS_OF_MARK + _TOKENS_OF_REASON[language(question)] + _TOKENS_OF_STRIP * len(document.strips)


def _grade(mark: Mark, one: Shown) -> DocumentGrade:
    scores: dict[str, int] = {}
    for strip in mark.strips:
        scores[strip.id] = min(strip.score, scores.get(strip.id, TOP))
    return DocumentGrade(
        document=Grade(score=mark.score / TOP, reason=mark.reason),
        strips=tuple(Grade(score=scores.get(id_, 0) / TOP) for id_ in one.strips),
    )
