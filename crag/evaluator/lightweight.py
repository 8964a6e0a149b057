"""The lightweight evaluator: calibrated logistic regressions over similarities and shared words; no model call.

The paper fine-tunes T5-large (0.77 B) for this; here two heads, one for documents and one for strips, stand on the
vectors that retrieval needs anyway. Coefficients: `crag/data/lightweight.json`, from `python -m bench.train_evaluator`.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Final

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel

from crag.embedding.base import Embedder
from crag.errors import ConfigurationError, CragError, EvaluationError
from crag.evaluator.base import KnownVectors
from crag.evaluator.features import DOCUMENT, STRIP, Asked, centred, features, holds
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

TEXTS = {
    "en": {
        "words": "{found} of {total} rare words of the question",
        "no_words": "the question has no words to look for",
        "crossed": "question and document are in different languages",
        "similar": "best sentence {best:.2f} similar",
        "strip": "{best:.2f} similar",
        "holds": "holds {codes}",
        "lacks": "does not hold {codes}",
        "empty": "the document has no text",
        "joint": ", ",
    },
    "zh": {
        "words": "含问题的罕见词 {found}/{total}",
        "no_words": "问题中没有可查找的词",
        "crossed": "问题与文档语言不同",
        "similar": "最接近的句子相似度 {best:.2f}",
        "strip": "相似度 {best:.2f}",
        "holds": "含有 {codes}",
        "lacks": "不含 {codes}",
        "empty": "文档没有文字",
        "joint": "，",
    },
}


class LightweightEvaluator:
    """Grades by regression. Vectors come from `known`; what is missing there is embedded in one batch."""

    name = "lightweight"

    def __init__(self, embedder: Embedder, known: KnownVectors | None = None) -> None:
        shipped = files("crag").joinpath("data/lightweight.json").read_bytes()
        self.calibration = Calibration.model_validate_json(shipped)
        dimension = len(self.calibration.means["en"]["text"])
        if embedder.dimension != dimension:
            raise ConfigurationError(
                f"The lightweight evaluator is calibrated for vectors of {dimension} numbers, this embedding has "
                f"{embedder.dimension}: use the embedded embedding, or calibrate it again."
            )
        self.version = hashlib.sha256(shipped + embedder.fingerprint.encode()).hexdigest()[:12]
        self._embedder = embedder
        self._known = known

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
        vectors, causes = self._vectors(documents)
        grades = []
        for document in documents:
            if document.id in causes:
                grades.append(_ungraded(document, causes[document.id]))
            else:
                grades.append(grade_document(asked, document, vectors, self.calibration))
        return grades

    def _vectors(self, documents: Sequence[Document]) -> tuple[dict[str, Vector], dict[str, str]]:
        """(vectors by document or strip id, cause by id of each document that has no complete vectors)."""
        vectors = self._load(documents)
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


def grade_document(
    asked: Asked, document: Document, vectors: Mapping[str, Vector], calibration: Calibration
) -> DocumentGrade:
    """The grade of one document and of its strips; `vectors` holds theirs by id, each of length 1. Pure."""
    if not document.text.strip():
        empty = Grade(score=0.0, reason=TEXTS[asked.language]["empty"])
        return DocumentGrade(document=empty, strips=tuple(empty for _ in document.strips))
    lang = language(document.text)
    same = lang == asked.language
    head = calibration.heads[lang if same else "crossed"]
    texts = [strip.text for strip in document.strips]
    rows = np.stack([vectors[document.id], *(vectors[strip.id] for strip in document.strips)])
    rows = centred(rows.astype(np.float32), calibration.mean(lang, "text"))
    of_document, of_strips = features(asked, document.heading, document.text, texts, rows[0], rows[1:])
    strips = [
        _strip_grade(asked, text, row, logistic(head["strip"], row), same)
        for text, row in zip(texts, of_strips, strict=True)
    ]
    whole = f"{document.heading}\n{document.text}"
    score = _with_codes(asked, whole, logistic(head["document"], of_document))
    score = score if same or asked.only_codes else min(score, CROSSED_MOST)
    reason = _reason(asked, whole, of_document[1], "similar", same)
    named = dict(zip(DOCUMENT, (round(value, 4) for value in of_document), strict=True))
    return DocumentGrade(document=Grade(score=score, reason=reason, features=named), strips=tuple(strips))


def logistic(coefficients: Sequence[float], row: Sequence[float]) -> float:
    """The probability in [0, 1] of a regression given as intercept and coefficients."""
    x = coefficients[0] + sum(w * value for w, value in zip(coefficients[1:], row, strict=True))
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _strip_grade(asked: Asked, text: str, row: Sequence[float], score: float, same: bool) -> Grade:
    named = dict(zip(STRIP, (round(value, 4) for value in row), strict=True))
    reason = _reason(asked, text, row[0], "strip", same)
    return Grade(score=_with_codes(asked, text, score), reason=reason, features=named)


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


def _reason(asked: Asked, text: str, best: float, key: str, same: bool) -> str:
    """What speaks for and against, in the language of the question."""
    texts = TEXTS[asked.language]
    held = words_of(text)
    if not same:
        said = [texts["crossed"]]
    elif asked.rare:
        found = sum(word in held for word in asked.rare)
        said = [texts["words"].format(found=found, total=len(asked.rare))]
    else:
        said = [texts["no_words"]]
    for name, codes in (
        ("holds", [code for code in asked.codes if holds(text, code)]),
        ("lacks", [code for code in asked.codes if not holds(text, code)]),
    ):
        if codes:
            said.append(texts[name].format(codes=", ".join(code.upper() for code in codes[:3])))
    return texts["joint"].join([*said, texts[key].format(best=max(best, 0.0))])


def _texts(document: Document) -> list[tuple[str, str]]:
    """Everything of a document that needs a vector, by id."""
    if not document.text.strip():
        return []
    return [(document.id, document.text), *((strip.id, strip.text) for strip in document.strips)]


def _ungraded(document: Document, cause: str) -> DocumentGrade:
    grade = Grade(score=None, cause=cause)
    return DocumentGrade(document=grade, strips=tuple(grade for _ in document.strips))
