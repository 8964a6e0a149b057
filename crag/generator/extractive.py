"""The embedded generator: quotes the best strips word for word, each with its citation, and says that it quotes."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from crag.errors import GenerationError
from crag.idf import coverage, words_of
from crag.pieces import Piece, Text
from crag.refinement import merge, neighbours
from crag.schema import Fate, GradedStrip, Knowledge
from crag.text import language

LEAD_IN = {"en": "From your documents:", "zh": "以下是文档原文："}
WEB_LEAD_IN = {"en": "From the web:", "zh": "以下是网页原文："}
BOTH_LEAD_IN = {"en": "From your documents and the web:", "zh": "以下是文档和网页原文："}
NEAR_DUPLICATE = 0.9
"""A strip whose words (by idf) stand to this share in one quoted already adds nothing."""


PADDING = 0.75
"""A strip with less than this share of the best score only pads the answer, unless it stands beside a quoted one."""


class ExtractiveGenerator:
    """Answers with at most `quotes` strips of the knowledge, best first; neighbouring strips are one quote."""

    name = "extractive"

    def __init__(self, quotes: int = 3) -> None:
        self.quotes = quotes

    async def stream(self, question: str, knowledge: Knowledge) -> AsyncGenerator[Piece]:
        """The lead-in, then one paragraph per quote. Raises GenerationError where there is nothing to quote."""
        chosen = best_strips(_in_language(knowledge.strips, language(question)), self.quotes)
        if not chosen:
            raise GenerationError("There is no evidence to quote from: lower the strip threshold or ask otherwise.")
        number = {id_: source.n for source in knowledge.sources for id_ in source.strips}
        yield Text(lead_in(chosen, question))
        for run in quotes_of(chosen):
            yield Text(f"\n\n“{merge(run)}” [{number[run[0].id]}]")


def lead_in(chosen: Sequence[GradedStrip], question: str) -> str:
    """What is said before the quotes: where they come from, in the language of the question."""
    kinds = {strip.url is not None for strip in chosen}
    return (BOTH_LEAD_IN if len(kinds) > 1 else WEB_LEAD_IN if True in kinds else LEAD_IN)[language(question)]


def _in_language(strips: Sequence[GradedStrip], asked: str) -> list[GradedStrip]:
    """Without strips in another language than the question's that one in its own language equals: across languages
    a score is less certain, and a reader expects the quote in the language of the question."""
    best = max((strip.score or 0.0 for strip in strips if language(strip.text) == asked), default=0.0)
    return [s for s in strips if language(s.text) == asked or (s.score or 0.0) > best or s.fate is Fate.KEPT_BY_HAND]


def best_strips(strips: Sequence[GradedStrip], most: int) -> list[GradedStrip]:
    """The `most` strips with the highest scores, best first, without those that repeat or pad a better one.

    What a person keeps goes before all others, and is no padding.
    """
    chosen: list[GradedStrip] = []
    for strip in sorted(strips, key=lambda s: (s.fate is not Fate.KEPT_BY_HAND, -(s.score or 0.0), s.order)):
        weak = any((strip.score or 0.0) < PADDING * (other.score or 0.0) for other in chosen)
        if (
            weak
            and strip.fate is not Fate.KEPT_BY_HAND
            and not any(neighbours(strip, other) or neighbours(other, strip) for other in chosen)
        ):
            continue
        words = words_of(strip.text)
        if len(chosen) < most and all(coverage(words, words_of(other.text)) < NEAR_DUPLICATE for other in chosen):
            chosen.append(strip)
    return chosen


def quotes_of(chosen: Sequence[GradedStrip]) -> list[list[GradedStrip]]:
    """Runs of neighbouring strips of one page in document order; the run with the best strip first."""
    runs: list[list[GradedStrip]] = []
    for strip in sorted(chosen, key=lambda strip: strip.order):
        if runs and runs[-1][-1].page == strip.page and neighbours(runs[-1][-1], strip):
            runs[-1].append(strip)
        else:
            runs.append([strip])
    return sorted(runs, key=lambda run: -max(strip.score or 0.0 for strip in run))
