"""A prompt as parts that tell where each comes from, so that what is shown as sent is what was sent."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from crag.agent_model.quoting import block
from crag.refinement import as_text
from crag.schema import Origin, SentPart, Source

Told = tuple[Origin, str]
"""A piece of a prompt, and where it comes from."""


def sent(instructions: str, prompt: Iterable[Told]) -> tuple[SentPart, ...]:
    """Both messages as parts; neighbours of one origin are one part, empty ones are left out."""
    system = SentPart(role="system", origin=Origin.INSTRUCTIONS, text=instructions)
    grouped = itertools.groupby((piece for piece in prompt if piece[1]), key=lambda piece: piece[0])
    texts = ((origin, "".join(text for _, text in group)) for origin, group in grouped)
    return (system, *(SentPart(role="user", origin=origin, text=text) for origin, text in texts))


def prompt_of(parts: Iterable[SentPart]) -> str:
    """What the model reads as the user's message."""
    return "".join(part.text for part in parts if part.role == "user")


def between_tags(tag: str, held: Sequence[Told]) -> list[Told]:
    """`block` in pieces: it is made of the whole, since a tag could begin in one piece and end in the next."""
    whole = block(tag, "".join(text for _, text in held))
    at = len(f"<{tag}>\n")
    pieces: list[Told] = [(Origin.INSTRUCTIONS, whole[:at])]
    for origin, text in held:  # defusing changes signs, no length
        pieces.append((origin, whole[at : at + len(text)]))
        at += len(text)
    return [*pieces, (Origin.INSTRUCTIONS, whole[at:])]


def of_sources(sources: Sequence[Source]) -> list[Told]:
    """The text of the knowledge, source by source."""
    ends = [len(as_text(sources[: number + 1])) for number in range(len(sources))]
    whole, starts = as_text(sources), [0, *ends]
    return [
        (Origin.WEB if source.url else Origin.LOCAL, whole[start:end])
        for source, (start, end) in zip(sources, itertools.pairwise(starts), strict=True)
    ]
