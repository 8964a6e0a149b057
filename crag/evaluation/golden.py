"""Golden questions as a question set: made from a turn or a file, checked before they are kept, written as a file."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from crag.errors import QuestionSetError
from crag.evaluation.matching import searchable
from crag.evaluation.question_sets import Question, as_csv, as_jsonl, parse_questions
from crag.history.golden import Golden
from crag.pipeline import LONGEST_QUESTION
from crag.schema import Trace
from crag.text import language, visible

SET: Final = "golden questions"
"""Name of the set in reports and calibrations."""
Form = Literal["jsonl", "csv"]
LARGEST_PAGE: Final = 999_999_999
"""What a file of questions can name as well."""
Problem = Literal["empty", "long", "page", "no_file", "no_words", "twice"]
"""Why a question cannot be kept: it is empty; it is too long; its page is no whole number from 1 on; it names a page
without a file; an answer has neither letter nor digit; the same question is there already."""


@dataclass(frozen=True)
class Arrived:
    """What a file of questions does to those that are there: equal questions are edited, no question is deleted."""

    added: tuple[Golden, ...]
    changed: tuple[Golden, ...]
    same: int
    """So many are there as the file has them."""


def of_trace(trace: Trace) -> Golden:
    """The question of a turn with the action that it took, and the place of its first citation in a file."""
    cited = next((citation for citation in trace.citations if citation.url is None), None)
    return Golden(
        question=trace.standalone or trace.question,
        expected=trace.action,
        file=cited.file if cited else None,
        page=cited.page if cited else None,
        turn_id=trace.turn_id,
    )


def as_question(golden: Golden) -> Question:
    """As it is asked and counted; its id is that of the golden question."""
    return Question(
        id=str(golden.id),
        question=golden.question,
        language="zh" if language(golden.question) == "zh" else "en",
        set=SET,
        expected=golden.expected,
        file=golden.file,
        page=golden.page,
        answers=golden.answers,
        note=golden.note,
    )


def problem(golden: Golden, others: Sequence[Golden] = ()) -> Problem | None:
    """The first reason why it cannot be kept beside `others`; None where it can."""
    if not visible(golden.question).strip():
        return "empty"
    if len(golden.question) > LONGEST_QUESTION:
        return "long"
    if golden.page is not None and not 1 <= golden.page <= LARGEST_PAGE:
        return "page"
    if golden.page is not None and not golden.file:
        return "no_file"
    if not all(searchable(answer) for answer in golden.answers):
        return "no_words"
    mine = key(golden)
    return "twice" if any(key(other) == mine for other in others) else None


def key(golden: Golden) -> str:
    """What tells questions apart: their words, whatever the white space."""
    return " ".join(golden.question.split())


def arrived(name: str, data: bytes, known: Sequence[Golden]) -> Arrived:
    """What the file with this name and content brings to the `known`. Raises QuestionSetError naming line and mend.

    Of questions that a file has twice the last one counts.
    """
    there = {key(golden): golden for golden in known}
    fresh: dict[str, Golden] = {}
    for question in parse_questions(Path(name), data):
        fields = {name: getattr(question, name) for name in ("question", "expected", "file", "page", "answers", "note")}
        golden = Golden(**fields)
        if len(golden.question) > LONGEST_QUESTION:
            begin, mend = golden.question[:40], f"shorten it to at most {LONGEST_QUESTION}"
            raise QuestionSetError(f"{name}: the question “{begin}…” has {len(golden.question)} characters: {mend}.")
        fresh[key(golden)] = golden
    added = [golden for words, golden in fresh.items() if words not in there]
    kept = {words: _edited(there[words], golden) for words, golden in fresh.items() if words in there}
    changed = [golden for words, golden in kept.items() if golden != there[words]]
    return Arrived(tuple(added), tuple(changed), len(kept) - len(changed))


def _edited(old: Golden, new: Golden) -> Golden:
    """`old` with what the file says of it; its own words and its note stay where the file has none."""
    said = {name: getattr(new, name) for name in ("expected", "file", "page", "answers")}
    return old.model_copy(update=said | {"note": new.note or old.note})


def written(goldens: Sequence[Golden], form: Form) -> str:
    """The questions as a file that `crag eval`, `crag calibrate` and the import read."""
    questions = [as_question(golden) for golden in goldens]
    return as_jsonl(questions) if form == "jsonl" else as_csv(questions)


def sha256_of(goldens: Sequence[Golden]) -> str:
    """sha256 (hex) of the questions as a file: the provenance of what was learnt from them."""
    return hashlib.sha256(written(goldens, "jsonl").encode()).hexdigest()
