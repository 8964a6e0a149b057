"""What the lightweight evaluator looks at: similarities and shared words of a question with a document's strips."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crag.embedding.base import Vectors
from crag.idf import content_words, coverage, idf, neighbours, rare_words, words_of
from crag.text import language, normalise

DOCUMENT = ("cosine", "best_cosine", "two_cosine", "coverage", "best_coverage", "best_joint", "missing")
"""Names of a document's features: cosine with the passage, with its nearest strip, mean of the two nearest; idf share
of the question's words in the passage, in the best strip; the most that one strip has of cosine + share / 2; the idf,
in tens, of the rarest word of the question that the passage lacks."""
STRIP = ("cosine", "below_best", "coverage", "document_cosine", "document_coverage", "phrase")
"""Names of a strip's features: its cosine, how far that is below the nearest strip of the document, its share of the
question's words, the document's cosine and share; the share of the question's neighbouring words that stand side by
side in it."""

_CODE = re.compile(
    r"(?<![\w-])(?=[0-9./_#-]*[a-z])(?=[a-z./_#-]*[0-9])[a-z0-9]+(?:[-./_#][a-z0-9]+)*(?![\w-])"
    r"|(?<![\w.-])\d+(?:[.-]\d+){2,}(?![\w-])"  # versions and part numbers of digits alone
    r"|(?<![\w+#])[a-z]{1,10}(?:\+\+|#)(?![\w+#])",  # C++, C#
    re.ASCII,
)
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[.-]\d{1,2}[.-](?:\d{4}|\d{2})")
_ORDINAL = re.compile(r"\d+(?:s|st|nd|rd|th)")


@dataclass(frozen=True)
class Asked:
    """A question as the evaluator sees it; `vector` is centred."""

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
    def phrases(self) -> frozenset[tuple[str, str]]:
        """The question's content words, each with the next one."""
        content = frozenset(self.words)
        return frozenset((a, b) for a, b in neighbours(self.text) if a in content and b in content)

    @cached_property
    def codes(self) -> tuple[str, ...]:
        """Part numbers and other names of letters with digits ("err-4012"), lower-cased; no decades and ordinals."""
        found = dict.fromkeys(match.group() for match in _CODE.finditer(normalise(self.text)))
        return tuple(code for code in found if len(code) >= 2 and not _is_common(code))

    @cached_property
    def only_codes(self) -> bool:
        """Whether the question is nothing but codes."""
        return bool(self.codes) and set(self.words) <= words_of(" ".join(self.codes))


def centred(vectors: Vectors, mean: Vectors) -> Vectors:
    """Unit vectors without what all texts of their kind and language share, of length 1 again.

    An embedding puts all texts of a language near to each other: without their mean, the cosine tells relevance apart
    from mere sameness of language, above all where question and document differ in it.
    """
    moved = vectors - mean
    length = np.maximum(np.linalg.norm(moved, axis=-1, keepdims=True), 1e-9)
    return np.asarray(moved / length, dtype=np.float32)


def holds(text: str, code: str) -> bool:
    """Whether `text` has exactly this code, whatever separates its parts ("ERR 4012" is "err-4012").

    A longer code that begins or ends like it is another one: 1.2.3 is not 1.2, NX-200/b is not NX-200.
    """
    parts = (re.escape(part) for part in re.findall(r"[a-z]+|[0-9]+|[+#]+", code))
    before, after = r"(?<![a-z0-9])(?<![a-z0-9][-./_#])", r"(?![a-z0-9+#])(?![-./_#][a-z0-9])"
    return bool(re.search(before + r"[\W_]{0,2}".join(parts) + after, normalise(text)))


def _is_common(code: str) -> bool:
    """Decades, ordinals and dates are written in many ways, and two signs are rarely a name."""
    return bool(_ORDINAL.fullmatch(code) or _DATE.fullmatch(code)) or (len(code) == 2 and code[-1] not in "+#")


def features(
    asked: Asked, heading: str, text: str, strips: Sequence[str], vector: Vectors, strip_vectors: Vectors
) -> tuple[list[float], list[list[float]]]:
    """The numbers of a document (in the order of `DOCUMENT`) and of each of its strips (in the order of `STRIP`).

    `vector` has shape (dimension,), `strip_vectors` (len(strips), dimension), all centred. The heading's words
    count as the document's: it names what the text calls "it". A document without strips is its own only strip.
    """
    held = words_of(f"{heading}\n{text}")
    held_by = [words_of(strip) for strip in strips] or [held]
    cosine = float(vector @ asked.vector)
    cosines: list[float] = (strip_vectors @ asked.vector).tolist() if strips else [cosine]
    best = sorted(cosines, reverse=True)[:2]
    covered = [coverage(asked.words, words) for words in held_by]
    of_document = coverage(asked.words, held)
    joint = max(c + share / 2 for c, share in zip(cosines, covered, strict=True))
    missing = max((idf(word) for word in asked.words if word not in held), default=0.0) / 10
    document = [cosine, best[0], sum(best) / len(best), of_document, max(covered), joint, missing]
    rows = [
        [c, best[0] - c, share, cosine, of_document, _phrases(asked, strip)]
        for c, share, strip in zip(cosines, covered, strips, strict=False)
    ]
    return document, rows


def _phrases(asked: Asked, strip: str) -> float:
    """The share of the question's neighbouring words that are neighbours in the strip, in [0, 1]; 0 without any."""
    return len(asked.phrases.intersection(neighbours(strip))) / len(asked.phrases) if asked.phrases else 0.0
