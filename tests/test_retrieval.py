"""Fusion keeps what either ranking is sure of."""

import pytest

from crag.retrieval import fuse


def test_a_passage_in_both_rankings_comes_before_one_in_a_single_ranking() -> None:
    assert [key for key, _ in fuse([["a", "b"], ["b", "c"]], k=3)] == ["b", "a", "c"]


def test_the_score_is_the_sum_of_reciprocal_ranks() -> None:
    assert dict(fuse([["a"], ["x", "a"]], k=2, constant=60))["a"] == pytest.approx(1 / 61 + 1 / 62)


def test_an_exact_match_found_by_words_alone_is_not_drowned() -> None:
    both = [f"p{i}" for i in range(30)]
    fused = fuse([both, ["exact", *both]], k=8)
    assert "exact" in dict(fused)
    assert len(fused) == 8


def test_a_paraphrase_found_by_vectors_alone_is_not_drowned() -> None:
    both = [f"p{i}" for i in range(30)]
    assert "paraphrase" in dict(fuse([["paraphrase", *both], both], k=8))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_small_k_is_kept_to(k: int) -> None:
    assert len(fuse([["a", "b", "c"], ["d", "e", "f"]], k=k)) == k


def test_nothing_found_gives_nothing() -> None:
    assert fuse([[], []], k=8) == []
