"""The Evaluate page: questions come in, run as a job, show what came of them, and lead to thresholds that are used."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest
from ui_stage import FakeBase, Stage, html, labels, messages

from crag import calibrations
from crag.assembly import House
from crag.calibrations import Calibration, Counts, Gain, Numbers
from crag.errors import EmptyIndexError
from crag.evaluation.golden_runs import report_from
from crag.history.golden import Golden, Goldens
from crag.schema import Action, Document, DocumentGrade, EvaluatorName
from crag.ui import state
from crag.ui.evaluate import jobs
from crag.ui.evaluate.results import confusion
from crag.ui.evaluate.table import edited
from crag.ui.texts import Texts
from tests.evaluation.golden_house import Naming, Shelf
from tests.pipeline_stage import Flat

ANVIL = Golden(
    question="What does the anvil weigh?", expected=Action.CORRECT, file="anvil.pdf", page=1, answers=("5 kilograms",)
)
MOON = Golden(question="How far away is the moon?", expected=Action.INCORRECT)
BROKEN = Golden(question="Does this one fail?", expected=Action.CORRECT)
HOSTILE = Golden(question="Is <script>alert(1)</script> ![x](http://evil.example/a.png) bold?")


class Slow(Naming):
    """Waits before it grades a question with "slow" in it, until the test lets it."""

    def __init__(self) -> None:
        super().__init__({})
        self.goes_on = threading.Event()

    async def grade(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
        if "slow" in question:
            await asyncio.to_thread(self.goes_on.wait, 20)
        return await super().grade(question, documents)


class Base(FakeBase):
    """The facade of the page over the shelf that questions are asked of."""

    def __init__(self) -> None:
        shelf = Shelf()
        super().__init__(shelf.rows())
        self.published = shelf.published
        self.snapshot = shelf.snapshot  # type: ignore[method-assign]


@pytest.fixture
def slow(stage: Stage, tmp_path: Path) -> Slow:
    """The evaluator of a real house; what needs no evaluator of its own is that of the stage."""
    evaluator = Slow()
    folder = calibrations.folder_of(tmp_path / ".crag")
    stage.open = lambda settings, progress: House(
        Flat(),
        Base(),  # type: ignore[arg-type]
        evaluator,
        calibrations_dir=folder,
    )
    return evaluator


def page(stage: Stage, question: str = "") -> AppTest:
    stage.page()
    at = AppTest.from_function(_page, default_timeout=30)
    if question:
        at.query_params["q"] = question
    at = at.run()
    assert not at.exception
    return at


def _page() -> None:
    from crag.ui import knowledge, state
    from crag.ui.evaluate import page
    from crag.ui.texts import Texts

    process = state.process()
    page.draw(process, knowledge.look(process), Texts("en"))


def store() -> Goldens:
    return jobs.store_of(state.process())


def shown(at: AppTest) -> str:
    elements = [*at.markdown, *at.caption, *at.info, *at.warning, *at.success, *at.error, *at.subheader]
    return "\n".join(element.value for element in elements).replace("\\", "").replace("\u2060", "")


def opened(at: AppTest, name: str, number: int = 0) -> AppTest:
    at.session_state[f"golden-{name}-open-{number}"] = True
    at = at.run()
    assert not at.exception
    return at


def waited(at: AppTest, kind: str = jobs.RUN) -> AppTest:
    """The page once the newest job of a kind has ended."""
    job = state.process().runtime.latest(kind)
    assert job is not None
    list(job.follow(timeout=30))
    at = at.run()
    assert not at.exception
    return at


def ran(stage: Stage, *goldens: Golden) -> AppTest:
    stage.page()
    store().save(goldens)
    at = page(stage)
    at.button(key="golden-run-all").click().run()
    return waited(waited(at), jobs.SUGGEST)


def test_without_questions_the_page_says_how_to_get_them(stage: Stage, slow: Slow) -> None:
    at = page(stage)
    assert "No golden questions yet" in shown(at)
    assert not any("Run" in label for label in labels(at))


def test_a_question_typed_into_the_form_is_kept_and_a_wrong_one_says_why(stage: Stage, slow: Slow) -> None:
    at = opened(page(stage), "add")
    at.text_area(key="golden-add-0-question").set_value("What does it weigh?")
    at.number_input(key="golden-add-0-page").set_value(2)
    at = at.button(key="golden-add-0-save").click().run()
    assert "A page is named without a file" in messages(at)
    assert store().all() == []
    at.selectbox(key="golden-add-0-file").set_value("anvil.pdf")
    at.selectbox(key="golden-add-0-expected").set_value(Action.CORRECT)
    at.text_input(key="golden-add-0-answers").set_value("5 kg | five kilograms")
    at = at.button(key="golden-add-0-save").click().run()
    [kept] = store().all()
    assert (kept.expected, kept.file, kept.page) == (Action.CORRECT, "anvil.pdf", 2)
    assert kept.answers == ("5 kg", "five kilograms")
    assert "1 golden question. 1 is to be asked" in shown(at)


def test_a_file_is_imported_after_it_said_what_it_brings_and_a_bad_one_names_the_line(stage: Stage, slow: Slow) -> None:
    at = opened(page(stage), "import")
    at.file_uploader[0].upload("x.jsonl", b'{"question": "a?"}\nno\n', "application/jsonl").run()
    assert "x.jsonl, line 2, is no JSON" in messages(at).replace("\\", "").replace("\u2060", "")
    assert store().all() == []
    at.file_uploader[0].upload("x.csv", b"question,expected\na?,INCORRECT\nb?,\n", "text/csv").run()
    assert "2 new" in shown(at)
    at = at.button(key="golden-import-do").click().run()
    assert [(one.question, one.expected) for one in store().all()] == [("a?", Action.INCORRECT), ("b?", None)]
    at = opened(at, "export")
    assert [button.proto.label for button in at.get("download_button")] == ["JSONL", "CSV"]


def test_a_run_shows_figures_and_every_question_and_one_failing_stops_no_other(stage: Stage, slow: Slow) -> None:
    at = ran(stage, ANVIL, BROKEN, MOON, HOSTILE)
    assert "2 of 2 took the expected action" in shown(at)
    assert "1 failed" in shown(at)
    matrix = html(at)
    assert "<td class='crag-right' style='--share:0.500'>✓ 1</td>" in matrix
    assert "Undecided" in matrix, "the failed question has no action"
    table = at.dataframe[-1].value
    assert [state.split(":")[0] for state in table["state"]] == ["✓ as expected", "✕ failed", *2 * ["✓ as expected"]]
    assert table["answer"].iloc[0] == "✓ found"
    assert "Run changed (1)" in labels(at), "the failed one can be asked again"
    report = at.get("download_button")[0]
    assert report.proto.label == "Report"


def test_the_figures_have_intervals_and_say_what_changed_since_the_run_before(stage: Stage, slow: Slow) -> None:
    at = ran(stage, ANVIL, MOON)
    assert "no earlier run" in shown(at)
    slow.version = "2"
    grade = Naming.grade
    try:

        async def worse(self: Naming, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
            return await grade(self, "nothing", documents)

        Naming.grade = worse  # type: ignore[method-assign]
        at = at.run()
        assert "The evaluator has changed since the last run." in shown(at)
        at.button(key="golden-run-changed").click().run()
        at = waited(at)
    finally:
        Naming.grade = grade  # type: ignore[method-assign]
    assert "1 of 2 took the expected action" in shown(at)
    assert "before: 2 of 2" in shown(at)
    assert "Correct → Incorrect; answer no longer found" in html(at)
    at.session_state["golden-figures"] = True
    at = at.run()
    figures = html(at)
    assert "action as expected" in figures
    assert "-0.500 (0 gained, 1 lost, p 1.00)" in figures
    assert "0.095 to 0.905, n 2" in figures, "the Wilson interval of 1 of 2"
    assert "Only 2 questions" in shown(at)


def test_a_run_goes_on_without_the_page_is_found_again_and_stops_on_a_click(stage: Stage, slow: Slow) -> None:
    stage.page()
    store().save([ANVIL, Golden(question="a slow one"), MOON])
    page(stage).button(key="golden-run-all").click().run()
    for _ in range(500):
        job = jobs.running(state.process())
        assert job is not None
        if job.events and job.events[-1].done == 1:
            break
        threading.Event().wait(0.01)
    at = page(stage)
    assert any(bar.proto.text.startswith("Asked 1 of 3") for bar in at.get("progress"))
    assert "a slow one" in shown(at)
    assert at.button(key="golden-run-all").disabled
    jobs.run(state.process(), store().all())
    assert jobs.running(state.process()) is job, "a second run joins the first"
    at = waited(at.button(key="golden-stop").click().run())
    assert "stopped, 2 not asked" in shown(at)
    assert "Run changed (2)" in labels(at)


def test_an_answer_is_opened_by_its_address_with_what_was_expected(stage: Stage, slow: Slow) -> None:
    ran(stage, ANVIL)
    [golden] = store().all()
    at = page(stage, str(golden.id))
    assert "Expected: Correct. It stands in anvil.pdf p. 1. The answer holds “5 kilograms”." in shown(at)
    assert "The anvil weighs 5 kilograms" in html(at)
    assert at.get("button_group"), "with its panels"
    at = at.button(key="golden-back").click().run()
    assert "Last run" in shown(at)
    assert "was deleted, or not asked yet" in shown(page(stage, "99"))


def test_an_address_with_an_endless_number_names_no_question(stage: Stage, slow: Slow) -> None:
    assert "No golden questions yet" in shown(page(stage, "9" * 5000))


def test_where_nothing_can_be_asked_the_run_says_so(stage: Stage, slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    stage.page()
    store().save([ANVIL])
    at = page(stage)
    house = state.process().house
    assert house is not None

    def empty() -> None:
        raise EmptyIndexError("Nothing has been indexed yet: rebuild.")

    monkeypatch.setattr(house.knowledge_base, "snapshot", empty)
    at = waited(at.button(key="golden-run-all").click().run())
    assert "Nothing has been indexed yet" in messages(at)


def far_too_high(folder: Path, house: House) -> None:
    """A calibration under which nothing is ever Correct."""
    calibrations.apply(
        folder,
        Calibration(
            evaluator=EvaluatorName(name=house.own.name, version=house.own.version),
            embedding=house.embedder.fingerprint,
            catalog_version=7,
            files=3,
            question_set="by hand",
            question_sha256="0" * 64,
            counts=Counts(answerable=5),
            before=Numbers(upper=0.7, lower=0.3, strip=0.5),
            after=Numbers(upper=0.99, lower=0.95, strip=0.5),
            utility=Gain(before=0, after=0, low=0, high=0),
            weights={},
        ),
    )


def test_thresholds_are_suggested_used_with_provenance_and_undone(stage: Stage, slow: Slow, tmp_path: Path) -> None:
    folder = calibrations.folder_of(tmp_path / ".crag")
    stage.page()
    house = state.process().house
    assert house is not None
    far_too_high(folder, house)
    anvils = [ANVIL.model_copy(update={"question": f"What does the anvil weigh, {n}?"}) for n in range(16)]
    moons = [MOON.model_copy(update={"question": f"How far away is moon {n}?"}) for n in range(16)]
    at = ran(stage, *anvils, *moons)
    assert "upper **0.99**" in shown(at)
    assert "Calibrated" in shown(at)
    assert "Only 32" not in shown(at)
    assert at.get("vega_lite_chart"), "the map of thresholds"
    at = at.button(key="golden-use").click().run()
    assert not at.exception
    active = calibrations.active(folder)
    assert active is not None
    assert active.question_set == "golden questions"
    assert (active.counts.questions, active.catalog_version, active.before.upper) == (32, 7, 0.99)
    assert active.after.upper < 0.99
    at = at.run()
    assert "The thresholds have changed since the last run." in shown(at)
    at = at.button(key="golden-undo").click().run()
    assert calibrations.active_id(folder) == active.previous
    assert "upper **0.99**" in shown(at)


def test_few_labels_are_warned_of_and_without_any_it_says_what_is_missing(stage: Stage, slow: Slow) -> None:
    at = ran(stage, ANVIL, MOON)
    assert "Only 2 labelled questions: fewer than 30 say little" in shown(at)
    assert not any(button.key == "golden-use" for button in at.button), "nothing is beyond noise"
    stage.page()
    store().save(deleted=[one.id for one in store().all()], added=[Golden(question="no label")])
    at = page(stage)
    at = waited(at.button(key="golden-run-all").click().run())
    assert "Run questions that say what is expected" in shown(at)


def test_a_report_that_cannot_be_read_is_told_and_the_questions_stay(stage: Stage, slow: Slow) -> None:
    stage.page()
    store().save([ANVIL])
    store().add_run("{}", asked=1)
    assert report_from(store(), 1) is None
    at = page(stage)
    assert "The report of the last run cannot be read" in shown(at)
    assert "1 golden question" in shown(at)


def test_questions_that_cannot_be_read_are_told(stage: Stage, slow: Slow, tmp_path: Path) -> None:
    stage.page()
    (tmp_path / ".crag").mkdir(exist_ok=True)
    (tmp_path / ".crag" / "crag.db").write_bytes(b"no database at all" * 100)
    assert "cannot be read or kept" in messages(page(stage)).replace("\\", "")


# --- the table


KNOWN = [ANVIL.model_copy(update={"id": 1}), MOON.model_copy(update={"id": 2}), BROKEN.model_copy(update={"id": 3})]


def test_edits_become_added_changed_and_deleted_questions() -> None:
    found = edited(
        KNOWN,
        {
            "edited_rows": {"0": {"page": 3, "answers": "5 kg | "}, 1: {"expected": "AMBIGUOUS", "file": " "}},
            "added_rows": [{"question": " New? "}, {}],
            "deleted_rows": [2],
        },
    )
    assert [one.question for one in found.added] == ["New?"]
    anvil, moon = found.changed
    assert (anvil.id, anvil.page, anvil.answers) == (1, 3, ("5 kg",))
    assert (moon.id, moon.expected, moon.file) == (2, Action.AMBIGUOUS, None)
    assert found.deleted == (3,)
    assert found.problems == ()
    assert not edited(KNOWN, {"edited_rows": {0: {"page": 1}}}), "the same again is no edit"


def test_what_is_wrong_is_said_by_row_and_a_deleted_row_is_no_obstacle() -> None:
    def problems(state: dict[str, Any]) -> tuple[tuple[int, str], ...]:
        return edited(KNOWN, state).problems

    assert problems({"edited_rows": {1: {"page": 2}}}) == ((2, "no_file"),)
    assert problems({"edited_rows": {1: {"question": ANVIL.question}}}) == ((2, "twice"),)
    assert problems({"edited_rows": {1: {"question": ANVIL.question}}, "deleted_rows": [0]}) == ()
    assert problems({"added_rows": [{"file": "a.pdf"}]}) == ((4, "empty"),)
    assert problems({"edited_rows": {0: {"file": None}}}) == ((1, "no_file"),)


def test_the_matrix_names_actions_and_marks_hits_without_colour() -> None:
    drawn = confusion({"CORRECT": {"CORRECT": 3, "AMBIGUOUS": 1}}, Texts("en"))
    assert "<th scope='row'>Correct</th><td class='crag-right' style='--share:0.750'>✓ 3</td>" in drawn
    assert "<td class='crag-wrong' style='--share:0.250'>✕ 1</td>" in drawn
    assert "No question says which action is expected" in confusion({}, Texts("en"))


@pytest.fixture(autouse=True)
def _reports_are_read_anew() -> None:
    st.cache_resource.clear()
