"""The Compare panel: what it offers, the answers side by side, and what each column says of itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from ui_stage import CORRECT, INCORRECT, Stage, answered, ended, events, html, labels, messages, open_panel

from config import Settings
from crag.compare import Compared, Way
from crag.generator.citations import check
from crag.refinement import recompose
from crag.runtime import Job
from crag.schema import Trace


def compared(answer: str, **changed: object) -> Callable[..., Any]:
    """In place of the assembled parts: another way to answer that gives this."""

    def begin(house: object, settings: Settings, trace: Trace, way: Way) -> Callable[[Job[Any]], AsyncIterator[Any]]:
        async def source(job: Job[Any]) -> AsyncIterator[Any]:
            given = recompose([strip for strip in trace.strips if strip.kept]) if way is Way.PLAIN else recompose([])
            checked = check(answer, given, given.strips)
            fields = {"answer": answer, "sources": given.sources, "check": checked, "knowledge": given.text} | changed
            yield Compared(way=way, generator="openai:m", seconds=1.25, **fields)

        return source

    return begin


def compare(stage: Stage, *buttons: str) -> AppTest:
    at = open_panel(answered(stage), "compare")
    for label in buttons:
        next(button for button in at.button if button.label == label).click().run()
        at = ended(at, "compare")
    assert not at.exception
    return at


def captions(at: AppTest) -> str:
    return "\n".join(caption.value for caption in at.caption).replace("\\", "").replace("\u2060", "")


def test_nothing_is_asked_before_a_click(stage: Stage) -> None:
    at = compare(stage)
    assert {"No retrieval", "Plain RAG"} <= set(labels(at))
    assert "Nothing is compared yet" in captions(at)


def test_the_other_answer_stands_beside_this_one_with_its_sources_and_what_holds(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crag.assembly.compared", compared("Penguins fly to the moon [1]. <img src=x>"))
    at = compare(stage, "Plain RAG")
    shown = html(at)
    assert "Penguins fly" in shown
    assert "<img" not in shown
    assert "0 of 2 sentences supported" in captions(at)
    assert "1.2 s · 0 calls" in captions(at)
    assert any("CRAG: this answer" in text.value and "Correct" in text.value for text in at.markdown)


def test_an_answer_with_no_retrieval_says_that_nothing_in_it_can_be_checked(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crag.assembly.compared", compared("About 128."))
    assert "It names no source" in captions(compare(stage, "No retrieval"))


def test_why_there_is_no_other_answer_stands_in_its_column(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crag.assembly.compared", compared("", error="Without a *model* there is none."))
    assert "Without a *model* there is none." in captions(compare(stage, "No retrieval"))


def test_other_settings_run_the_whole_flow_and_this_answer_stays(stage: Stage) -> None:
    at = open_panel(answered(stage), "compare")
    asked = len(stage.histories)
    stage.turn = events(INCORRECT, INCORRECT)
    at.slider(key=next(s.key for s in at.slider if s.label == "Documents" and s.key)).set_value(3).run()
    next(button for button in at.button if button.label == "Answer under these settings").click().run()
    at = ended(at, "compare")
    assert stage.histories[asked:] == [()]
    assert any("Other settings" in text.value and "Incorrect" in text.value for text in at.markdown)
    assert any("CRAG: this answer" in text.value and "Correct" in text.value for text in at.markdown)


def test_settings_that_cannot_be_used_are_named_where_they_were_chosen(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_LLM_PROVIDER", "openai")
    monkeypatch.setenv("CRAG_LLM_MODEL", "m")
    stage.turn = events(CORRECT)
    at = open_panel(answered(stage), "compare")
    next(box for box in at.text_input if box.label == "Model that writes").set_value(" ").run()
    next(button for button in at.button if button.label == "Answer under these settings").click().run()
    assert "openai needs the name of a model" in messages(at)
