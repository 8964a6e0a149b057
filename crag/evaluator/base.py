"""The seam of the retrieval evaluator: a question and documents in, grades out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from crag.schema import Document, DocumentGrade


class Evaluator(Protocol):
    """Grades documents and their strips (paper, section 4.2).

    A grade depends on question, text and `version` alone: never on the other documents, so it can be cached and
    replayed. One document's failure leaves that document ungraded, with its cause; it never raises for it.
    """

    name: str
    version: str

    async def grade(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
        """One grade per document, in the given order, with one grade per strip of it."""
        ...


class KnownVectors(Protocol):
    """Vectors that were computed before, so that grading a document again embeds the question only. Blocking."""

    def load(self, documents: Sequence[Document]) -> dict[str, npt.NDArray[np.float32]]:
        """The stored vectors of the documents (by document id) and of their strips (by strip id); absent: unknown."""
        ...

    def save(self, content: str, strips: Mapping[str, npt.NDArray[np.float32]]) -> None:
        """Keeps the vectors of strips (by strip id) of one content. Losing them costs time, never an answer."""
        ...


class StripScorer(Protocol):
    """A cross-encoder: reads question and document together. Blocking; raises `CragError`."""

    @property
    def fingerprint(self) -> str: ...

    def logits(self, pairs: Sequence[tuple[str, str, Sequence[str]]]) -> Sequence[npt.NDArray[np.float32]]:
        """Per (question, heading, strip texts) one logit for each strip; NaN for strips that it could not read."""
        ...
