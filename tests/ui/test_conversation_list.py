"""The list of conversations: what a person finds there, and that it costs one query whatever is kept."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa
from streamlit.testing.v1 import AppTest
from ui_stage import CORRECT, PAGE, Stage, answered, ask, ended, events, html, labels, messages

from crag.history.conversations import Begun, Listed
from crag.ui import conversation_list, state
from crag.ui.texts import Texts


def known(at: AppTest) -> str:
    """Id of the conversation that the page shows."""
    return "".join(at.query_params.get("c", ""))


def fresh(conversation: str = "") -> AppTest:
    """The page in another tab."""
    at = AppTest.from_file(str(PAGE), default_timeout=20)
    if conversation:
        at.query_params["c"] = conversation
    return at.run()


def titles(at: AppTest) -> list[str]:
    """Titles in the list, as their buttons say them."""
    return [button.label for button in at.sidebar.button if str(button.key).startswith("talk-")]


def menu(at: AppTest, conversation: str) -> AppTest:
    """The page with the menu of a row open."""
    at.session_state[f"menu-{conversation}"] = True
    at = at.run()
    assert not at.exception
    return at


def fill(count: int) -> None:
    """Conversations that were begun some time ago."""
    kept = state.process().kept()
    for number in range(count):
        kept.begin(f"c{number}", Begun(turn_id=f"t{number}", question=f"question {number}"), f"question {number}")


def test_there_is_no_list_before_something_was_asked(stage: Stage) -> None:
    at = stage.page()
    assert "Conversations" not in html(at)
    assert titles(at) == []


def test_what_is_asked_stands_in_the_list_under_today_and_is_marked_while_it_is_open(stage: Stage) -> None:
    at = ended(ask(stage.page(), "What is a *strip*?"))
    assert titles(at) == [r"**What is a \*strip\*\?**"]
    assert "Today" in html(at)
    at.button(key="new").click().run()
    assert titles(at) == [r"What is a \*strip\*\?"]


def test_a_click_opens_it_as_it_was_after_a_restart_and_asks_nothing(stage: Stage) -> None:
    at = answered(stage)
    shown, conversation = html(at), known(at)
    state.process.clear()
    at = stage.page()
    at.button(key=f"talk-{conversation}").click().run()
    assert known(at) == conversation
    assert len(stage.histories) == 1
    at.get("button_group")[0].set_value("documents").run()
    assert not at.exception
    assert "dense passage retrieval.pdf" in html(at)
    answers = shown[shown.index("crag-question") :]
    assert answers in html(fresh(conversation))


def test_evidence_of_an_opened_conversation_says_when_its_file_is_gone(stage: Stage) -> None:
    at = answered(stage)
    state.process.clear()
    stage.page()
    stage.base.pages.gone, stage.base.row_list = True, []
    at = fresh(known(at))
    at.get("button_group")[0].set_value("on_page").run()
    assert not at.exception
    assert Texts("en")("image_gone") in "".join(info.value for info in at.info)
    assert "batch size of 128" in html(at)


def test_undo_of_another_conversation_leaves_the_open_one_open(stage: Stage) -> None:
    one = known(answered(stage))
    at = ended(ask(fresh(), "another question"))
    other = known(at)
    menu(at, one).button(key=f"delete-{one}").click().run()
    at.button(key=f"undo-{one}").click().run()
    assert known(at) == other
    assert len(titles(at)) == 2


def test_an_opened_conversation_goes_on_with_what_was_said(stage: Stage) -> None:
    at = answered(stage)
    state.process.clear()
    stage.page()
    at = ended(ask(fresh(known(at)), "and then?"))
    assert len(stage.histories) == 2
    assert [exchange.question for exchange in stage.histories[1]] == ["What batch size was used?"]


def test_search_finds_and_says_where_it_finds_nothing(stage: Stage) -> None:
    at = answered(stage)
    stage.turn = events(CORRECT, question="灯塔在哪里？")
    at = ended(ask(at.button(key="new").click().run(), "灯塔在哪里？"))
    state.process().keeping.settle()
    field = at.text_input(key=conversation_list.SEARCH)
    assert len(titles(field.set_value("灯塔").run())) == 1
    at.text_input(key=conversation_list.SEARCH).set_value("*nowhere*").run()
    assert titles(at) == []
    assert r"No conversation holds “\*nowhere\*”" in "".join(caption.value for caption in at.sidebar.caption)
    assert len(titles(at.text_input(key=conversation_list.SEARCH).set_value("").run())) == 2


def test_it_is_renamed_in_its_menu_and_emptied_named_as_before(stage: Stage) -> None:
    at = answered(stage)
    conversation = known(at)
    menu(at, conversation).text_input(key=f"title-{conversation}").set_value("Batches").run()
    assert titles(at) == ["**Batches**"]
    menu(at, conversation).text_input(key=f"title-{conversation}").set_value("").run()
    assert titles(at) == [r"**What batch size was used\?**"]


def test_a_deleted_one_leaves_its_place_to_undo_which_brings_it_back_whole(stage: Stage) -> None:
    at = answered(stage)
    conversation = known(at)
    menu(at, conversation).button(key=f"delete-{conversation}").click().run()
    assert known(at) == ""
    assert titles(at) == []
    assert titles(fresh()) == []
    assert "not known here any more" in "".join(info.value for info in fresh(conversation).info)
    at.button(key=f"undo-{conversation}").click().run()
    assert known(at) == conversation
    assert "crag-answer" in html(at)
    state.process.clear()
    assert "crag-answer" in html(stage.page() and fresh(conversation))


def test_what_was_deleted_while_it_was_answered_comes_back_with_its_answer(stage: Stage) -> None:
    stage.goes_on.clear()
    at = ask(stage.page())
    conversation = known(at)
    menu(at, conversation).button(key=f"delete-{conversation}").click().run()
    stage.goes_on.set()
    at = ended(at)
    at.button(key=f"undo-{conversation}").click().run()
    assert "crag-answer" in html(at)


def test_its_menu_exports_any_conversation_also_one_that_is_not_open(stage: Stage) -> None:
    at = answered(stage)
    conversation = known(at)
    state.process.clear()
    at = menu(stage.page(), conversation)
    assert [button.proto.label for button in at.get("download_button")] == [
        "Report with page images",
        "Text as Markdown",
        "JSON, the whole trace",
    ]


def test_thirty_at_first_and_more_on_demand(stage: Stage) -> None:
    fill(35)
    at = stage.page()
    assert len(titles(at)) == 30
    at.button(key="more-conversations").click().run()
    assert len(titles(at)) == 35
    assert "Show more" not in labels(at)


def test_the_open_one_stands_first_where_it_is_older_than_those_that_are_listed(stage: Stage) -> None:
    fill(35)
    stage.page()
    assert titles(fresh("c0"))[0] == "**question 0**"


def test_a_run_of_the_page_reads_the_list_once_and_no_conversation(stage: Stage) -> None:
    fill(40)
    at = answered(stage)
    state.process().keeping.settle()
    asked: list[str] = []
    engine = state.process().store.engine()
    sa.event.listen(engine, "before_cursor_execute", lambda *given: asked.append(given[2]))
    at.run()
    queries = [text for text in asked if text != "BEGIN"]
    assert sum("FROM conversations" in query for query in queries) == 1
    assert not any("trace" in query.replace("turns.trace IS NOT NULL", "") for query in queries)


@pytest.mark.parametrize(
    ("zone", "names"),
    [
        ("Europe/Berlin", ["today", "today", "yesterday", "last_days", "before"]),
        ("Pacific/Honolulu", ["today", "today", "today", "last_days", "last_days"]),
    ],
)
def test_days_are_those_of_the_persons_calendar(zone: str, names: list[str]) -> None:
    now = datetime(2026, 12, 2, 8, 0, tzinfo=UTC)
    times = ("2026-12-02T07:59", "2026-12-01T23:30", "2026-12-01T22:30", "2026-11-25T12:00", "2026-11-25T05:00")
    if zone == "Europe/Berlin":
        times = (*times[:4], "2026-11-24T22:30")
    rows = [Listed(id=time, title="", changed=f"{time}:00.000000+00:00") for time in times]
    groups = conversation_list.by_day(rows, now, ZoneInfo(zone))
    assert [name for name, some in groups for _ in some] == names


def test_conversations_that_cannot_be_read_are_told_and_the_page_goes_on(stage: Stage, tmp_path: Path) -> None:
    (tmp_path / ".crag").mkdir()
    (tmp_path / ".crag" / "crag.db").write_bytes(b"no database at all" * 100)
    at = answered(stage)
    assert "cannot be read or kept" in messages(at)
    assert "crag-answer" in html(at)
    assert "not kept at the moment" in "".join(warning.value for warning in at.warning)
