"""What the page shows until the first question: opening, nothing indexed, examples."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from ui_stage import (
    ADDED,
    PAGE,
    Stage,
    ended,
    html,
    messages,
)

from crag.errors import CragError, EmbeddingError
from crag.events import FileChange, FileRow, FileState


def test_while_the_house_opens_the_page_says_what_is_prepared(stage: Stage) -> None:
    told, ready = threading.Event(), threading.Event()
    opened = stage.open

    def slow(settings: Any, progress: Any) -> Any:
        progress("Converting the model", 0.4)
        told.set()
        assert ready.wait(10)
        return opened(settings, progress)

    stage.open = slow
    at = AppTest.from_file(str(PAGE), default_timeout=20).run()
    assert told.wait(5)
    at.run()
    assert at.get("progress")[0].proto.value == 40
    assert "Converting the model" in at.get("progress")[0].proto.text
    assert not at.chat_input
    ready.set()
    assert ended(at, "open").chat_input


def test_an_engine_that_cannot_be_opened_is_a_sentence_and_a_retry(stage: Stage) -> None:
    opened = stage.open

    def fails(settings: Any, progress: Any) -> Any:
        raise EmbeddingError("No engine runs here: install one.")

    stage.open = fails
    at = stage.page()
    assert "No engine runs here" in messages(at)
    stage.open = opened
    at.button(key="open-again").click().run()
    assert ended(at, "open").chat_input


def test_a_setting_that_cannot_be_used_is_named(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_UPPER", "7")
    at = AppTest.from_file(str(PAGE), default_timeout=20).run()
    assert "CRAG\\_UPPER" in messages(at)
    assert not at.exception


def test_an_empty_knowledge_base_shows_what_to_do(stage: Stage) -> None:
    stage.base.row_list = []
    at = stage.page()
    assert at.main.get("file_uploader")
    assert not at.sidebar.get("file_uploader")
    assert at.chat_input[0].disabled
    assert at.button(key="rebuild").disabled
    assert not at.sidebar.get("html") or "Knowledge base" not in html(at)


def test_files_that_are_not_indexed_yet_call_for_a_rebuild(stage: Stage) -> None:
    stage.base.row_list = []
    stage.base.change_list = [ADDED]
    at = stage.page()
    assert at.main.get("file_uploader")
    assert not at.button(key="rebuild").disabled
    assert "1 new" in [expander.label for expander in at.expander]
    assert "new.pdf" in html(at)


def test_an_example_question_is_made_from_a_heading_and_asks_it(stage: Stage) -> None:
    at = stage.page()
    assert "“Thresholds”" in at.button(key="example-0").label
    assert "阈值" in at.button(key="example-1").label
    at.button(key="example-0").click().run()
    at = ended(at)
    assert "Thresholds" in html(at)
    assert at.query_params["c"]


def test_the_same_example_is_shown_once(stage: Stage) -> None:
    stage.base.heading_list = [(f"{n}.pdf", heading) for n, heading in enumerate(["Aim", "Aim", "AIM", "Cost", "Use"])]
    shown = [button.label for button in stage.page().button if str(button.key).startswith("example-")]
    assert len(shown) == 3
    assert len({label.lower() for label in shown}) == 3


def test_a_fresh_copy_points_to_the_guide(stage: Stage) -> None:
    stage.base.row_list = []
    stage.base.change_list = [FileChange(path="crag-guide.pdf", state=FileState.ADDED)]
    assert "press Rebuild once" in "".join(info.value for info in stage.page().info)


def test_equal_files_count_their_passages_once(stage: Stage) -> None:
    copy = stage.base.row_list[0].model_copy(update={"path": "copy.pdf"})
    stage.base.row_list.append(copy)
    assert "2 files · 80 passages" in "".join(caption.value for caption in stage.page().caption)


def test_files_the_rebuild_leaves_alone_are_named(stage: Stage) -> None:
    stage.base.ignored_list = ["notes.docx"]
    assert "notes.docx" in html(stage.page())


def test_what_a_rebuild_would_do_is_computed_once_a_run(stage: Stage) -> None:
    at = stage.page()
    before = stage.base.calls
    at.run()
    assert stage.base.calls == before + 1


def test_a_catalog_that_cannot_be_read_is_told_where_it_stands(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[FileRow]:
        raise CragError("The catalog cannot be read: delete chroma_db and rebuild.")

    monkeypatch.setattr(stage.base, "rows", broken)
    at = stage.page()
    assert "The catalog cannot be read" in messages(at)
    assert not at.exception
