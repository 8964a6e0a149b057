"""The replay: sliders that show what other thresholds would have made of an answer, without asking anything."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest
from ui_stage import AMBIGUOUS, CORRECT, INCORRECT, Stage, answered, ended, events, html, open_panel

from crag.ui import state


def replaying(stage: Stage) -> AppTest:
    return open_panel(answered(stage), "replay")


def said(at: AppTest) -> str:
    return "\n".join(element.value for element in (*at.main.markdown, *at.main.caption, *at.main.info))


def key(at: AppTest, name: str) -> str:
    return next(slider.key for slider in at.main.slider if slider.key.startswith(f"replay-{name}-"))


def move(at: AppTest, limits: tuple[float, float] | None = None, strip: float | None = None) -> AppTest:
    if limits:
        at = at.slider(key=key(at, "limits")).set_value(limits).run()
    if strip is not None:
        at = at.slider(key=key(at, "strip")).set_value(strip).run()
    assert not at.exception
    return at


def turns() -> int:
    (conversation,) = state.process().talks.all()
    return len(conversation.turns)


def press(at: AppTest, name: str) -> AppTest:
    at = next(button for button in at.button if str(button.key).startswith(f"replay-{name}-")).click().run()
    assert not at.exception
    return at


def test_it_opens_as_the_answer_was(stage: Stage) -> None:
    at = replaying(stage)
    assert at.slider(key=key(at, "limits")).value == (0.3, 0.7)
    assert at.slider(key=key(at, "strip")).value == 0.5
    assert "nothing changes" in said(at)
    assert next(b for b in at.button if str(b.key).startswith("replay-ask-")).disabled
    assert len(at.get("vega_lite_chart")) == 2


def test_a_moved_threshold_changes_action_strips_and_sentence_at_once_and_nothing_is_asked(stage: Stage) -> None:
    at = move(replaying(stage), limits=(0.3, 0.95))
    assert "the action would be Ambiguous" in said(at)
    assert "Best 0.91 is below 0.95" in said(at).replace("\\", "")
    at = move(at, strip=0.9)
    assert "strips fewer" in said(at)
    assert "kept before, dropped now" in html(at)
    assert turns() == 1


def test_it_says_where_a_second_look_was_not_made(stage: Stage) -> None:
    stage.turn = events(AMBIGUOUS)
    at = move(replaying(stage), limits=(0.65, 0.7))
    assert "second look would be taken" in said(at)
    assert "do not cover the question" in said(at)


def test_both_looks_are_decided_anew(stage: Stage) -> None:
    stage.turn = events(INCORRECT, second=[0.62, 0.1])
    at = replaying(stage)
    assert "Second look: best 0.62" in said(at).replace("\\", "")
    at = move(at, limits=(0.1, 0.7))
    assert "Best 0.21" in said(at).replace("\\", "")
    assert said(at).replace("\\", "").count("Second look:") == 1, "the answer's own badge alone"


def test_answer_with_these_makes_another_version_with_the_chosen_thresholds(stage: Stage) -> None:
    at = press(move(replaying(stage), limits=(0.2, 0.8), strip=0.6), "ask")
    at = ended(at)
    assert turns() == 1
    (conversation,) = state.process().talks.all()
    first, second = conversation.places[0].versions
    assert second.trace is not None
    assert second.trace.thresholds == second.settings.thresholds
    assert "thresholds 0.20 and 0.80, strips from 0.60" in said(at).replace("\\", "")
    assert len(stage.histories) == 1, "nothing is asked again"
    limits = second.settings.thresholds
    assert (limits.lower, limits.upper, limits.strip) == (0.2, 0.8, 0.6)
    assert second.question == first.question
    assert first.settings.thresholds.upper == 0.7


def test_back_brings_the_answers_own_thresholds(stage: Stage) -> None:
    at = press(move(replaying(stage), limits=(0.1, 0.2)), "back")
    assert at.slider(key=key(at, "limits")).value == (0.3, 0.7)
    assert "nothing changes" in said(at)


def test_an_answer_without_graded_strips_cannot_be_replayed(stage: Stage) -> None:
    stage.turn = events([None, None])
    at = replaying(stage)
    assert "Nothing can be replayed" in said(at)
    assert not [slider for slider in at.main.slider if str(slider.key).startswith("replay-")]


def test_it_speaks_chinese(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_LANGUAGE", "zh")
    stage.turn = events(CORRECT)
    at = move(replaying(stage), limits=(0.3, 0.95))
    assert "动作将变为“存疑”" in said(at)
