"""What families of embedding models want to read in front of a question and of a passage: from their model cards."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_TASK: Final = "Given a web search query, retrieve relevant passages that answer the query"


class Prefixes(NamedTuple):
    """A family's own words. `version` enters the fingerprint: other words give other vectors."""

    version: str
    query: str = ""
    passage: str = ""


NONE: Final = Prefixes("none")
_BGE: Final = "Represent this sentence for searching relevant passages: "

FAMILIES: Final[tuple[tuple[str, Prefixes], ...]] = (
    (r"e5.*instruct", Prefixes("e5-instruct-1", f"Instruct: {_TASK}\nQuery: ")),
    (r"(^|[^a-z0-9])e5[^a-z0-9]", Prefixes("e5-1", "query: ", "passage: ")),
    (r"nomic-embed-text", Prefixes("nomic-1", "search_query: ", "search_document: ")),
    (r"bge-m3|bge-multilingual", NONE),
    (r"bge-.*zh", Prefixes("bge-zh-1", "为这个句子生成表示以用于检索相关文章：")),
    (r"bge-(small|base|large)", Prefixes("bge-1", _BGE)),
    (r"mxbai-embed", Prefixes("mxbai-1", _BGE)),
    (r"arctic-embed.*(2\.0|2$|2:)", Prefixes("arctic-2", "query: ")),
    (r"arctic-embed", Prefixes("arctic-1", _BGE)),
    (r"qwen3-embedding", Prefixes("qwen3-1", f"Instruct: {_TASK}\nQuery:")),
    (r"embeddinggemma", Prefixes("gemma-1", "task: search result | query: ", "title: none | text: ")),
)
"""Pattern of the name, as servers call it, and what the family wants; the first that fits counts."""


def prefixes_of(model: str) -> Prefixes:
    """Those of the family that `model`, with or without its maker and tag, belongs to; none where it is unknown."""
    name = model.lower().replace("_", "-")
    return next((prefixes for pattern, prefixes in FAMILIES if re.search(pattern, name)), NONE)
