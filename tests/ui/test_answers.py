"""What the page shows of a turn: running, each action, its panels, stopped, failed; and of its conversation."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest
from ui_stage import (
    AMBIGUOUS,
    CORRECT,
    INCORRECT,
    INDEXED,
    PAGE,
    Stage,
    answered,
    ask,
    ended,
    events,
    html,
    labels,
    messages,
    open_panel,
    scripts,
)

from crag.errors import CragError
from crag.events import Finished
from crag.ui import chat, spoken, state
from crag.ui.panels.documents import LONGEST_NAME, short

PANELS = ("documents", "refined_context", "second_look", "timing")


def test_a_running_turn_shows_action_steps_and_stop_before_it_ends(stage: Stage) -> None:
    stage.goes_on.clear()
    at = ask(stage.page())
    turn = state.process().runtime.latest("turn")
    assert turn is not None
    for _, _ in zip(range(6), turn.follow(timeout=5), strict=False):
        pass
    at.run()
    assert "Correct" in "".join(message.value for message in at.markdown)
    assert "retrieved 8 · graded 8 · kept" in "".join(caption.value for caption in at.caption)
    assert "Stop" in labels(at)
    assert not at.chat_input[0].disabled, "a further question can be typed meanwhile"
    assert "retrieved 8" in scripts(at), "the steps are read aloud"
    at.button(key=f"stop-{turn.id}").click().run()
    at = ended(at)
    assert "From your docu" in html(at)
    assert "You stopped this answer" in "".join(caption.value for caption in at.caption)
    assert "Try again" in labels(at)
    assert "You stopped this answer" in scripts(at)


def test_a_turn_stopped_before_anything_was_refined_shows_no_decision(stage: Stage) -> None:
    last = stage.turn[-1]
    assert isinstance(last, Finished)
    bare = {"strips": (), "documents": (), "decisions": (), "answer": "", "stopped": True}
    stage.turn = [Finished(trace=last.trace.model_copy(update=bare))]
    at = answered(stage)
    assert not any("-badge" in message.value for message in at.markdown)
    assert "nothing was ready yet" in "".join(caption.value for caption in at.caption)
    assert "Try again" in labels(at)


def test_the_end_is_said_and_texts_name_their_language(stage: Stage) -> None:
    at = answered(stage)
    assert "Answered. Correct." in scripts(at)
    assert "<h1>CRAG</h1>" in scripts(at)
    at = ended(ask(at, "批量大小是多少？"))
    assert "<h2 class='crag-text crag-question' lang='zh'>批量大小是多少？</h2>" in html(at)
    assert "<h2 class='crag-text crag-question' lang='en'>" in html(at)


def test_only_what_was_asked_on_this_page_is_brought_into_view(stage: Stage) -> None:
    at = answered(stage)
    assert scripts(at).count(".at(-1)?.scrollIntoView") == 1
    again = AppTest.from_file(str(PAGE), default_timeout=20)
    again.query_params["c"] = at.query_params["c"]
    assert ".at(-1)?.scrollIntoView" not in scripts(again.run())


def test_a_script_cannot_be_left_by_what_it_says() -> None:
    assert "</script" not in spoken._literal("</script><img src=x>")


@pytest.mark.parametrize(
    ("scores", "second", "badge", "colour"),
    [
        (CORRECT, None, "Correct", "green"),
        (AMBIGUOUS, None, "Ambiguous", "orange"),
        (INCORRECT, [0.28, 0.11], "Incorrect", "red"),
        ([0.62, None], None, "Ambiguous", "orange"),
    ],
)
def test_each_action_has_its_badge_its_sentence_and_all_panels(
    stage: Stage, scores: list[float | None], second: list[float | None] | None, badge: str, colour: str
) -> None:
    stage.turn = events(scores, second)
    at = answered(stage)
    head = next(message.value for message in at.markdown if "-badge" in message.value)
    assert f":{colour}-badge[" in head
    assert badge in head
    assert "est 0" in head, "the sentence names the number"
    for panel in PANELS:
        open_panel(at, panel)


def test_the_documents_panel_shows_rank_file_page_score_verdict_and_reason(stage: Stage) -> None:
    stage.turn = events([0.91, None, 0.42])
    rows = html(open_panel(answered(stage), "documents")).split("<tr class='crag-")[1:]
    assert [row.split("'")[0] for row in rows] == ["relevant", "ungraded", "partial"]
    for rank, (row, file) in enumerate(
        zip(rows, ["dense passage retrieval.pdf", "检索增强.pdf", "tables.pdf"], strict=True), 1
    ):
        assert f"'crag-rank-cell'>{rank}<" in row
        assert f"<span title='{file}'>{file}</span><small>p. " in row
    assert "0.91<div class='crag-bar' style='--score:0.9100;--lower:0.3000;--upper:0.7000'" in rows[0]
    assert "crag-bar" not in rows[1], "what is ungraded has no score"
    assert "<summary>the engine stopped</summary>" in rows[1]


def test_the_text_of_a_document_unfolds_under_its_reason_and_is_inert(stage: Stage) -> None:
    stage.turn = events([0.91])
    shown = html(open_panel(answered(stage), "documents"))
    assert "<div class='crag-text' lang='en'>" in shown
    assert "<script" not in shown
    assert "<img" not in shown


def test_the_refined_context_shows_every_strip_and_what_the_generator_read(stage: Stage) -> None:
    at = open_panel(answered(stage), "refined_context")
    shown = html(at)
    assert shown.count("crag-strip crag-kept") == 7
    assert shown.count("crag-strip crag-dropped") == 17
    assert "its document is below the lower threshold" in shown
    assert at.code[0].value.startswith("[1] dense passage retrieval.pdf, page 1\n")
    at.get("button_group")[1].set_value("kept").run()
    assert "crag-strip crag-dropped" not in html(at)


def test_the_second_look_shows_query_and_both_decisions(stage: Stage) -> None:
    stage.turn = events(INCORRECT, [0.28, 0.11])
    at = open_panel(answered(stage), "second_look")
    assert at.code[0].value == "batch size retriever"
    assert html(at).count("<b>Incorrect</b>") == 2
    assert html(at).count("'crag-rank-cell'") == 5


def test_where_nothing_was_graded_there_is_no_action_but_a_retry(stage: Stage) -> None:
    stage.turn = events([None, None])
    at = answered(stage)
    assert "could be graded" in messages(at)
    assert not any("-badge" in message.value for message in at.markdown)
    stage.turn = events(CORRECT)
    next(button for button in at.button if button.label == "Grade again").click().run()
    at = ended(at)
    assert html(at).count("crag-question") == 1
    assert any("green-badge" in message.value for message in at.markdown)


def test_a_failed_turn_is_a_sentence_and_a_retry_never_a_traceback(stage: Stage) -> None:
    stage.fails = CragError("Nothing is indexed yet: rebuild first.")
    at = answered(stage)
    assert "Nothing is indexed yet" in messages(at)
    assert "Try again" in labels(at)
    stage.fails = RuntimeError("secret detail")
    at = ended(ask(at))
    assert "secret detail" not in messages(at) + html(at)


def test_a_reload_shows_the_same_conversation_and_new_starts_another(stage: Stage) -> None:
    at = answered(stage)
    again = AppTest.from_file(str(PAGE), default_timeout=20)
    again.query_params["c"] = at.query_params["c"]
    again.run()
    assert "What batch size was used?" in html(again)
    again.button(key="new").click().run()
    assert "crag-question" not in html(again)
    assert "c" not in again.query_params


def test_two_conversations_do_not_see_each_other(stage: Stage) -> None:
    one, two = ended(ask(stage.page(), "first question")), ended(ask(stage.page(), "second question"))
    assert "second question" not in html(one.run())
    assert "first question" not in html(two.run())


def test_an_address_of_a_forgotten_conversation_says_so(stage: Stage) -> None:
    at = AppTest.from_file(str(PAGE), default_timeout=20)
    stage.page()
    at.query_params["c"] = "0" * 32
    at.run()
    assert "not known here any more" in "".join(info.value for info in at.info)


def test_moved_thresholds_apply_to_the_next_question_and_can_be_reset(stage: Stage) -> None:
    at = stage.page()
    at.slider(key="decision-limits").set_value((0.2, 0.8)).run()
    at.slider(key="decision-k").set_value(12).run()
    at = ended(ask(at))
    conversation = state.process().conversation("".join(at.query_params["c"]))
    assert conversation is not None
    asked = conversation.turns[0].settings
    assert (asked.lower, asked.upper, asked.k) == (0.2, 0.8, 12)
    at.button(key="decision-reset").click().run()
    assert at.slider(key="decision-limits").value == (0.3, 0.7)


def test_a_chinese_browser_gets_a_chinese_page(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_LANGUAGE", "zh")
    at = answered(stage)
    assert any("正确" in message.value for message in at.markdown)
    assert "新对话" in labels(at)


def test_a_turn_that_ends_while_the_page_is_drawn_does_not_leave_the_box_shut(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.goes_on.clear()
    at = stage.page()
    original = chat.safe.in_html

    def ends_meanwhile(text: str) -> str:
        stage.goes_on.set()
        job = state.process().runtime.latest("turn")
        assert job is not None
        list(job.follow(timeout=5))
        return original(text)

    monkeypatch.setattr(chat.safe, "in_html", ends_meanwhile)
    at = ask(at)
    assert not at.chat_input[0].disabled
    assert "Stop" not in labels(at)


def test_a_long_file_name_loses_its_middle() -> None:
    name = "a" * 60 + "-2024.pdf"
    assert len(short(name)) == LONGEST_NAME
    assert short(name).endswith("a-2024.pdf")
    assert short("short.pdf") == "short.pdf"


def test_an_index_that_vanishes_leaves_the_conversation_on_top(stage: Stage) -> None:
    at = answered(stage)
    stage.base.row_list = []
    at.run()
    assert at.sidebar.get("file_uploader")
    assert not at.main.get("file_uploader")
    assert "What batch size was used?" in html(at)


def test_a_question_asked_while_another_is_answered_waits_for_it(stage: Stage) -> None:
    stage.goes_on.clear()
    at = ask(ask(stage.page(), "first question"), "second question")
    assert "waiting for the answer above" in "".join(caption.value for caption in at.caption)
    job = state.process().runtime.latest("turn")
    assert job is not None
    assert not job.events
    assert labels(at).count("Stop") == 2
    stage.goes_on.set()
    at = ended(at)
    assert "Stop" not in labels(at)
    assert html(at).count("crag-answer") == 2
    assert not at.exception


def test_a_question_may_be_put_to_some_files_only_and_the_answer_names_them(stage: Stage) -> None:
    at = stage.page()
    at.sidebar.multiselect(key="which-files-new").select("guide.pdf").run()
    at = ended(ask(at))
    said = "".join(caption.value for caption in at.main.caption)
    assert "Asked of: guide.pdf" in said.replace("\\", "")


def test_a_chosen_file_that_has_gone_is_named_and_the_question_is_not_put_to_all(stage: Stage) -> None:
    stage.base.row_list = [INDEXED, INDEXED.model_copy(update={"path": "b.pdf", "content": "b"})]
    at = stage.page()
    at.sidebar.multiselect(key="which-files-new").select("b.pdf").run()
    stage.base.row_list = [INDEXED]
    at = at.run()
    assert "b.pdf (not in the index)" in at.sidebar.multiselect[0].options
    at = ended(ask(at))
    assert not at.exception
    assert "Asked of: b.pdf" in "".join(caption.value for caption in at.main.caption).replace("\\", "")


def test_the_chosen_files_belong_to_the_conversation(stage: Stage) -> None:
    at = stage.page()
    at.sidebar.multiselect(key="which-files-new").select("guide.pdf").run()
    at = ended(ask(at))
    known = at.query_params[state.CONVERSATION]
    assert at.sidebar.multiselect[0].value == ["guide.pdf"]
    at = at.button(key="new").click().run()
    assert at.sidebar.multiselect[0].value == []
    again = AppTest.from_file(str(PAGE), default_timeout=20)
    again.query_params[state.CONVERSATION] = known
    again.run()
    assert again.sidebar.multiselect[0].value == ["guide.pdf"]
    again.sidebar.multiselect[0].unselect("guide.pdf").run()
    again = ended(ask(again))
    assert len(state.process().conversation(known[0] if isinstance(known, list) else known).turns) == 2
    assert state.process().runtime.latest("turn").events[-1].trace.files == ()
