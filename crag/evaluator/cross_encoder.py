"""The cross-encoder evaluator: a reranker, or the paper's T5, reads question and text together. Optional.

Its scores lie on another scale than the lightweight evaluator's: the thresholds are to be calibrated for it.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from crag.errors import EvaluationError
from crag.evaluator.pair_models import BATCH, Logits, PairModel, Scale, to_unit
from crag.runtime import in_pool
from crag.schema import Document, DocumentGrade, Grade
from crag.text import language

log = logging.getLogger(__name__)

DIGITS: Final = 4
"""Scores are rounded to this many digits: what stands beside a pair in its batch moves only those behind them."""
QUOTED: Final = {"en": 60, "zh": 30}
"""Characters of the best strip that a reason quotes."""

TEXTS = {
    "en": {
        "score": "cross-encoder {score:.2f}",
        "best": "cross-encoder {score:.2f}, best strip {best:.2f}: “{quote}”",
        "empty": "the document has no text",
    },
    "zh": {
        "score": "交叉编码器 {score:.2f}",
        "best": "交叉编码器 {score:.2f}，最佳片段 {best:.2f}：“{quote}”",
        "empty": "文档没有文字",
    },
}
OUTPUTS = {Scale.SIGMOID: ("logit",), Scale.SOFTMAX: ("irrelevant", "relevant"), Scale.REGRESSION: ("output",)}


class CrossEncoderEvaluator:
    """Grades by a model that reads (question, text) pairs: documents with their heading, strips alone."""

    name = "cross-encoder"

    def __init__(self, model: PairModel) -> None:
        self.version = model.version
        self._model = model
        self._lock = threading.Lock()

    async def grade(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
        """See `Evaluator.grade`. Whatever fails leaves the documents concerned ungraded, with the cause."""
        return await in_pool(self._grade, question, list(documents)) if documents else []

    def _grade(self, question: str, documents: list[Document]) -> list[DocumentGrade]:
        if not question.strip():
            return [_ungraded(document, "The question is empty: type what you want to know.") for document in documents]
        rows, causes = self._rows(question, documents)
        return [
            _ungraded(document, causes[document.id])
            if document.id in causes
            else grade_document(language(question), document, rows, self._model)
            for document in documents
        ]

    def _rows(self, question: str, documents: Sequence[Document]) -> tuple[dict[str, Logits], dict[str, str]]:
        """(outputs by text, cause by id of each document that lacks some of them)."""
        rows: dict[str, Logits] = {}
        causes: dict[str, str] = {}
        try:
            rows = self._run(question, {text for document in documents for text in _texts(document, self._model)})
        except EvaluationError:  # one text may be to blame: document by document only that one stays ungraded
            for document in documents:
                try:
                    rows.update(self._run(question, {t for t in _texts(document, self._model) if t not in rows}))
                except EvaluationError as error:
                    causes[document.id] = str(error)
        for document in documents:
            if document.id not in causes and not all(
                np.isfinite(rows[text]).all() for text in _texts(document, self._model)
            ):
                causes[document.id] = "The cross-encoder returned no usable numbers for this document: grade again."
        return rows, causes

    def _run(self, question: str, texts: set[str]) -> dict[str, Logits]:
        """Outputs by text. Batches hold texts of like length, the longest first, so that little is padded."""
        ordered = sorted(texts, key=lambda text: (-len(text), text))
        rows: dict[str, Logits] = {}
        for start in range(0, len(ordered), BATCH):
            batch = ordered[start : start + BATCH]
            try:
                with self._lock:  # tokenizers are not thread-safe; and two batches at once are no faster
                    rows.update(zip(batch, self._model.logits([(question, text) for text in batch]), strict=True))
            except Exception as error:  # memory, device, tokenizer: the libraries have no family of errors
                log.info("the cross-encoder failed", exc_info=True)
                raise EvaluationError(
                    f"The cross-encoder failed on this document ({type(error).__name__}): grade again, or use another "
                    "evaluator."
                ) from error
        return rows


def grade_document(lang: str, document: Document, rows: Mapping[str, Logits], model: PairModel) -> DocumentGrade:
    """The grade of one document and of its strips, from the outputs (1 or 2,) of each of their texts. Pure.

    `lang` is the language of the question, in which the reasons are written: "en" or "zh".
    """
    texts = TEXTS[lang]
    if not document.text.strip():
        empty = Grade(score=0.0, reason=texts["empty"])
        return DocumentGrade(document=empty, strips=tuple(empty for _ in document.strips))
    strips = []
    for strip in document.strips:
        score, outputs = _scored(rows[strip.text], model.scale)
        strips.append(Grade(score=score, reason=texts["score"].format(score=score), features=outputs))
    score, outputs = _scored(rows[_whole(document, model)], model.scale)
    reason = texts["score"].format(score=score)
    if strips:
        grade, strip = max(zip(strips, document.strips, strict=True), key=lambda pair: pair[0].score or 0.0)
        reason = texts["best"].format(score=score, best=grade.score, quote=_quote(strip.text))
    return DocumentGrade(document=Grade(score=score, reason=reason, features=outputs), strips=tuple(strips))


def _scored(row: Logits, scale: Scale) -> tuple[float, dict[str, float]]:
    """(score, the model's outputs by name)."""
    named = zip(OUTPUTS[scale], (round(float(value), DIGITS) for value in row), strict=True)
    return round(float(to_unit(row[None, :], scale)[0]), DIGITS), dict(named)


def _quote(text: str) -> str:
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    longest = QUOTED[language(line)]
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def _whole(document: Document, model: PairModel) -> str:
    return f"{document.heading}{model.join}{document.text}" if document.heading else document.text


def _texts(document: Document, model: PairModel) -> list[str]:
    """Everything of a document that needs a score."""
    if not document.text.strip():
        return []
    return [_whole(document, model), *(strip.text for strip in document.strips)]


def _ungraded(document: Document, cause: str) -> DocumentGrade:
    grade = Grade(score=None, cause=cause)
    return DocumentGrade(document=grade, strips=tuple(grade for _ in document.strips))
