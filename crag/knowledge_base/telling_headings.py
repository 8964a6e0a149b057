"""Which headings tell what stands below them, so that a question can be made of one."""

from __future__ import annotations

from crag.text import language, tokens

_UNTELLING = {
    *(
        "contents",
        "table of contents",
        "references",
        "bibliography",
        "index",
        "abstract",
        "appendix",
        "acknowledgements",
    ),
    *("introduction", "summary", "notes", "目录", "参考文献", "摘要", "附录", "前言", "引言"),
}
"""Headings that make no example question."""


def is_telling(heading: str) -> bool:
    """Whether the last part of `heading` is neither a code, nor of every book, nor overlong."""
    title = heading.rpartition(" › ")[2].strip()
    letters = sum(char.isalpha() for char in title)
    words = title.split()
    if (
        sum(word.strip("\"'()“”‘’,.:;!?-–—…").isalpha() for word in words) * 3 < len(words) * 2
        and language(title) == "en"
    ):
        return False  # codes, or the letters of a font without a character map
    plain = " ".join(token for token in tokens(title) if not token.isdigit())
    return 4 <= letters <= 60 and plain not in _UNTELLING and title.lower() not in _UNTELLING
