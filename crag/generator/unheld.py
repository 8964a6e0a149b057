"""Which words and numbers of a sentence its sources do not hold, as they stand in the sentence."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Set
from typing import Final

from crag.idf import cut, idf
from crag.text import CJK, is_cjk, normalise

MOST: Final = 8
"""So many words are named, the rarest."""

_RUN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")


def unheld(sentence: str, words: Collection[str], held: Set[str]) -> tuple[str, ...]:
    """Those of the content `words` (in compared form) that are not in `held`, as `sentence` writes them, in its order.

    Neighbouring Chinese bigrams are one word again. Numbers are left out: they are told apart.
    """
    missing = {word for word in words if word not in held and not word.isdigit()}
    found: dict[str, float] = {}
    for surface, weight in _surfaces(sentence, missing):
        found.setdefault(surface, weight)
    rarest = sorted(found, key=lambda surface: -found[surface])[:MOST]
    return tuple(surface for surface in found if surface in rarest)


def _surfaces(sentence: str, missing: Set[str]) -> Iterator[tuple[str, float]]:
    """Each stretch that is missing, with the idf of its rarest word."""
    for match in _RUN.finditer(sentence):
        run = match[0]
        if not is_cjk(run):
            if (word := cut(normalise(run))) in missing:
                yield run, idf(word)
            continue
        pairs = [normalise(run[i : i + 2]) for i in range(len(run) - 1)] or [normalise(run)]
        start = 0
        while start < len(pairs):
            end = start
            while end < len(pairs) and pairs[end] in missing:
                end += 1
            if end > start:
                yield run[start : end + 1], max(idf(pair) for pair in pairs[start:end])
            start = max(end, start + 1)
