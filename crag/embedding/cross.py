"""e5 with its adapter as a cross-encoder on ONNX Runtime: one question and one document in, a logit per strip out.

Both go through together, `<s> query: Q </s> passage: HEADING S1 S2 ... </s>`, so that every word of the document is
read in the light of the question and of the sentences around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crag.embedding.e5 import TextTokens, cores, open_session
from crag.embedding.tokenizer import MAX_TOKENS, PASSAGE, QUERY, clean
from crag.errors import EmbeddingError

LONGEST_QUESTION = 130
"""Tokens of a question, with its ends; the rest of a longer one is not read."""
LONGEST_HEADING = 40
QUESTION_PLACE, NO_PLACE = -2, -1

Logits = npt.NDArray[np.float32]
PairOf = tuple[str, str, Sequence[str]]
"""(question, heading, texts of the document's strips)."""


def pair_tokens(
    encode: Callable[[str], list[int]], pair: PairOf, longest: int = MAX_TOKENS
) -> tuple[list[int], list[int]]:
    """(token ids, place of each): QUESTION_PLACE, the strip's number from 0, or NO_PLACE for what frames them.

    `encode` gives ids with `<s>` and `</s>`. At most `longest` tokens: the strips beyond them have no place.
    """
    question, heading, strips = pair
    asked = encode(QUERY + clean(question))
    end = asked[-1]
    ids = [*asked[:LONGEST_QUESTION][:-1], end]
    places = [NO_PLACE, *[QUESTION_PLACE] * (len(ids) - 1)]
    frame = encode((PASSAGE + clean(heading)).strip())[1:-1][:LONGEST_HEADING]
    ids += frame
    places += [NO_PLACE] * len(frame)
    for number, strip in enumerate(strips):
        piece = encode(clean(strip))[1:-1][: longest - 1 - len(ids)]
        ids += piece
        places += [number] * len(piece)
    return [*ids, end], [*places, NO_PLACE]


def members_of(places: Sequence[int], strips: int) -> npt.NDArray[np.float32]:
    """The averaging matrix, shape (1 + strips, tokens): the question's row, then one per strip; absent: zeros."""
    numbers = np.array([QUESTION_PLACE, *range(strips)])
    members = (np.array(places)[None, :] == numbers[:, None]).astype(np.float32)
    counts = np.maximum(members.sum(axis=1, keepdims=True), 1.0)
    return np.asarray(members / counts, dtype=np.float32)


class CrossE5:
    """Scores strips against a question; each pair alone on one thread, so a logit depends on its pair alone.

    `threads` (0: all cores) bounds how many pairs run at once. Raises EmbeddingError where `model` cannot be loaded.
    """

    def __init__(self, model: Path, tokens: TextTokens, fingerprint: str, threads: int = 0) -> None:
        self.fingerprint = fingerprint
        self._tokens = tokens
        self._session = open_session(model)
        self._pool = ThreadPoolExecutor(threads or cores(), thread_name_prefix="cross")

    def logits(self, pairs: Sequence[PairOf]) -> list[Logits]:
        """Per pair one logit for each of its strips, NaN for those beyond 512 tokens. Raises EmbeddingError."""
        return list(self._pool.map(self._one, pairs))

    def _one(self, pair: PairOf) -> Logits:
        strips = len(pair[2])
        ids, places = pair_tokens(self._tokens, pair)
        members = members_of(places, strips)
        try:
            (found,) = self._session.run(["logits"], {"input_ids": np.array([ids], np.int64), "members": members})
        except Exception as error:  # ONNX Runtime raises bare Exception
            raise EmbeddingError(f"The evaluator's model failed on a text of {len(ids)} tokens: {error}") from error
        return np.where(members[1:].any(axis=1), found, np.nan).astype(np.float32)
