"""docs/trace.md names every field of a trace, and nothing that is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from crag.export.trace_json import Conversation

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "trace.md").read_text(encoding="utf-8")
SCHEMA = Conversation.model_json_schema(mode="serialization")
PARTS = {**SCHEMA["$defs"], "Conversation": SCHEMA}


def section(name: str) -> str:
    found = re.search(rf"^## {name}$(.*?)(?=^## |\Z)", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert found, f"docs/trace.md has no section {name}"
    return found[1]


@pytest.mark.parametrize("name", PARTS)
def test_every_field_and_every_value_is_described(name: str) -> None:
    part = PARTS[name]
    if "enum" in part:
        assert re.findall(r"^- `(.+?)`", section(name), re.MULTILINE) == part["enum"]
        return
    rows = re.findall(r"^\| `(\w+)` \| .+? \| (.+?) \|$", section(name), re.MULTILINE)
    assert [field for field, _ in rows] == list(part["properties"])


def test_no_section_describes_what_is_not_there() -> None:
    assert set(re.findall(r"^## (\w+)$", DOCUMENT, re.MULTILINE)) == set(PARTS)


def test_every_link_leads_to_a_section() -> None:
    sections = {name.lower() for name in PARTS}
    assert set(re.findall(r"\]\(#(\w+)\)", DOCUMENT)) <= sections
