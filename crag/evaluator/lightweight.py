"""The lightweight evaluator: calibrated regressions over similarities and shared words, and e5 as a cross-encoder.

The paper fine-tunes T5-large (0.77 B) for this. Here two heads, one for documents and one for strips, stand on the
vectors that retrieval needs anyway; documents that they leave in doubt are read together with the question, and the
two logits are joined by a further regression. Coefficients: `crag/data/lightweight.json`, from
`python -m bench.train_evaluator`.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from crag.embedding.base import Embedder
from crag.errors import ConfigurationError, CragError, EvaluationError
from crag.evaluator.base import KnownVectors, StripScorer
from crag.evaluator.features import DOCUMENT, STRIP, Asked, centred, features, holds
from crag.evaluator.reasons import empty, reason
from crag.idf import idf, words_of
from crag.runtime import in_pool
from crag.schema import Document, DocumentGrade, Grade
from crag.text import language

log = logging.getLogger(__name__)

Vector = npt.NDArray[np.float32]


class Calibration(BaseModel):
    """What `python -m bench.train_evaluator` found, for one embedding engine; further fields of the file say how."""

    heads: dict[str, dict[str, list[float]]]
    """By language ("en", "zh", or "crossed" where question and document differ) and by "document" or "strip": the
    intercept, followed by one coefficient per feature."""
    means: dict[str, dict[str, list[float]]]
    """By language and by "question" or "text": the mean of their vectors."""
    joint: dict[str, list[float]]
    """By language: intercept, coefficient of the document head's logit, of the cross-encoder's."""
    doubt_from: dict[str, float]
    """By language: from this score of the document head on a document is read with the question; above 1: never."""

    def mean(self, lang: str, kind: str) -> Vector:
        return np.array(self.means[lang][kind], dtype=np.float32)


FOUND_CODE: Final = 0.9
"""A question that is nothing but a part number is answered by the text that holds it: no model knows the number."""
NO_CODE: Final = 0.1
"""... and not by one that does not."""
LACKS_CODE: Final = 0.45
"""A question about a code is not surely answered by a text without it: ERR-4013 is no answer to ERR-4012."""
CROSSED_MOST: Final = 0.65
"""Where question and document differ in language their words cannot be compared: never more than uncertain."""
UNKNOWN_TO_IDF: Final = 8.5
"""From this idf on a part of a code is a name of its own; 'covid' and '19' are words."""

UNUSABLE: Final = "The embedding engine returned no usable numbers: grade again."


class LightweightEvaluator:
    """Grades by regression. Vectors come from `known`; what is missing there is embedded in one batch."""

    name = "lightweight"

    def __init__(
        self,
        embedder: Embedder,
        known: KnownVectors | None = None,
        cross: StripScorer | None = None,
        coefficients: bytes | None = None,
    ) -> None:
        shipped = coefficients or files("crag").joinpath("data/lightweight.json").read_bytes()
        self.calibration = Calibration.model_validate_json(shipped)
        dimension = len(self.calibration.means["en"]["text"])
        if embedder.dimension != dimension:
            raise ConfigurationError(
                f"The lightweight evaluator is calibrated for vectors of {dimension} numbers, this embedding has "
                f"{embedder.dimension}: use the embedded embedding, or calibrate it again."
            )
        engines = f"{embedder.fingerprint} {cross.fingerprint if cross else ''}"
        self.version = hashlib.sha256(shipped + engines.encode()).hexdigest()[:12]
        self._embedder = embedder
        self._known = known
        self._cross = cross

    async def grade(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
        """See `Evaluator.grade`. Whatever fails leaves the documents concerned ungraded, with the cause."""
        return await in_pool(self._grade, question, list(documents)) if documents else []

    def _grade(self, question: str, documents: list[Document]) -> list[DocumentGrade]:
        try:
            if not question.strip():
                raise EvaluationError("The question is empty: type what you want to know.")
            vector = self._embedder.embed_query(question)
            if not np.isfinite(vector).all():
                raise EvaluationError(UNUSABLE)
            asked = Asked(question, centred(vector, self.calibration.mean(language(question), "question")))
        except CragError as error:
            return [_ungraded(document, str(error)) for document in documents]
        known = self._load(documents)
        vectors, causes = self._vectors(documents, known)
        seen = {
            document.id: look(asked, document, vectors, self.calibration)
            for document in documents
            if document.id not in causes
        }
        read = self._read(question, [d for d in documents if d.id in seen and self._in_doubt(seen[d.id])], causes)
        return [
            _ungraded(document, causes[document.id])
            if document.id in causes
            else grade_document(asked, document, seen[document.id], self.calibration, read.get(document.id)).model_copy(
                update=_counted(document, known)
            )
            for document in documents
        ]

    def _in_doubt(self, look: Look | None) -> bool:
        return look is not None and logistic(look.document_logit) >= self.calibration.doubt_from[look.head]

    def _read(self, question: str, documents: Sequence[Document], causes: dict[str, str]) -> dict[str, Vector]:
        """The cross-encoder's logits of the strips, by document id; what it fails on gets its cause."""
        if self._cross is None or not documents:
            return {}
        pairs = [(question, document.heading, _strip_texts(document)) for document in documents]
        try:
            return dict(zip((d.id for d in documents), self._cross.logits(pairs), strict=True))
        except CragError as error:
            if len(documents) == 1:
                causes[documents[0].id] = str(error)
                return {}
        read: dict[str, Vector] = {}
        for document in documents:  # one text may be to blame: only that one stays ungraded
            read.update(self._read(question, [document], causes))
        return read

    def _vectors(
        self, documents: Sequence[Document], known: Mapping[str, Vector]
    ) -> tuple[dict[str, Vector], dict[str, str]]:
        """(vectors by document or strip id, cause by id of each document that has no complete vectors)."""
        vectors = dict(known)
        missing = {id_: text for document in documents for id_, text in _texts(document) if id_ not in vectors}
        causes: dict[str, str] = {}
        try:
            vectors.update(self._embed(missing))
        except CragError:  # one text may be to blame: document by document only that one stays ungraded
            for document in documents:
                try:
                    vectors.update(self._embed({i: t for i, t in _texts(document) if i not in vectors}))
                except CragError as error:
                    causes[document.id] = str(error)
        unusable = {id_ for id_, vector in vectors.items() if not np.isfinite(vector).all()}
        for document in documents:
            if any(id_ in unusable for id_, _ in _texts(document)):
                causes[document.id] = UNUSABLE
        self._save(documents, {id_: vectors[id_] for id_ in missing if id_ in vectors and id_ not in unusable})
        return vectors, causes

    def _embed(self, texts: Mapping[str, str]) -> dict[str, Vector]:
        return dict(zip(texts, self._embedder.embed_passages(list(texts.values())), strict=True)) if texts else {}

    def _load(self, documents: Sequence[Document]) -> dict[str, Vector]:
        try:
            stored = self._known.load(documents) if self._known else {}
            return {id_: vector for id_, vector in stored.items() if vector.shape == (self._embedder.dimension,)}
        except Exception:  # whatever the store is: without it grading takes longer, and that is all
            log.warning("stored vectors could not be read; embedding again", exc_info=True)
            return {}

    def _save(self, documents: Sequence[Document], fresh: Mapping[str, Vector]) -> None:
        """Keeps the vectors of strips that were made just now."""
        by_content: dict[str, dict[str, Vector]] = {}
        for document in documents:
            strips = {strip.id: fresh[strip.id] for strip in document.strips if strip.id in fresh}
            by_content.setdefault(document.content, {}).update(strips)
        for content, strips in by_content.items():
            try:
                if self._known and strips:
                    self._known.save(content, strips)
            except Exception:  # as in _load
                log.warning("vectors of strips could not be stored", exc_info=True)


def _counted(document: Document, known: Mapping[str, Vector]) -> dict[str, int]:
    """How many vectors of a document and its strips were there, and how many had to be made."""
    ids = [id_ for id_, _ in _texts(document)]
    there = sum(id_ in known for id_ in ids)
    return {"known": there, "made": len(ids) - there}


@dataclass(frozen=True)
class Look:
    """What the regressions say of a document: features and logits of it and of its strips."""

    same: bool
    """Whether question and document are in one language."""
    head: str
    document: list[float]
    document_logit: float
    strips: list[list[float]]
    strip_logits: list[float]


def look(asked: Asked, document: Document, vectors: Mapping[str, Vector], calibration: Calibration) -> Look | None:
    """The regressions' view; `vectors` holds those of document and strips by id, each of length 1. None: no text."""
    if not document.text.strip():
        return None
    lang = language(document.text)
    same = lang == asked.language
    head = lang if same else "crossed"
    rows = np.stack([vectors[document.id], *(vectors[strip.id] for strip in document.strips)])
    rows = centred(rows.astype(np.float32), calibration.mean(lang, "text"))
    texts = [strip.text for strip in document.strips]
    of_document, of_strips = features(asked, document.heading, document.text, texts, rows[0], rows[1:])
    heads = calibration.heads[head]
    strip_logits = [linear(heads["strip"], row) for row in of_strips]
    return Look(same, head, of_document, linear(heads["document"], of_document), of_strips, strip_logits)


def grade_document(
    asked: Asked, document: Document, seen: Look | None, calibration: Calibration, read: Vector | None = None
) -> DocumentGrade:
    """The grade of one document and of its strips; `read` are the cross-encoder's logits of its strips. Pure."""
    if seen is None:
        nothing = Grade(score=0.0, reason=empty(asked))
        return DocumentGrade(document=nothing, strips=tuple(nothing for _ in document.strips))
    joint = calibration.joint[seen.head]
    readable: list[float] = [] if read is None else read[np.isfinite(read)].tolist()
    together = float(np.logaddexp.reduce(readable)) if readable else None
    logit = seen.document_logit if together is None else linear(joint, [seen.document_logit, together])
    whole = f"{document.heading}\n{document.text}"
    score = _with_codes(asked, whole, logistic(logit))
    score = score if seen.same or asked.only_codes else min(score, CROSSED_MOST)
    named = dict(zip(DOCUMENT, (round(value, 4) for value in seen.document), strict=True))
    if together is not None:
        named["cross_encoder"] = round(together, 4)
    why = reason(
        asked, whole, seen.document[1], "similar", same=seen.same, read=None if together is None else logistic(together)
    )
    strips = [
        _strip_grade(asked, strip.text, row, logit, seen.same)
        for strip, row, logit in zip(document.strips, seen.strips, seen.strip_logits, strict=True)
    ]
    return DocumentGrade(document=Grade(score=score, reason=why, features=named), strips=tuple(strips))


def linear(coefficients: Sequence[float], row: Sequence[float]) -> float:
    """The logit of a regression given as intercept and coefficients."""
    return coefficients[0] + sum(w * value for w, value in zip(coefficients[1:], row, strict=True))


def logistic(logit: float) -> float:
    """The probability in [0, 1] of a logit."""
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))


def _strip_grade(asked: Asked, text: str, row: Sequence[float], logit: float, same: bool) -> Grade:
    named = dict(zip(STRIP, (round(value, 4) for value in row), strict=True))
    why = reason(asked, text, row[0], "strip", same=same)
    return Grade(score=_with_codes(asked, text, logistic(logit)), reason=why, features=named)


def _with_codes(asked: Asked, text: str, score: float) -> float:
    """The score, corrected where the question names a code."""
    lacking = [code for code in asked.codes if not holds(text, code)]
    if asked.only_codes:
        if not lacking:
            return max(score, FOUND_CODE)
        return min(score, NO_CODE if len(lacking) == len(asked.codes) else LACKS_CODE)
    own_names = [code for code in lacking if not code[0].isalpha() or code[-1] in "+#" or _is_unknown(code)]
    return min(score, LACKS_CODE) if own_names else score


def _is_unknown(code: str) -> bool:
    return any(idf(word) >= UNKNOWN_TO_IDF for word in words_of(code))


def _strip_texts(document: Document) -> list[str]:
    """A document without strips is its own only strip."""
    return [strip.text for strip in document.strips] or [document.text]


def _texts(document: Document) -> list[tuple[str, str]]:
    """Everything of a document that needs a vector, by id."""
    if not document.text.strip():
        return []
    return [(document.id, document.text), *((strip.id, strip.text) for strip in document.strips)]


def _ungraded(document: Document, cause: str) -> DocumentGrade:
    grade = Grade(score=None, cause=cause)
    return DocumentGrade(document=grade, strips=tuple(grade for _ in document.strips))
