"""What the lightweight evaluator looks at: similarities and shared words of a question with a document's strips."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crag.embedding.base import Vectors
from crag.idf import content_words, coverage, idf, rare_words, words_of
from crag.text import language, normalise

DOCUMENT = ("cosine", "best_cosine", "two_cosine", "coverage", "best_coverage", "rarest", "number")
"""Names of a document's features: cosine with the passage, with its nearest strip, mean of the two nearest; idf share
of the question's words in the passage, in the best strip; of its two rarest words; `Asked.number_in`."""
STRIP = ("cosine", "below_best", "coverage", "rarest", "number", "document_cosine", "document_coverage")
"""Names of a strip's features: the same of the strip, how far it is below the nearest strip, and of its document."""

_CODE = re.compile(
    r"(?<![\w-])(?=[0-9./_#-]*[a-z])(?=[a-z./_#-]*[0-9])[a-z0-9]+(?:[-./_#][a-z0-9]+)*(?![\w-])", re.ASCII
)
_ORDINAL = re.compile(r"\d+(?:s|st|nd|rd|th)")
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|old|far|often|tall|large|big|high)\b|\bwhen\b|"
    r"\b(?:what|which) (?:year|date|day|percent\w*|number)\b|"
    r"多少|几|幾|何[时時]|什[么麼][时時]候|哪一?年|多[久大长長高远遠]|日期"
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|million|billion|"
    r"half|third|twice|once)\b|[一二三四五六七八九十百千万萬亿億两兩]"
)


@dataclass(frozen=True)
class Asked:
    """A question as the evaluator sees it; `vector` has length 1."""

    text: str
    vector: Vectors

    @cached_property
    def language(self) -> str:
        return language(self.text)

    @cached_property
    def words(self) -> tuple[str, ...]:
        return content_words(self.text)

    @cached_property
    def rare(self) -> tuple[str, ...]:
        return rare_words(self.words)

    @cached_property
    def rarest(self) -> tuple[str, ...]:
        return tuple(sorted(self.words, key=lambda word: -idf(word))[:2])

    @cached_property
    def asks_number(self) -> bool:
        return bool(_ASKS_NUMBER.search(normalise(self.text)))

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Part numbers and other names of letters with digits ("err-4012"), lower-cased; no decades and ordinals."""
        found = dict.fromkeys(match.group() for match in _CODE.finditer(normalise(self.text)))
        return tuple(code for code in found if len(code) >= 3 and not _ORDINAL.fullmatch(code))

    @cached_property
    def only_codes(self) -> bool:
        """Whether the question is nothing but codes."""
        return bool(self.codes) and set(self.words) <= words_of(" ".join(self.codes))

    def number_in(self, text: str) -> float:
        """1 where a number is asked for and there, -1 where it is asked for and not there, otherwise 0."""
        return (1.0 if _NUMBER.search(normalise(text)) else -1.0) if self.asks_number else 0.0


def holds(text: str, code: str) -> bool:
    """Whether `text` has exactly this code, whatever separates its parts ("ERR 4012" is "err-4012")."""
    parts = (re.escape(part) for part in re.findall(r"[a-z]+|[0-9]+", code))
    return bool(re.search(r"(?<![a-z0-9])" + r"[\W_]{0,2}".join(parts) + r"(?![a-z0-9])", normalise(text)))


def features(
    asked: Asked, heading: str, text: str, strips: Sequence[str], vector: Vectors, strip_vectors: Vectors
) -> tuple[list[float], list[list[float]]]:
    """The numbers of a document (in the order of `DOCUMENT`) and of each of its strips (in the order of `STRIP`).

    `vector` has shape (dimension,), `strip_vectors` (len(strips), dimension), all of length 1. The heading's words
    count as the document's: it names what the text calls "it". A document without strips is its own only strip.
    """
    held = words_of(f"{heading}\n{text}")
    held_by = [words_of(strip) for strip in strips] or [held]
    cosine = float(vector @ asked.vector)
    cosines: list[float] = (strip_vectors @ asked.vector).tolist() if strips else [cosine]
    best = sorted(cosines, reverse=True)[:2]
    covered = [coverage(asked.words, words) for words in held_by]
    of_document = coverage(asked.words, held)
    numbers = [asked.number_in(strip) for strip in strips] or [asked.number_in(text)]
    document = [
        cosine,
        best[0],
        sum(best) / len(best),
        of_document,
        max(covered),
        coverage(asked.rarest, held),
        numbers[int(np.argmax(cosines))],
    ]
    rows = [
        [c, best[0] - c, cover, coverage(asked.rarest, words), number, cosine, of_document]
        for c, cover, words, number in zip(cosines, covered, held_by, numbers, strict=True)
    ]
    return document, rows[: len(strips)]
