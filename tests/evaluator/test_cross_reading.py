"""What the cross-encoder adds to the lightweight evaluator: what is read, what it changes, what a failure leaves."""

from collections.abc import Sequence

import numpy as np
import pytest

from config import load_settings
from crag.embedding.base import Embedder
from crag.embedding.loading import load_cross
from crag.errors import EmbeddingError
from crag.evaluator.lightweight import LightweightEvaluator
from crag.refinement import decompose
from crag.schema import Document, Span

QUESTION = "Who stayed in orbit while Armstrong walked on the Moon?"
APOLLO = (
    "The Apollo program landed the first humans on the Moon in July 1969. Neil Armstrong and Buzz Aldrin walked on the "
    "lunar surface while Michael Collins stayed in orbit."
)
NEAR = (
    "Neil Armstrong was born in Ohio and flew as a naval aviator before he walked on the Moon. He taught engineering "
    "in Cincinnati afterwards."
)
BREAD = "Sourdough bread rises by wild yeast and lactic acid bacteria. The starter is fed with flour every day."


def document(text: str, id_: str) -> Document:
    span = Span(page=1, start=0, end=len(text))
    return Document(id=id_, content="c", files=("a.pdf",), text=text, spans=(span,), strips=decompose(text))


class Scripted:
    """A cross-encoder that says what the test wants and keeps what it was asked."""

    fingerprint = "scripted"

    def __init__(self, logit: float = 0.0, refused: str = "") -> None:
        self.logit, self.refused = logit, refused
        self.read: list[str] = []

    def logits(self, pairs: Sequence[tuple[str, str, Sequence[str]]]) -> list[np.ndarray]:
        if any(self.refused and self.refused in " ".join(strips) for _, _, strips in pairs):
            raise EmbeddingError("The evaluator's model failed.")
        self.read += [" ".join(strips) for _, _, strips in pairs]
        return [np.full(len(strips), self.logit - np.log(len(strips)), np.float32) for _, _, strips in pairs]


async def test_what_plainly_does_not_answer_is_not_read(embedder: Embedder) -> None:
    cross = Scripted()
    evaluator = LightweightEvaluator(embedder, cross=cross)
    await evaluator.grade(QUESTION, [document(APOLLO, "d1"), document(BREAD, "d2")])
    assert len(cross.read) == 1
    assert "Collins" in cross.read[0]


async def test_its_judgement_moves_the_documents_score_and_not_the_strips(embedder: Embedder) -> None:
    grades = {}
    for logit in (-4.0, 4.0):
        evaluator = LightweightEvaluator(embedder, cross=Scripted(logit))
        (grades[logit],) = await evaluator.grade(QUESTION, [document(NEAR, "d")])
    low, high = grades[-4.0], grades[4.0]
    assert (high.document.score or 0) > (low.document.score or 0) + 0.2
    assert [strip.score for strip in low.strips] == [strip.score for strip in high.strips]
    assert "read with the question 0.98" in high.document.reason
    assert high.document.features["cross_encoder"] == pytest.approx(4.0, abs=0.01)


async def test_a_text_that_it_fails_on_stays_ungraded_and_the_others_are_graded(embedder: Embedder) -> None:
    evaluator = LightweightEvaluator(embedder, cross=Scripted(refused="Cincinnati"))
    good, bad, plain = await evaluator.grade(
        QUESTION, [document(APOLLO, "a"), document(NEAR, "n"), document(BREAD, "b")]
    )
    assert good.document.score is not None
    assert bad.document.score is None
    assert "failed" in (bad.document.cause or "")
    assert plain.document.score is not None


async def test_grades_with_and_without_it_have_different_versions(embedder: Embedder) -> None:
    assert LightweightEvaluator(embedder).version != LightweightEvaluator(embedder, cross=Scripted()).version


async def test_the_real_one_puts_the_answer_before_a_near_topic(embedder: Embedder) -> None:
    cross = load_cross(embedder, load_settings().cache_dir).engine
    right, near = await LightweightEvaluator(embedder, cross=cross).grade(
        QUESTION, [document(APOLLO, "a"), document(NEAR, "n")]
    )
    assert (right.document.score or 0) >= 0.7
    assert (right.document.score or 0) > (near.document.score or 0)
    assert right.document.features["cross_encoder"] > near.document.features["cross_encoder"]
