"""What the page says of a rebuild that makes all vectors anew, or sends texts to a service, before it starts."""

from __future__ import annotations

import pytest
from ui_stage import ADDED, Stage

from crag.events import VectorsAhead
from crag.ui import state

OLLAMA = "Ollama at http://127.0.0.1:11434"


def said(stage: Stage) -> str:
    return " ".join(info.value for info in stage.page().info).replace("\\", "").replace("\u2060", "")


def test_another_model_is_named_with_the_number_of_passages_and_who_gets_their_text(stage: Stage) -> None:
    stage.base.change_list = [ADDED]
    stage.base.ahead = VectorsAhead(
        before="multilingual-e5-small (embedded)", after="nomic-embed-text (ollama)", passages=1234, destination=OLLAMA
    )
    told = said(stage)
    assert "built with multilingual-e5-small (embedded)" in told
    assert "1,234 passages again and embeds them with nomic-embed-text (ollama)" in told
    assert f"sends the text of new and changed PDFs to {OLLAMA}" in told
    assert state.process().runtime.latest("build") is None


def test_a_newer_version_is_told_without_naming_models(stage: Stage) -> None:
    stage.base.change_list = [ADDED]
    stage.base.ahead = VectorsAhead(before="m (embedded)", after="m (embedded)", passages=1)
    assert "another version of this program: a rebuild makes its 1 passage anew." in said(stage)


def test_the_same_in_chinese(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_LANGUAGE", "zh")
    stage.base.change_list = [ADDED]
    stage.base.ahead = VectorsAhead(before="a (embedded)", after="b (ollama)", passages=7, destination=OLLAMA)
    assert "7 个段落" in said(stage)
    assert OLLAMA in said(stage)


def test_where_nothing_is_to_be_done_nothing_is_announced(stage: Stage) -> None:
    stage.base.change_list = []
    stage.base.ahead = VectorsAhead(after="b (ollama)", destination=OLLAMA)
    assert "sends the text" not in said(stage)
