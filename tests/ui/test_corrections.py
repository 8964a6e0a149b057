"""A grade corrected in the page: kept, shown beside its document, taken back; and where the thresholds come from."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from ui_stage import Stage, answered, ask, ended, events, html, messages, open_panel

from crag.calibrations import Calibration, Counts, Gain, Numbers
from crag.history.labels import Labels
from crag.history.store import Store
from crag.schema import EvaluatorName
from crag.ui import state

QUESTION = "What batch size was used?"


def choose(at: AppTest, number: int, choice: str | None) -> AppTest:
    """Clicks a choice of the document with this rank (from 1) while the documents panel is open."""
    control = at.get("button_group")[number]
    at = (control.set_value(choice) if choice else control.unselect(control.value)).run()
    assert not at.exception
    return at


@pytest.fixture
def labels(stage: Stage, tmp_path: Path) -> Labels:
    return Labels(Store(tmp_path / ".crag" / "crag.db"))


def test_a_document_can_be_said_to_answer_and_the_panel_shows_it(stage: Stage, labels: Labels) -> None:
    stage.turn = events([0.62, 0.44], question=QUESTION)
    at = open_panel(answered(stage), "documents")
    assert "you:" not in html(at)
    assert labels.latest() == []
    at = choose(at, 1, "answers_it")
    at = choose(at, 2, "answers_not")
    kept = labels.latest()
    assert [(label.question, label.answers, label.score, label.page) for label in kept] == [
        (QUESTION, True, 0.62, 1),
        (QUESTION, False, 0.44, 2),
    ]
    assert kept[0].text.startswith("The main experiments")
    assert kept[0].file == "dense passage retrieval.pdf"
    first, second = html(at).split("<tr class='crag-")[1:]
    assert "you: answers<" in first
    assert "you: does not answer<" in second
    assert any("orange-badge" in message.value for message in at.markdown), "the action is not decided anew"


def test_a_changed_mind_counts_and_a_choice_can_be_taken_back(stage: Stage, labels: Labels) -> None:
    stage.turn = events([0.62], question=QUESTION)
    at = open_panel(answered(stage), "documents")
    at = choose(at, 1, "answers_it")
    at = choose(at, 1, "answers_not")
    assert [label.answers for label in labels.latest()] == [False]
    at = choose(at, 1, None)
    assert labels.latest() == []
    assert "you:" not in html(at)


def test_the_same_question_asked_again_still_shows_what_was_said(stage: Stage) -> None:
    stage.turn = events([0.62], question=QUESTION)
    at = choose(open_panel(answered(stage), "documents"), 1, "answers_it")
    at.button(key="new").click().run()
    at = open_panel(ended(ask(at)), "documents")
    assert "you: answers<" in html(at)
    assert at.get("button_group")[1].value in ("answers_it", ["answers_it"])


def test_labels_that_cannot_be_kept_are_told_and_the_page_goes_on(stage: Stage, tmp_path: Path) -> None:
    stage.turn = events([0.62], question=QUESTION)
    (tmp_path / ".crag").mkdir()
    (tmp_path / ".crag" / "crag.db").write_bytes(b"no database at all" * 100)
    at = open_panel(answered(stage), "documents")
    before = messages(at).count("cannot be read or kept")
    at = choose(at, 1, "answers_it")
    assert messages(at).count("cannot be read or kept") == before + 1
    assert "you:" not in html(at)


def test_the_choices_are_named_for_those_who_hear_them_in_both_languages(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Does document 1," in open_panel(answered(stage), "documents").get("button_group")[1].label
    monkeypatch.setenv("CRAG_LANGUAGE", "zh")
    state.process.clear()
    at = open_panel(answered(stage), "documents")
    assert "回答了问题吗" in at.get("button_group")[1].label


def calibrated(upper: float = 0.62) -> Calibration:
    return Calibration(
        id="2026-11-30-1",
        created="2026-11-30T10:00:00+00:00",
        evaluator=EvaluatorName(name="lightweight", version="1"),
        embedding="e",
        catalog_version=1,
        files=1,
        question_set="set.jsonl",
        question_sha256="0" * 64,
        counts=Counts(answerable=80, uncovered=40),
        before=Numbers(upper=0.7, lower=0.3, strip=0.5),
        after=Numbers(upper=upper, lower=0.24, strip=0.44),
        utility=Gain(before=1.0, after=1.1, low=0.05, high=0.15),
        weights={},
    )


def origin(at: AppTest) -> str:
    return "".join(caption.value for caption in at.sidebar.caption)


def test_the_sliders_stand_at_what_is_in_force_and_say_where_it_comes_from(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "conventions, not calibrated" in origin(stage.page())
    stage.calibration = calibrated()
    state.process.clear()
    at = stage.page()
    assert at.slider(key="decision-limits").value == (0.24, 0.62)
    assert at.slider(key="decision-strip").value == 0.44
    assert "Calibrated Nov 30, 2026 on 120 questions." in origin(at)
    at = ended(ask(at))
    conversation = state.process().conversation("".join(at.query_params["c"]))
    assert conversation is not None
    assert conversation.turns[0].settings.thresholds.upper == 0.62
    at.slider(key="decision-strip").set_value(0.6).run()
    stage.calibration = calibrated(upper=0.66)
    at.run()
    assert at.slider(key="decision-limits").value == (0.24, 0.66), "a page that is open goes along"
    assert at.slider(key="decision-strip").value == 0.6, "what somebody moved stays"
    monkeypatch.setenv("CRAG_UPPER", "0.8")
    state.process.clear()
    at = stage.page()
    assert at.slider(key="decision-limits").value == (0.24, 0.8)
    assert "by CRAG_* variables" in origin(at)
