"""Documents for a query: dense and lexical rankings of one catalog version, joined by reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from crag.schema import Document

DEPTH = 4
"""Each ranking is read to `DEPTH * k`."""
ASSURED = 2
"""So many of the best of *each* ranking are always among the k: a part number that only the words find, or a
paraphrase that only the vectors find, must not drown in passages that are middling in both."""


class Searchable(Protocol):
    """One pinned version of the knowledge base."""

    def contents(self, files: Collection[str]) -> Mapping[str, str]: ...

    def dense(self, vector: npt.NDArray[np.float32], n: int, contents: Collection[str] | None = None) -> list[str]: ...

    def lexical(self, question: str, n: int, contents: Collection[str] | None = None) -> list[str]: ...

    def documents(self, ids: Sequence[str]) -> list[Document]: ...


def fuse(rankings: Sequence[Sequence[str]], k: int, constant: int = 60) -> list[tuple[str, float]]:
    """The k best ids with their fused score, best first: sum of `1 / (constant + rank)` (Cormack et al. 2009).

    The `ASSURED` best of every ranking are kept whatever their sum, as far as k has room.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1.0 / (constant + rank)
    ordered = sorted(scores, key=lambda key: -scores[key])
    assured = [ranking[place] for place in range(ASSURED) for ranking in rankings if place < len(ranking)]
    chosen = set(list(dict.fromkeys([*assured, *ordered]))[:k])
    return [(key, scores[key]) for key in ordered if key in chosen]


def retrieve(
    index: Searchable,
    query: str,
    vector: npt.NDArray[np.float32],
    k: int,
    constant: int = 60,
    contents: Collection[str] | None = None,
) -> tuple[Document, ...]:
    """The k documents for `query`, whose embedding is `vector`, in fused order. Blocking.

    `contents` (sha256) limits both searches; None: everything.
    """
    dense = index.dense(vector, DEPTH * k, contents)
    lexical = index.lexical(query, DEPTH * k, contents)
    fused = fuse([dense, lexical], k, constant)
    ranks = [{key: rank for rank, key in enumerate(ranking, 1)} for ranking in (dense, lexical)]
    score = dict(fused)
    return tuple(
        document.model_copy(
            update={
                "dense_rank": ranks[0].get(document.id),
                "lexical_rank": ranks[1].get(document.id),
                "fused": score[document.id],
            }
        )
        for document in index.documents([key for key, _ in fused])
    )
