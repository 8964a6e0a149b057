"""The export under an answer and of the conversation: made on a click, and nothing before."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest
from ui_stage import Stage, answered, ask, ended

from crag.export.forms import Form
from crag.schema import Trace
from crag.ui import exporting, state
from crag.ui.texts import Texts


def opened(at: AppTest, key: str) -> AppTest:
    """The page after a click on an export."""
    at.session_state[f"export-{key}"] = True
    at = at.run()
    assert not at.exception
    return at


def traces() -> list[Trace]:
    (conversation,) = state.process().talks.all()
    return [turn.trace for turn in conversation.turns if turn.trace]


def buttons(at: AppTest) -> list[str]:
    return [button.proto.label for button in at.get("download_button")]


def test_the_buttons_are_there_once_it_is_opened(stage: Stage) -> None:
    at = answered(stage)
    assert buttons(at) == []
    at = opened(at, traces()[0].turn_id)
    assert buttons(at) == ["Report with page images", "Text as Markdown", "JSON, the whole trace"]


def test_the_conversation_can_be_exported_from_its_second_answer_on(stage: Stage) -> None:
    at = answered(stage)
    label = "Export the conversation"
    assert label not in str(at.main)
    at = ended(ask(at, "and then?"))
    (conversation,) = state.process().talks.all()
    at = opened(at, conversation.id)
    assert len(buttons(at)) == 3


def test_what_a_click_makes_is_the_report_with_the_page_images_of_this_knowledge_base(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {}
    original = exporting.st.download_button

    def noted(label: str, **given: object) -> bool:
        made[str(given["mime"])] = given["data"]
        return bool(original(label, **given))

    monkeypatch.setattr(exporting.st, "download_button", noted)
    at = answered(stage)
    opened(at, traces()[0].turn_id)
    page = made["text/html"]().decode()
    assert "data:image/png;base64," in page
    assert json.loads(made["application/json"]())["turn_id"] == traces()[0].turn_id
    assert made["text/markdown"]().decode().startswith("# What batch size was used?")


@pytest.mark.parametrize("form", Form)
def test_every_form_has_a_name_an_icon_and_a_kind(form: Form) -> None:
    assert Texts("zh")(f"export_as_{form}")
    assert exporting.ICONS[form]
    assert "/" in exporting.MIME[form]
