"""A second opinion under the documents: who can be asked, what was said, and that the answer stays as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from model_server import ModelServer, Reply, said_to, serving
from streamlit.testing.v1 import AppTest
from ui_stage import LIMITS, Stage, answered, document, ended, events, labels, open_panel

from crag.agent_model.base import ModelSpec
from crag.assembly import Calibrated
from crag.evaluator.stability import Stability
from crag.events import Finished
from crag.opinions import Opinion, Way
from crag.schema import Grade, GradedDocument, Trace
from crag.ui import state
from crag.ui.panels.second_opinion import sentence
from crag.ui.texts import Texts

SCORES: list[float | None] = [0.91, 0.68, 0.5]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving() as made:
        made.script = reply
        yield made


def reply(body: dict[str, Any]) -> Reply:
    ids = re.findall(r'<document id="(d\d+)">', said_to(body))
    return Reply(json.dumps({"grades": [{"id": id_, "score": 8, "reason": "r", "strips": []} for id_ in ids]}))


@pytest.fixture
def with_house(stage: Stage) -> Stage:
    """The stage's house with what second opinions need of a real one."""
    plain = stage.open

    def open_house(settings: Any, progress: Any) -> Any:
        own = {"kept_grades": None, "calibrated": lambda judge: Calibrated(judge)}
        return SimpleNamespace(**vars(plain(settings, progress)), **own)

    stage.open = open_house
    stage.turn = events(SCORES)
    return stage


def said(at: AppTest) -> str:
    parts = [*(one.value for one in at.caption), *(one.value for one in at.markdown), *(one.value for one in at.error)]
    return "\n".join(parts).replace("\\", "").replace("\u2060", "")


def choose_model(monkeypatch: pytest.MonkeyPatch, server: ModelServer, **more: str) -> None:
    chosen = {"CRAG_LLM_PROVIDER": "openai", "CRAG_LLM_MODEL": "qwen3", "OPENAI_API_BASE": server.base, **more}
    for name, value in {"CRAG_LLM_RETRIES": "0", **chosen}.items():
        monkeypatch.setenv(name, value)
    state.process.clear()


def press(at: AppTest, label: str) -> AppTest:
    next(button for button in at.button if button.label == label).click().run()
    at = ended(at, "opinion")
    assert not at.exception
    return at


def test_without_a_model_it_says_why_nobody_can_be_asked_and_the_mend(with_house: Stage) -> None:
    at = open_panel(answered(with_house), "documents")
    assert any(one.label == "Second opinion" and not one.proto.expanded for one in at.expander)
    assert "lightweight gives a text the same score every time: only a model can say something new." in said(at)
    assert "choose one on the page Settings" in said(at)
    assert not any(button.key.startswith("opinion-") for button in at.button)


def test_another_model_is_asked_about_the_document_nearest_to_a_threshold(
    with_house: Stage, monkeypatch: pytest.MonkeyPatch, server: ModelServer
) -> None:
    choose_model(monkeypatch, server)
    at = open_panel(answered(with_house), "documents")
    assert at.selectbox(key=next(box.key for box in at.selectbox if "opinion" in box.key)).value == "d1"
    before = [button for button in labels(at) if button.startswith("Ask ")]
    at = press(at, before[0])
    assert len(server.chats) == 3
    assert all("40 epochs" in said_to(body) for body in server.chats)
    assert "openai:qwen3 gives 0.80, 0.80, 0.80; in this answer it is 0.68." in said(at)
    assert "0 of 3 stay between 0.30 and 0.70. Mean 0.80, spread 0.00." in said(at)
    assert "3 calls" in said(at)
    assert any("green-badge" in one.value for one in at.markdown), "the answer is as it was"
    at = at.selectbox(key=next(box.key for box in at.selectbox if "opinion" in box.key)).set_value("d0").run()
    assert "gives 0.80" not in said(at), "each document has its own"


def test_gradings_that_fail_stand_there_with_their_mend_in_the_pages_language(
    with_house: Stage, monkeypatch: pytest.MonkeyPatch, server: ModelServer
) -> None:
    choose_model(monkeypatch, server, CRAG_LANGUAGE="zh")
    server.script = [Reply(status=401)]
    at = open_panel(answered(with_house), "documents")
    at = press(at, next(button for button in labels(at) if button.startswith("询问")))
    assert "3 次评分失败。" in said(at)
    assert "拒绝了密钥：请将 OPENAI_API_KEY 设为有效的密钥。" in said(at)


def trace_of(scores: list[float | None]) -> Trace:
    last = events(scores)[-1]
    assert isinstance(last, Finished)
    return last.trace


@pytest.mark.parametrize(
    ("before", "scores", "kind", "wanted"),
    [
        (
            0.72,
            (0.8, 0.7, 0.9),
            "stable",
            "m gives 0.80, 0.70, 0.90; in this answer it is 0.72. 3 of 3 stay at or above 0.70.",
        ),
        (0.72, (0.8, 0.6, 0.6), "stable", "1 of 3 stays at or above 0.70. Mean 0.67, spread 0.20."),
        (0.28, (0.2, 0.4), "other", "1 of 2 stays below 0.30."),
        (0.68, (0.7,), "again", "0 of 1 stay between 0.30 and 0.70. The question asked anew uses the new grade."),
    ],
)
def test_the_sentence_says_how_many_leave_the_verdict_as_it_is(
    before: float, scores: tuple[float, ...], kind: Any, wanted: str
) -> None:
    graded = GradedDocument.of(document(0), Grade(score=before), LIMITS)
    found = Opinion(Way(kind, ModelSpec("pydantic-ai", "m")), Stability(scores=scores), ())
    assert wanted in sentence(found, trace_of([before]), graded, Texts("en"))
    assert "。" in sentence(found, trace_of([before]), graded, Texts("zh"))
