"""The JSON of traces, for machines: docs/trace.md describes every field."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import ConfigDict, Field

from crag.schema import TRACE_SCHEMA, Frozen, Trace


class Conversation(Frozen):
    """The turns of a conversation, the oldest first."""

    model_config = ConfigDict(serialize_by_alias=True)

    schema_version: Literal[1] = Field(default=TRACE_SCHEMA, alias="schema")
    turns: tuple[Trace, ...]


def as_json(traces: Sequence[Trace], whole: bool) -> str:
    """The trace itself for one turn; with `whole` a conversation, of however many turns."""
    made = Conversation(turns=tuple(traces)) if whole else traces[0]
    return made.model_dump_json(indent=2) + "\n"
