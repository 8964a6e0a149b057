"""Text of others inside a prompt: nothing in it can be taken for a tag, a control token or a mark of the prompt."""

from __future__ import annotations

import re
from typing import Final

from crag.text import visible

TAGS: Final = ("document", "knowledge", "question", "conversation", "message", "answer")
"""Those that prompts are built of."""

_OPENS: Final = re.compile(rf"[<＜﹤](?=[^\W\d]|\s*[/|｜!?<＜﹤]|\s*(?:{'|'.join(TAGS)})\b)", re.IGNORECASE)
"""What could begin a tag or a model's control token; "x < y" and "x<5" could not."""
_MARK: Final = re.compile(r"[\[［【](\s*d\s*\d+\s*(?:s\s*\d+\s*)?)[\]］】]", re.IGNORECASE)
"""What looks like the mark of a strip that is shown to a judge."""
_INSTRUCTION: Final = re.compile(r"\[(?=/?\s*INST\s*\])", re.IGNORECASE)


def inert(text: str) -> str:
    """`text` without what no reader sees, and without the signs that begin a tag, a control token or a mark.

    Words stay as they are. The one fence around whatever files, web pages and people say in a prompt; to apply it
    twice changes nothing more.
    """
    return _INSTRUCTION.sub("(", _MARK.sub(r"(\1)", _OPENS.sub("‹", visible(text))))


def block(tag: str, text: str) -> str:
    """`text`, inert, between the lines `<tag>` and `</tag>`."""
    return f"<{tag}>\n{inert(text)}\n</{tag}>"
