"""HyDE: a drafted passage to search for."""

import pytest
from scripted_model import ScriptedModel

from crag.agent_model.base import Ledger
from crag.errors import InvalidOutputError
from crag.search.drafter import LlmDrafter


async def test_one_call_drafts_a_passage_on_one_line() -> None:
    model = ScriptedModel({"passage": "The anvil weighs\n\n50 kilograms. "})
    assert await LlmDrafter(model, Ledger())("What does the anvil weigh?") == "The anvil weighs 50 kilograms."
    (asked,) = model.asked
    assert (asked.role, asked.prompt) == ("draft", "<question>\nWhat does the anvil weigh?\n</question>")


async def test_a_passage_without_words_or_without_end_is_invalid() -> None:
    for passage in ("…", "word " * 400):
        with pytest.raises(InvalidOutputError):
            await LlmDrafter(ScriptedModel({"passage": passage}, {"passage": passage}), Ledger())("q?")
