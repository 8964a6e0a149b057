"""Whether the search query that the LLM judge gives may be used: nothing of a document leaves with it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from crag.idf import RARE, STOP_WORDS, idf, words_of
from crag.schema import Document
from crag.search.base import shortened
from crag.text import is_cjk, visible


def usable_query(query: str, question: str, documents: Iterable[Document], today: date) -> str | None:
    """`query` as it may be sent, at most 400 characters; None where it is empty or takes a word from a document.

    The judge has read the documents, and one of them may have told it what to search for. So a rare word or a number
    that a document holds and the question does not is taken for the document's; years around `today` are not.
    """
    query = shortened(visible(query))
    foreign = {word for word in words_of(query) - words_of(question) if _tells(word, question, today)}
    held = frozenset[str]().union(*(words_of(f"{one.heading}\n{one.text}") for one in documents)) if foreign else ()
    return None if not query or foreign & set(held) else query


def _tells(word: str, question: str, today: date) -> bool:
    """Whether a word that the question lacks says more than a common word or a date would."""
    if any(char.isdigit() for char in word):
        return word not in {str(today.year + years) for years in (-1, 0, 1)}
    if is_cjk(word) and all(char in question for char in word):
        return False  # two characters of the question that stand side by side since a word between them was left out
    return word not in STOP_WORDS and idf(word) >= RARE
