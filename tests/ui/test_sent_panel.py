"""The Refined context panel shows what the writing model was given, by where it is from."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from ui_stage import CORRECT, Stage, answered, events, html, open_panel

from crag.events import Finished, TurnEvent
from crag.schema import ModelCall, Origin, SentPart
from crag.ui.panels import sent
from crag.ui.texts import Texts

PARTS = (
    SentPart(role="system", origin=Origin.INSTRUCTIONS, text="Answer <b>briefly</b>.\n- so"),
    SentPart(role="user", origin=Origin.INSTRUCTIONS, text="<knowledge>\n"),
    SentPart(role="user", origin=Origin.LOCAL, text="[1] a.pdf, page 1\nIt is 128.\n\n"),
    SentPart(role="user", origin=Origin.WEB, text="[2] https://a.example\nIt is 256."),
    SentPart(role="user", origin=Origin.INSTRUCTIONS, text="\n</knowledge>\n\n"),
    SentPart(role="user", origin=Origin.QUESTION, text="What size?"),
)
CALL = ModelCall(role="generate", model="openai:m", seconds=1, tokens_in=57, tokens_out=7)


def turn(**changed: Any) -> list[TurnEvent]:
    *before, last = events(CORRECT)
    assert isinstance(last, Finished)
    fields = {"generator": "openai:m", "sent": PARTS, "calls": (CALL,)}
    return [*before, Finished(trace=last.trace.model_copy(update=fields | changed))]


def captions(at: Any) -> str:
    return "\n".join(caption.value for caption in at.caption).replace("\\", "").replace("\u2060", "")


def test_what_is_shown_and_copied_is_what_was_sent_byte_for_byte(stage: Stage) -> None:
    stage.turn = turn()
    shown = html(open_panel(answered(stage), "refined_context"))
    messages = re.findall(r"<div class='crag-sent'.*?</div>", shown, re.DOTALL)
    visible = [re.sub(r"<small>.*?</small>|<span class='crag-spoken'>.*?</span>", "", message) for message in messages]
    plain = [unescape(re.sub(r"<[^>]+>", "", message)) for message in visible]
    whole = "".join(part.text for part in PARTS)
    assert "".join(plain) == whole
    copied = [unescape(data) for data in re.findall(r"data-text='([^']*)'", shown)]
    assert whole in copied


def test_each_part_has_its_colour_and_its_name_and_its_share_of_the_tokens(stage: Stage) -> None:
    stage.turn = turn()
    at = open_panel(answered(stage), "refined_context")
    shown = html(at)
    for origin, name in (("local", "your documents"), ("web", "web"), ("question", "question")):
        assert f"<span class='crag-from-{origin}'><span class='crag-spoken'>{name}: </span>" in shown
        assert re.search(rf"crag-from crag-from-{origin}'><b>{name}</b> about \d+<", shown)
    assert "crag-from-history" not in shown, "nothing of the conversation was sent"
    assert "57 tokens as openai:m counts them" in captions(at)
    assert "Given to the generator" not in "".join(m.value for m in at.markdown)


def test_where_the_server_does_not_count_the_length_is_an_estimate() -> None:
    last = turn(calls=(CALL.model_copy(update={"tokens_in": None}),))[-1]
    assert isinstance(last, Finished)
    assert sent.length(last.trace, Texts("en")).startswith("about ")
    assert sent.length(last.trace, Texts("zh")).startswith("约 ")


@pytest.mark.parametrize("changed", [{"generator": "extractive"}])
def test_where_quotes_stood_in_both_what_was_sent_and_what_was_quoted_from_are_shown(
    stage: Stage, changed: dict[str, Any]
) -> None:
    stage.turn = turn(**changed)
    at = open_panel(answered(stage), "refined_context")
    said = "".join(m.value for m in at.markdown)
    assert "Sent to the model" in said
    assert "Given to the generator" in said
    assert "openai:m" in captions(at)


def test_without_a_model_nothing_was_sent(stage: Stage) -> None:
    at = open_panel(answered(stage), "refined_context")
    assert "Sent to the model" not in "".join(m.value for m in at.markdown)
