"""The answer where nothing covers the question: it says so, names the nearest documents, and invents nothing."""

from __future__ import annotations

from collections.abc import Sequence

from crag.schema import GradedDocument
from crag.text import language

NEAREST = 3

TEXTS = {
    "en": (
        "The knowledge base does not cover this question.",
        " Nearest documents: {places}.",
        "{file}, page {page}",
        "; ",
    ),
    "zh": ("知识库没有涵盖这个问题。", "最接近的文档：{places}。", "{file}，第 {page} 页", "；"),
}
IN_VAIN = {
    "en": "The knowledge base does not cover this question, and a web search for “{query}” found no answer either.",
    "zh": "知识库没有涵盖这个问题，在网络上搜索“{query}”也没有找到答案。",
}


def not_covered(question: str, documents: Sequence[GradedDocument], searched: str | None = None) -> str:
    """One plain sentence in the question's language, and the best graded places (at most 3, each once).

    Ungraded documents come last, in rank order: their nearness is only that they were retrieved. `searched` is the
    query for which the web was searched in vain.
    """
    says, nearest, place, separator = TEXTS[language(question)]
    if searched is not None:
        says = IN_VAIN[language(question)].format(query=searched)
    ranked = sorted(documents, key=lambda document: -1.0 if document.score is None else document.score, reverse=True)
    places = dict.fromkeys(place.format(file=" ".join(doc.file.split()), page=doc.page) for doc in ranked)
    if not places:
        return says
    return says + nearest.format(places=separator.join(list(places)[:NEAREST]))
