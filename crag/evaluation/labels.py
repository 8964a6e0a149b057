"""Labels: whether a document or strip holds information that answers a question, as far as its set tells."""

from __future__ import annotations

from pathlib import PurePosixPath

from crag.evaluation.matching import holds
from crag.evaluation.question_sets import Question
from crag.schema import Action, Document, Strip, pages_of
from crag.text import normalise


def holds_answer(question: Question, text: str) -> bool:
    """Whether any of the question's answer strings stands in `text`.

    Case, width, white space, line breaks and punctuation do not matter; words are matched whole, and a number
    never inside a longer one.
    """
    return any(holds(answer, text) for answer in question.answers)


def document_label(question: Question, document: Document) -> bool | None:
    """True: it answers; False: it does not; None: the question's row does not tell, so leave it out.

    With answers: True where one stands in a passage of the given place, None where one stands elsewhere, False
    where none stands. With a file and page alone: True on that page, False in other files. With nothing, and
    INCORRECT expected: False.
    """
    if question.answers:
        return _by_answer(question, document, document.text, document.pages)
    if question.file is not None:
        if not in_file(question, document.files):
            return False
        return True if question.page is not None and question.page in document.pages else None
    return False if question.expected is Action.INCORRECT else None


def strip_label(question: Question, strip: Strip, document: Document) -> bool | None:
    """Like `document_label`, for one strip of `document`; a page alone does not tell which of its strips answers."""
    if question.answers:
        return _by_answer(question, document, strip.text, pages_of(strip.spans) or document.pages)
    if question.file is not None:
        return None if in_file(question, document.files) else False
    return False if question.expected is Action.INCORRECT else None


def in_file(question: Question, files: tuple[str, ...]) -> bool:
    """Whether one of `files` is the question's: equal, or one path ends with the other (so a base name suffices)."""
    return question.file is not None and any(_same_file(question.file, file) for file in files)


def _by_answer(question: Question, document: Document, text: str, pages: tuple[int, ...]) -> bool | None:
    if not holds_answer(question, text):
        return False
    if question.file is not None and not in_file(question, document.files):
        return None
    return True if question.page is None or question.page in pages else None


def _same_file(one: str, other: str) -> bool:
    a, b = (PurePosixPath(normalise(name.replace("\\", "/"))).parts for name in (one, other))
    shared = min(len(a), len(b))
    return shared > 0 and a[-shared:] == b[-shared:]
