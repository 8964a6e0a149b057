"""An evaluator whose scores pass a monotone map that was learnt from labels; order and reasons stay as they are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from crag.calibrations import LogitMap
from crag.evaluator.base import Evaluator
from crag.schema import Document, DocumentGrade, Grade


class RecalibratedEvaluator:
    """Grades by another evaluator and maps its scores: one map for documents, one for strips."""

    def __init__(self, inner: Evaluator, document_map: LogitMap, strip_map: LogitMap) -> None:
        self.inner = inner
        self.name = inner.name
        maps = f"{document_map.model_dump_json()}{strip_map.model_dump_json()}"
        self.version = hashlib.sha256(f"{inner.version}{maps}".encode()).hexdigest()[:12]
        self._document_map = document_map
        self._strip_map = strip_map

    async def grade(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
        """See `Evaluator.grade`. What is ungraded stays so."""
        return [
            remapped(grade, self._document_map, self._strip_map)
            for grade in await self.inner.grade(question, documents)
        ]


def remapped(grade: DocumentGrade, document_map: LogitMap, strip_map: LogitMap) -> DocumentGrade:
    """The grade with its scores mapped; reasons, causes and features are kept. Pure."""
    document = _mapped(grade.document, document_map)
    strips = tuple(_mapped(strip, strip_map) for strip in grade.strips)
    return grade.model_copy(update={"document": document, "strips": strips})


def _mapped(grade: Grade, by: LogitMap) -> Grade:
    return grade if grade.score is None else grade.model_copy(update={"score": by(grade.score)})
