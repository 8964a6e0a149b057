"""The rewriter W (paper, section 4.5): a question to the few keywords that are searched for."""

from __future__ import annotations

import re

from crag.idf import STOP_WORDS, cut, idf, without_function_words
from crag.text import CJK, is_cjk, tokens

MOST = 6
LONGEST = 400
"""Characters of a query; what search engines take."""

_TERM = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:[-–./_'’&+#][^\W_{CJK}]+)*[+#]*")


def keywords(question: str) -> str:
    """Two to six keywords of the question in their order and spelling, the rarest by idf; at most 400 characters.

    Never empty for a question with anything but white space: without keywords it is the question itself, cut.
    """
    terms = list(dict.fromkeys(match.group() for match in _TERM.finditer(without_function_words(question))))
    weights = {term: weight for term in terms if (weight := _weight(term)) > 0}
    rarest = sorted(weights, key=lambda term: -weights[term])[:MOST]
    query = " ".join(term for term in terms if term in rarest)
    if len(rarest) < 2:  # one keyword alone finds less than the question that it stands in
        query = " ".join(question.split())
    return query if len(query) <= LONGEST else _shortened(query)


async def by_idf(question: str) -> str:
    """`keywords`, as the seam of rewriters asks for it."""
    return keywords(question)


def _weight(term: str) -> float:
    """The idf of the rarest part of a term; 0 for a stop word and for a lone Chinese character."""
    parts = [token for token in tokens(term) if token not in STOP_WORDS and not (is_cjk(token) and len(token) == 1)]
    return max((idf(cut(part)) for part in parts), default=0.0)


def _shortened(query: str) -> str:
    """The first 400 characters, not ending in half a word where there is a space to end at."""
    head = query[:LONGEST]
    at = head.rfind(" ")
    return head[:at] if at > LONGEST // 2 and query[LONGEST] != " " else head.rstrip()
