"""The JSON of a trace is the whole trace, and can be read back."""

from __future__ import annotations

import json

from crag.export.forms import Form, export
from crag.export.trace_json import Conversation
from crag.schema import Trace
from crag.ui.texts import Texts


def test_a_turn_is_its_whole_trace_with_its_version(trace: Trace) -> None:
    text = export(Form.JSON, [trace], Texts("en"))
    assert json.loads(text)["schema"] == 1
    assert Trace.model_validate_json(text) == trace


def test_a_conversation_holds_its_turns_in_order(trace: Trace) -> None:
    second = trace.model_copy(update={"turn_id": "turn-2"})
    text = export(Form.JSON, [trace, second], Texts("en"), whole=True)
    read = Conversation.model_validate_json(text)
    assert read.turns == (trace, second)
    assert json.loads(text)["schema"] == 1
