"""What CRAG is held against is defined fairly: plain RAG ranks and quotes as said, and only quotes count as answers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import httpx
import numpy as np
import pytest

from bench._answers import paired_difference, quoted
from bench._tutorial import fixed_latency_chat, tutorial_crag
from crag.embedding.base import Vectors
from crag.plain_rag import plain_quotes, ranked
from crag.refinement import decompose
from crag.schema import EvaluatorName, Thresholds, Trace

QUESTION = "Which river flows through Warsaw?"
NEAR, HALF, FAR = "The Vistula is a river.", "Warsaw lies on a river.", "Bread is baked from flour."
COSINES = {QUESTION: 1.0, NEAR: 0.9, HALF: 0.88, FAR: 0.1}


class Angles:
    """An embedder whose vectors have the cosines above with the question's."""

    fingerprint, dimension = "angles", 2

    def embed_query(self, text: str) -> Vectors:
        found: Vectors = self.embed_passages([text])[0]
        return found

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        cosines = [COSINES.get(text, 0.0) for text in texts]
        return np.array([[cosine, math.sqrt(1 - cosine**2)] for cosine in cosines], dtype=np.float32)


def order(*strips: str) -> list[str]:
    engine = Angles()
    return ranked(QUESTION, engine.embed_query(QUESTION), strips, engine.embed_passages(strips))


def test_plain_rag_ranks_by_cosine_and_shared_words_tip_the_balance() -> None:
    assert order(FAR, NEAR, HALF) == [HALF, NEAR, FAR]
    assert order(FAR, "A city without any name.", NEAR)[0] == NEAR


def test_plain_rag_quotes_three_strips_without_repeats_and_always_answers() -> None:
    found = plain_quotes(Angles(), QUESTION, [FAR, HALF, HALF, NEAR, "Nothing of the kind."])
    assert found == [HALF, NEAR, FAR]
    assert plain_quotes(Angles(), QUESTION, [FAR]) == [FAR]


def test_known_vectors_are_used_instead_of_embedding_again() -> None:
    known = {FAR: np.array([1.0, 0.0], dtype=np.float32)}
    assert plain_quotes(Angles(), QUESTION, [NEAR, FAR], known)[0] == FAR


def trace(answer: str, covered: bool) -> Trace:
    name = EvaluatorName(name="lightweight", version="1")
    return Trace(
        turn_id="t",
        created="",
        question="How many?",
        k=8,
        thresholds=Thresholds(),
        evaluator=name,
        generator="extractive",
        answer=answer,
        covered=covered,
    )


def test_digits_of_citations_and_refusals_are_no_answer() -> None:
    answer = "From your documents:\n\n“It has 50 [sic] rooms.” [7]\n\n“It is old.” [12]"
    assert quoted(trace(answer, covered=True)).split() == ["It", "has", "50", "[sic]", "rooms.", "“It", "is", "old."]
    assert quoted(trace("The knowledge base does not cover this. Nearest: a.pdf, page 7.", covered=False)) == ""


def test_the_paired_difference_is_in_points_and_draws_a_questions_outcomes_together() -> None:
    assert paired_difference([True, False], [True, False], ["a", "b"]) == (0.0, 0.0, 0.0)
    assert paired_difference([True] * 9, [False] * 9, list("abcdefghi")) == (100.0, 100.0, 100.0)
    first, second = [True, True] * 20, [True, False] * 20
    points, low, high = paired_difference(first, second, list(range(40)))
    assert points == pytest.approx(50.0)
    assert 25 < low < 45 < 55 < high < 75
    together = paired_difference(first, second, [number // 2 for number in range(40)])
    assert together == pytest.approx((50.0, 50.0, 50.0))  # every question has won once and drawn once


def test_tutorial_crag_makes_one_call_per_document_per_strip_and_for_the_answer() -> None:
    chunks = ["The Vistula flows through Warsaw. " * 20, "Bread is baked from flour."]
    strips = sum(len(decompose(chunk)) for chunk in chunks)
    with fixed_latency_chat(0.0) as url, httpx.Client(base_url=url) as client:
        calls, seconds = tutorial_crag(client, QUESTION, chunks)
    assert strips > len(chunks) - 1
    assert calls == len(chunks) + strips + 1
    assert seconds > 0
