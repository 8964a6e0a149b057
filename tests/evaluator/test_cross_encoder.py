"""The cross-encoder evaluator: what it grades, why, what happens when a text fails; with and without its packages."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_models import Save

from config import load_settings
from crag.assembly import open_house
from crag.doctor import examine
from crag.errors import ConfigurationError
from crag.evaluator.cross_encoder import CrossEncoderEvaluator
from crag.evaluator.pair_models import Logits, Pair, PairModel, Scale, load_pair_model
from crag.refinement import decompose
from crag.schema import Document, DocumentGrade, Span

QUESTION = "Who stayed in orbit?"
APOLLO = (
    "The Apollo program landed the first humans on the Moon in July 1969, after eight years of work on the rocket and "
    "on the ships. Neil Armstrong and Buzz Aldrin walked on the lunar surface for more than two hours, while Michael "
    "Collins stayed in orbit around the Moon."
)
BREAD = "Sourdough bread rises by wild yeast and lactic acid bacteria."
CHINESE = "华沙是波兰的首都和最大的城市，位于维斯瓦河畔，距离波罗的海大约 260 公里。"


def document(text: str, id_: str = "d", heading: str = "") -> Document:
    spans = (Span(page=1, start=0, end=max(1, len(text))),)
    return Document(
        id=id_, content="c", files=("a.pdf",), text=text, heading=heading, spans=spans, strips=decompose(text)
    )


async def grade(model: PairModel, question: str, *texts: str, heading: str = "") -> list[DocumentGrade]:
    documents = [document(text, f"d{n}", heading) for n, text in enumerate(texts)]
    return await CrossEncoderEvaluator(model).grade(question, documents)


class Told:
    """A pair model that scores by rule, fails on a word, and keeps what it was given."""

    def __init__(self, fails_on: str = "\0", value: float = 0.0) -> None:
        self.fails_on, self.value = fails_on, value
        self.batches: list[list[Pair]] = []

    def model(self, scale: Scale = Scale.SIGMOID, join: str = "\n") -> PairModel:
        return PairModel("told", scale, self, join)

    def __call__(self, pairs: Sequence[Pair]) -> Logits:
        self.batches.append(list(pairs))
        if any(self.fails_on in text for _, text in pairs):
            raise RuntimeError("out of memory")
        rows = [[2.0 if "orbit" in text else -2.0] for _, text in pairs]
        return np.array(rows, np.float32) + np.float32(self.value)


async def test_a_document_is_scored_with_its_heading_and_a_strip_alone() -> None:
    told = Told()
    await grade(told.model(join=" // "), QUESTION, APOLLO, heading="Space")
    (batch,) = told.batches
    assert set(batch) == {(QUESTION, f"Space // {APOLLO}"), *((QUESTION, strip.text) for strip in decompose(APOLLO))}
    assert [len(text) for _, text in batch] == sorted((len(text) for _, text in batch), reverse=True)


async def test_the_reason_names_the_score_and_quotes_the_best_strip_in_the_language_of_the_question() -> None:
    (english,), (chinese,) = [
        await grade(Told().model(), question, APOLLO) for question in (QUESTION, "谁留在轨道上？")
    ]
    quote = "Neil Armstrong and Buzz Aldrin walked on the lunar surface…"
    assert english.document.reason == f"cross-encoder 0.88, best strip 0.88: “{quote}”"
    assert chinese.document.reason == f"交叉编码器 0.88，最佳片段 0.88：“{quote}”"
    assert [strip.reason for strip in english.strips] == ["cross-encoder 0.12", "cross-encoder 0.88"]
    assert english.strips[1].features == {"logit": 2.0}


async def test_a_failing_text_leaves_only_its_own_document_ungraded_with_the_cause() -> None:
    apollo, bread = await grade(Told("Sourdough").model(), QUESTION, APOLLO, BREAD)
    assert apollo == (await grade(Told().model(), QUESTION, APOLLO))[0]
    assert bread.document.score is None
    assert (bread.document.cause or "").startswith("The cross-encoder failed on this document (RuntimeError):")
    assert {strip.score for strip in bread.strips} == {None}


async def test_outputs_that_are_no_numbers_become_no_grade() -> None:
    (graded,) = await grade(Told(value=float("nan")).model(), QUESTION, APOLLO)
    assert graded.document.score is None
    assert "no usable numbers" in (graded.document.cause or "")


async def test_an_empty_question_is_ungraded_and_an_empty_document_irrelevant() -> None:
    told = Told()
    (asked,) = await grade(told.model(), " \n", APOLLO)
    assert asked.document.cause == "The question is empty: type what you want to know."
    (empty,) = await grade(told.model(), QUESTION, " \n ")
    assert (empty.document.score, empty.document.reason) == (0.0, "the document has no text")
    assert await grade(told.model(), QUESTION) == []
    assert told.batches == []


async def test_the_model_is_asked_by_one_thread_at_a_time() -> None:
    told, busy = Told(), threading.Lock()

    def alone(pairs: Sequence[Pair]) -> Logits:
        assert busy.acquire(blocking=False), "two threads at once"
        try:
            return told(pairs)
        finally:
            busy.release()

    evaluator = CrossEncoderEvaluator(dataclasses.replace(told.model(), logits=alone))
    grades: list[Any] = await asyncio.gather(*(evaluator.grade(QUESTION, [document(APOLLO)]) for _ in range(20)))
    assert {graded.document.score for (graded,) in grades} == {0.8808}


def test_without_a_model_the_user_reads_what_to_set(tmp_path: Path) -> None:
    settings = load_settings(evaluator="cross-encoder", files_dir=tmp_path, chroma_dir=tmp_path / "chroma_db")
    with pytest.raises(ConfigurationError, match=r"set CRAG_GRADER_MODEL .* or leave CRAG_EVALUATOR unset"):
        open_house(settings)
    assert not (tmp_path / "chroma_db").exists()


def test_the_settings_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_EVALUATOR", "cross-encoder")
    monkeypatch.setenv("CRAG_GRADER_MODEL", "/models/reranker")
    assert (load_settings().evaluator, load_settings().grader_model) == ("cross-encoder", "/models/reranker")
    monkeypatch.setenv("CRAG_EVALUATOR", "cross_encoder")
    with pytest.raises(ConfigurationError, match="CRAG_EVALUATOR"):
        load_settings()


def test_the_doctor_says_what_the_cross_encoder_lacks(tmp_path: Path) -> None:
    findings = examine(load_settings(evaluator="cross-encoder", files_dir=tmp_path, chroma_dir=tmp_path / "db"))
    (found,) = [finding for finding in findings if finding.subject == "evaluator"]
    assert not found.ok
    assert "set CRAG_GRADER_MODEL" in found.text


# With the packages (`make test-full` installs them).


KINDS = [("Bert", 1, Scale.SIGMOID), ("Bert", 2, Scale.SOFTMAX), ("T5", 1, Scale.REGRESSION), ("T5", 2, Scale.SOFTMAX)]


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(("kind", "labels", "scale"), KINDS)
async def test_a_model_in_a_folder_grades_documents_and_strips_without_a_connection(
    models: Save, kind: str, labels: int, scale: Scale
) -> None:
    model = load_pair_model(str(models(kind, labels)))
    assert model.scale is scale
    grades = await grade(model, QUESTION, APOLLO, BREAD, CHINESE, heading="Space")
    scores = [g.score for graded in grades for g in (graded.document, *graded.strips)]
    assert all(score is not None and 0 <= score <= 1 for score in scores)
    assert len(set(scores)) > 2, "the model reads what it is given"


@pytest.mark.parametrize(("kind", "labels", "scale"), KINDS)
async def test_a_grade_does_not_depend_on_the_other_documents(
    models: Save, kind: str, labels: int, scale: Scale
) -> None:
    model = load_pair_model(str(models(kind, labels)))
    (alone,) = await grade(model, QUESTION, BREAD)
    among = await grade(model, QUESTION, BREAD, APOLLO, APOLLO * 3, CHINESE)
    numbers = [(g.score, *g.features.values()) for g in (alone.document, *alone.strips)]
    others = [(g.score, *g.features.values()) for g in (among[0].document, *among[0].strips)]
    assert np.array(numbers) == pytest.approx(np.array(others), abs=2e-4)


@pytest.mark.parametrize("kind", ["Bert", "T5"])
@pytest.mark.parametrize("question", [QUESTION, "word " * 500, "字" * 2000, "\x00\ud800", "</s> [SEP] <pad>"])
async def test_odd_questions_and_texts_are_graded(models: Save, kind: str, question: str) -> None:
    texts = [APOLLO, "a </s> b </s> [SEP] [CLS]", "<\x01/s>", "……", "word " * 500]
    grades = await grade(load_pair_model(str(models(kind))), question, *texts)
    assert [graded.document.cause for graded in grades] == [None] * len(texts)


async def test_the_setting_chooses_the_evaluator_for_the_whole_house(models: Save, tmp_path: Path) -> None:
    folder = models()
    settings = load_settings(
        evaluator="cross-encoder", grader_model=str(folder), files_dir=tmp_path, chroma_dir=tmp_path / "chroma_db"
    )
    house = open_house(settings)
    try:
        evaluator = house.parts(settings).evaluator
        assert (evaluator.name, evaluator.version) == ("cross-encoder", load_pair_model(str(folder)).version)
        (graded,) = await evaluator.grade(QUESTION, [document(BREAD)])
        assert graded.document.reason.startswith("cross-encoder 0.")
    finally:
        house.close()


def test_the_doctor_names_the_model_that_grades(models: Save, tmp_path: Path) -> None:
    folder = str(models())
    settings = load_settings(
        evaluator="cross-encoder", grader_model=folder, files_dir=tmp_path, chroma_dir=tmp_path / "chroma_db"
    )
    told = {finding.subject: finding for finding in examine(settings)}
    assert told["cross-encoder"].text.startswith(f"{folder} by sentence-transformers ")
    assert told["evaluator"].text.startswith("cross-encoder ")
    assert told["cross-encoder"].ok
    assert told["evaluator"].ok
