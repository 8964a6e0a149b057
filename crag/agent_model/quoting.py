"""Text of others inside a prompt: between tags that nothing in it can open or close."""

from __future__ import annotations

import re
from typing import Final

TAGS: Final = ("knowledge", "question", "conversation", "message", "answer")
"""Those that prompts are built of, beside what chat templates and client libraries give a meaning of their own."""

_OPENS = re.compile(
    r"<(?=[/\s]*(?:"
    + "|".join(TAGS)
    + r"|system|user|assistant|human|developer|tool\w*|pyai:|think|thinking|sys|s|bos|eos|(?:start|end)_of_turn)\b"
    r"|[/\s]*[|｜]|<)",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(r"\[(?=/?\s*INST\s*\])", re.IGNORECASE)


def defused(text: str) -> str:
    """`text` in which no tag of a prompt or of a chat template begins: its `<` is `‹`, everything else is as it was."""
    return _INSTRUCTION.sub("(", _OPENS.sub("‹", text))


def block(tag: str, text: str) -> str:
    """`text`, defused, between the lines `<tag>` and `</tag>`."""
    return f"<{tag}>\n{defused(text)}\n</{tag}>"
