"""Golden questions: from turns and files, checked, and run so that only what has changed is asked again."""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from golden_house import a_house

from config import Settings, load_settings
from crag.assembly import House
from crag.errors import QuestionSetError
from crag.evaluation.calibration import FEW
from crag.evaluation.golden import arrived, as_question, of_trace, problem, written
from crag.evaluation.golden_runs import Asked, changed_since, labelled, report_from, run_golden, to_ask, under_of
from crag.evaluation.question_sets import read_questions
from crag.evaluation.report import Report
from crag.history.golden import Golden, Goldens
from crag.history.store import Store
from crag.schema import Action

ANVIL = Golden(
    question="What does the anvil weigh?", expected=Action.CORRECT, file="anvil.pdf", page=1, answers=("5 kilograms",)
)
MOON = Golden(question="How far away is the moon?", expected=Action.INCORRECT)
BROKEN = Golden(question="Does this one fail?", expected=Action.CORRECT)
BARE = Golden(question="What of the hammer?")


@pytest.fixture
def store(tmp_path: Path) -> Goldens:
    return Goldens(Store(tmp_path / "crag.db"))


@pytest.fixture
def house() -> House:
    return a_house()


async def run(
    house: House, store: Goldens, chosen: Sequence[Golden] | None = None, settings: Settings | None = None
) -> list[Asked]:
    chosen = store.all() if chosen is None else chosen
    stopping = threading.Event()
    return [event async for event in run_golden(house, settings or load_settings(), store, chosen, stopping)]


def changed(house: House, store: Goldens, settings: Settings | None = None) -> list[str]:
    under = under_of(house, settings or load_settings())
    return [golden.question for golden in to_ask(store.all(), store.answered(), under)]


def last(store: Goldens) -> Report:
    report = report_from(store, store.runs(1)[0].id)
    assert report is not None
    return report


async def test_a_run_keeps_answers_and_figures_and_one_failing_question_stops_no_other(
    house: House, store: Goldens
) -> None:
    store.save([ANVIL, BROKEN, MOON, BARE])
    events = await run(house, store)
    assert [(event.done, event.of) for event in events] == [(0, 4), (1, 4), (2, 4), (3, 4), (4, 4)]
    report = last(store)
    anvil, broken, moon, bare = report.rows
    assert (anvil.action, anvil.hit_rank, anvil.answer_holds, anvil.failure) == (Action.CORRECT, 1, True, None)
    assert broken.error
    assert broken.action is None
    assert (moon.action, moon.covered) == (Action.INCORRECT, False)
    assert bare.expected is None
    assert report.counts.failed == 1
    assert report.groups[0].metrics.confusion["INCORRECT"] == {"INCORRECT": 1}
    trace = store.trace(store.all()[0].id)
    assert trace is not None
    assert "5 kilograms" in trace.answer


async def test_only_new_edited_and_failed_questions_are_asked_again_and_the_figures_stay_complete(
    house: House, store: Goldens
) -> None:
    store.save([ANVIL, BROKEN, MOON])
    assert len(changed(house, store)) == 3
    await run(house, store)
    assert changed(house, store) == [BROKEN.question]
    anvil, broken, moon = store.all()
    store.save(added=[BARE], changed=[anvil.model_copy(update={"note": "a note changes no answer"})])
    assert changed(house, store) == [BROKEN.question, BARE.question]
    store.save(changed=[anvil.model_copy(update={"expected": Action.AMBIGUOUS})], deleted=[broken.id])
    assert changed(house, store) == [ANVIL.question, BARE.question]
    before = store.answered()[moon.id]
    await run(house, store, to_ask(store.all(), store.answered(), under_of(house, load_settings())))
    assert store.runs(1)[0].asked == 2
    assert [row.question for row in last(store).rows] == [ANVIL.question, MOON.question, BARE.question]
    assert store.answered()[moon.id] == before, "it was not asked again"
    assert changed(house, store) == []


async def test_where_index_evaluator_or_thresholds_have_changed_all_are_asked_again_and_what_changed_is_named(
    house: House, store: Goldens
) -> None:
    store.save([ANVIL, MOON])
    await run(house, store)
    settings = load_settings()
    now = under_of(house, settings)
    higher = settings.model_copy(update={"upper": 0.95})
    assert len(changed(house, store, higher)) == 2
    assert changed_since(now, under_of(house, higher)) == ("thresholds",)
    assert changed_since(now, under_of(house, settings.model_copy(update={"k": 3}))) == ("settings",)
    house.own.version = "2"
    assert changed_since(now, under_of(house, settings)) == ("evaluator",)
    house.own.version = "1"
    house.knowledge_base.shelf.published = 8  # type: ignore[attr-defined]
    assert changed_since(now, under_of(house, settings)) == ("index",)
    assert len(changed(house, store)) == 2


async def test_what_thresholds_are_tried_on_is_not_graded_again_for_other_thresholds(
    house: House, store: Goldens
) -> None:
    store.save([ANVIL, MOON, BARE])
    await run(house, store)
    rows = labelled(house, load_settings(), store)
    assert [(row.expected, len(row.trace.decisions)) for row in rows] == [(Action.CORRECT, 2), (Action.INCORRECT, 2)]
    assert True in rows[0].documents.values()
    assert True in rows[0].strips.values()
    graded = house.own
    graded.asked.clear()  # type: ignore[attr-defined]
    await run(house, store, settings=load_settings(upper=0.95, lower=0.05))
    looks = [question for question, _ in graded.asked].count(ANVIL.question)  # type: ignore[attr-defined]
    assert looks == 3, "one look at three documents for the answer, none for what thresholds are tried on"
    assert labelled(house, load_settings(), store) == rows


async def test_a_stopped_run_keeps_what_was_asked_and_leaves_the_rest_to_be_asked(house: House, store: Goldens) -> None:
    store.save([ANVIL, MOON, BARE])
    stopping = threading.Event()
    async for event in run_golden(house, load_settings(), store, store.all(), stopping):
        if event.done == 1:
            stopping.set()
    ran = store.runs(1)[0]
    assert (ran.asked, ran.left) == (1, 2)
    assert [row.question for row in last(store).rows] == [ANVIL.question]
    assert changed(house, store) == [MOON.question, BARE.question]


async def test_a_run_that_is_stopped_before_anything_was_asked_keeps_no_report(house: House, store: Goldens) -> None:
    store.save([ANVIL])
    stopping = threading.Event()
    stopping.set()
    assert [event.done async for event in run_golden(house, load_settings(), store, store.all(), stopping)] == [0]
    assert store.runs(1) == []


async def test_a_turn_becomes_a_question_with_its_action_and_first_cited_page(house: House, store: Goldens) -> None:
    store.save([ANVIL])
    await run(house, store)
    trace = store.trace(store.all()[0].id)
    assert trace is not None
    made = of_trace(trace.model_copy(update={"turn_id": "t", "standalone": "What does it weigh, the anvil?"}))
    assert made.question == "What does it weigh, the anvil?"
    assert (made.expected, made.file, made.page, made.turn_id) == (Action.CORRECT, "anvil.pdf", 1, "t")
    web = trace.citations[0].model_copy(update={"url": "https://example.org"})
    assert of_trace(trace.model_copy(update={"citations": (web,)})).file is None


@pytest.mark.parametrize(
    ("golden", "found"),
    [
        (ANVIL, None),
        (Golden(question=" \u200b "), "empty"),
        (Golden(question="x" * 4001), "long"),
        (Golden(question="q", file="a.pdf", page=0), "page"),
        (Golden(question="q", file="a.pdf", page=10**20), "page"),
        (Golden(question="q", page=2), "no_file"),
        (Golden(question="q", answers=("42", "–")), "no_words"),
        (Golden(question="How far  away is the moon?"), "twice"),
    ],
)
def test_what_cannot_be_kept_is_named(golden: Golden, found: str | None) -> None:
    assert problem(golden, [MOON]) == found


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_exported_set_is_read_by_the_commands_and_comes_back_without_a_change(form: str, tmp_path: Path) -> None:
    known = [
        ANVIL.model_copy(update={"id": 1, "note": 'a "note", with a comma'}),
        MOON.model_copy(update={"id": 2}),
        Golden(id=3, question="多重？\nzwei Zeilen", answers=("五", "a,b")),
    ]
    path = tmp_path / f"set.{form}"
    path.write_text(written(known, form), encoding="utf-8")  # type: ignore[arg-type]
    assert [(one.question, one.expected, one.answers) for one in read_questions(path)] == [
        (one.question, one.expected, one.answers) for one in map(as_question, known)
    ]
    came = arrived(path.name, path.read_bytes(), known)
    assert (came.added, came.changed, came.same) == ((), (), 3)
    fresh = arrived(path.name, path.read_bytes(), [])
    assert [one.model_copy(update={"id": n}) for n, one in enumerate(fresh.added, 1)] == known


def test_a_spreadsheet_finds_no_formula_in_an_exported_table_and_the_questions_come_back_as_they_were() -> None:
    signs = ("=cmd('calc')", "+1", "-1", "@SUM(1)", "\t=1", "'=1", "'quoted'")
    known = [Golden(id=n, question=f"{sign} q", note=sign, answers=(f"{sign} a",)) for n, sign in enumerate(signs, 1)]
    table = written(known, "csv")
    cells = [cell for row in csv.reader(io.StringIO(table)) for cell in row]
    assert not [cell for cell in cells if cell[:1] in tuple("=+-@\t")]
    came = arrived("golden.csv", table.encode(), [])
    assert [one.question for one in came.added] == [one.question.strip() for one in known]
    assert [one.answers for one in came.added] == [tuple(a.strip() for a in one.answers) for one in known]


def test_a_file_adds_what_is_new_edits_what_it_says_otherwise_and_deletes_nothing() -> None:
    known = [ANVIL.model_copy(update={"id": 1, "note": "mine", "turn_id": "t"}), MOON.model_copy(update={"id": 2})]
    data = b'{"question": "What does the anvil  weigh?", "expected": "AMBIGUOUS"}\n{"question": "New?"}\n'
    came = arrived("x.jsonl", data, known)
    assert [one.question for one in came.added] == ["New?"]
    [edited] = came.changed
    assert (edited.id, edited.expected, edited.note, edited.turn_id) == (1, Action.AMBIGUOUS, "mine", "t")
    assert edited.file is None
    with pytest.raises(QuestionSetError, match=r"x\.jsonl, line 1, is no JSON"):
        arrived("x.jsonl", b"no\n", known)


async def test_enough_labels_suggest_thresholds_from_a_run(house: House, store: Goldens, tmp_path: Path) -> None:
    """The in-memory evaluator gives 0.9 or 0.1, so that thresholds of 0.95 are far too high."""
    from crag.evaluation.calibrating import in_force, suggested
    from crag.evaluation.utility import Weights

    store.save([ANVIL.model_copy(update={"question": f"What does the anvil weigh, {n}?"}) for n in range(20)])
    store.save([MOON.model_copy(update={"question": f"How far is moon {n}?"}) for n in range(20)])
    settings = load_settings(upper=0.95)
    await run(house, store, settings=settings)
    assert len(store.all()) > FEW
    house = replace(house, calibrations_dir=tmp_path / "calibrations")
    found = suggested(labelled(house, settings, store), in_force(house, settings), 8, Weights())
    assert found.before.upper == 0.95
    assert found.after.upper == 0.9
    surface = found.surface
    assert surface.worth.shape == (len(surface.uppers), len(surface.lowers))
    assert surface.now == (0.95, found.before.lower)
    at = surface.uppers.index(surface.best[0]), surface.lowers.index(surface.best[1])
    now = surface.uppers.index(surface.now[0]), surface.lowers.index(surface.now[1])
    assert surface.worth[at] > surface.worth[now]


def test_a_file_with_a_question_that_could_never_be_asked_is_refused_with_the_mend() -> None:
    with pytest.raises(QuestionSetError, match="has 4001 characters: shorten it to at most 4000"):
        arrived("mine.csv", f"question\n{'x' * 4001}\n".encode(), [])
