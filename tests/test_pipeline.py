"""From a question to a checked answer: each action takes its own way, and the trace says all of it."""

import asyncio
import threading
from collections.abc import AsyncIterator, Sequence

import pytest
from pipeline_stage import QUESTION, Marked, parts, run, trace_of

from crag.errors import CragError, EmptyIndexError, GenerationError
from crag.events import Decided, Refined, Retrieved, Rewritten, Token
from crag.pieces import Piece, Text
from crag.pipeline import LONGEST_QUESTION, answer
from crag.schema import Action, Document, DocumentGrade, Knowledge, Thresholds, Trace


async def test_good_evidence_is_quoted_with_its_source_and_the_trace_can_be_stored() -> None:
    events = await run(parts({"anvil": 0.9}))
    trace = trace_of(events)
    assert [event.kind for event in events if not isinstance(event, Token)] == [
        "retrieved",
        "graded",
        "decided",
        "refined",
        "finished",
    ]
    assert trace.action is Action.CORRECT
    assert "anvil weighs 5 kilograms" in trace.answer
    assert [(c.file, c.page) for c in trace.citations] == [("anvil.pdf", 1)]
    assert trace.catalog_version == 7
    assert trace.answer == "".join(event.text for event in events if isinstance(event, Token))
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


async def test_uncertain_evidence_is_refined_and_called_ambiguous() -> None:
    trace = trace_of(await run(parts({"anvil": 0.6})))
    assert trace.action is Action.AMBIGUOUS
    assert "anvil" in trace.knowledge
    assert trace.search_query is None


async def test_bad_evidence_takes_a_second_look_that_may_find_what_the_first_missed() -> None:
    made = parts({"anvil": 0.9}, first=["hammer"])
    events = await run(made)
    trace = trace_of(events)
    assert [decision.action for decision in trace.decisions] == [Action.INCORRECT, Action.CORRECT]
    assert trace.action is Action.CORRECT
    assert trace.search_query == "anvil weight"
    assert next(event.query for event in events if isinstance(event, Rewritten)) == "anvil weight"
    assert trace.question == QUESTION
    assert made.evaluator.asked == [(QUESTION, "hammer"), (QUESTION, "anvil")]  # type: ignore[attr-defined]
    assert {"second_retrieve", "second_grade"} <= set(trace.timings)


async def test_what_nothing_covers_is_said_with_the_nearest_documents_and_nothing_is_invented() -> None:
    trace = trace_of(await run(parts({"anvil": 0.2})))
    assert trace.action is Action.INCORRECT
    assert len(trace.decisions) == 2
    assert trace.knowledge == ""
    assert not trace.covered
    assert "anvil.pdf" in trace.answer
    assert "kilograms" not in trace.answer
    assert not any(strip.kept for strip in trace.strips)


async def test_the_second_look_retrieves_twice_the_documents() -> None:
    names = {f"thing{i}": 0.1 for i in range(20)}
    events = await run(parts(names, first=list(names)))
    looks = [len(event.documents) for event in events if isinstance(event, Retrieved)]
    assert looks == [4, 8]


async def test_nothing_retrieved_is_incorrect_not_ambiguous() -> None:
    made = parts({}, first=[])
    decided = [event.decision for event in await run(made) if isinstance(event, Decided)]
    assert decided[0].action is Action.INCORRECT
    assert decided[0].documents == ()


async def test_all_ungraded_decides_nothing_and_says_why() -> None:
    made = parts({}, first=["anvil", "saw"], evaluator=Marked({}))
    trace = trace_of(await run(made))
    assert trace.action is None
    assert trace.decisions == ()
    assert trace.error is not None
    assert "no mark" in trace.error
    assert {document.verdict for document in trace.documents} == {"ungraded"}
    assert trace.answer == ""


async def test_one_ungraded_document_forbids_incorrect() -> None:
    made = parts({}, first=["anvil", "hammer"], evaluator=Marked({"hammer": 0.1}))
    assert trace_of(await run(made)).action is Action.AMBIGUOUS


async def test_a_fallback_that_acted_is_said() -> None:
    made = parts({"anvil": 0.9}, thresholds=Thresholds(strip=0.95))
    trace = trace_of(await run(made))
    assert len(trace.notices) == 1
    assert [strip.fate for strip in trace.strips if strip.kept] == ["fallback"]


async def test_stop_keeps_what_was_written() -> None:
    stop = threading.Event()

    class Endless:
        name = "endless"

        async def stream(self, question: str, knowledge: Knowledge) -> AsyncIterator[Piece]:
            for number in range(1000):
                if number == 3:
                    stop.set()
                yield Text(f"{number} ")

    trace = trace_of(await run(parts({"anvil": 0.9}, generator=Endless()), stop=stop))
    assert trace.stopped
    assert trace.answer == "0 1 2 3 "


async def test_stop_does_not_wait_for_a_slow_grading() -> None:
    stop = threading.Event()

    class Slow(Marked):
        async def grade(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
            stop.set()
            await asyncio.sleep(30)
            return await super().grade(question, documents)

    made = parts({"anvil": 0.9}, evaluator=Slow({"anvil": 0.9}))
    async with asyncio.timeout(5):
        trace = trace_of(await run(made, stop=stop))
    assert trace.stopped
    assert trace.answer == ""
    assert made.knowledge_base.open == 0  # type: ignore[attr-defined]


async def test_a_generator_that_fails_midway_leaves_its_words_and_the_reason() -> None:
    class Failing:
        name = "failing"

        async def stream(self, question: str, knowledge: Knowledge) -> AsyncIterator[Piece]:
            yield Text("The anvil")
            raise GenerationError("The connection was lost: ask again.")

    trace = trace_of(await run(parts({"anvil": 0.9}, generator=Failing())))
    assert trace.answer == "The anvil"
    assert (trace.cut, trace.error) == ("The connection was lost: ask again.", None)


async def test_the_index_is_let_go_before_the_answer_is_written_and_after_a_failure() -> None:
    made = parts({"anvil": 0.9})
    async for event in answer(made, QUESTION, "turn-1", threading.Event()):
        if isinstance(event, Refined):
            assert made.knowledge_base.open == 0  # type: ignore[attr-defined]

    class Broken(Marked):
        async def grade(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
            raise RuntimeError("broken")

    broken = parts({}, evaluator=Broken({}))
    with pytest.raises(RuntimeError, match="broken"):
        await run(broken)
    assert broken.knowledge_base.open == 0  # type: ignore[attr-defined]


async def test_an_empty_index_is_told_as_it_is() -> None:
    class Empty:
        def snapshot(self) -> object:
            raise EmptyIndexError("Nothing is indexed yet.")

    with pytest.raises(EmptyIndexError):
        await run(parts({}, knowledge_base=Empty()))


@pytest.mark.parametrize("question", ["", " \n\t ", "\u200b\u202e", "x" * (LONGEST_QUESTION + 1)])
async def test_a_question_that_is_none_is_refused_with_the_mend(question: str) -> None:
    with pytest.raises(CragError, match=r"empty|shorten"):
        await run(parts({}), question)


async def test_a_chinese_question_is_decided_and_answered_in_chinese() -> None:
    trace = trace_of(await run(parts({"anvil": 0.2}), "铁砧有多重？"))
    assert trace.language == "zh"
    assert "最高分" in trace.decision
    assert "知识库" in trace.answer


async def test_a_question_to_chosen_files_uses_no_other_also_in_the_second_look() -> None:
    made = parts({"anvil": 0.9, "file": 0.1})
    events = [e async for e in answer(made, QUESTION, "t", threading.Event(), ("file.pdf", "gone.pdf"))]
    trace = trace_of(events)
    assert trace.files == ("file.pdf", "gone.pdf")
    assert {document.file for document in trace.documents} == {"file.pdf"}
    assert trace.search_query is not None
    assert [notice for notice in trace.notices if "gone.pdf" in notice] == [
        "Not searched, since it is not indexed: gone.pdf."
    ]
    assert Trace.model_validate_json(trace.model_dump_json()).files == trace.files


async def test_the_trace_says_when_each_stage_ran_and_adds_up() -> None:
    trace = trace_of(await run(parts({"anvil": 0.9}, first=["hammer"])))
    stages = [one.stage for one in trace.runs]
    assert stages.index("grade") < stages.index("rewrite") < stages.index("second_grade") < stages.index("generate")
    ends = [one.started + one.seconds for one in trace.runs]
    assert all(after.started >= end - 1e-4 for after, end in zip(trace.runs[1:], ends, strict=False))
    for stage, seconds in trace.timings.items():
        assert sum(one.seconds for one in trace.runs if one.stage == stage) == pytest.approx(seconds, abs=1e-4)


async def test_grades_and_vectors_that_were_there_are_counted_in_the_stage_that_needed_them() -> None:
    class Remembering(Marked):
        async def grade(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
            grades = await super().grade(question, documents)
            return [
                grade.model_copy(update={"cached": n == 0, "known": 2, "made": 1}) for n, grade in enumerate(grades)
            ]

    trace = trace_of(await run(parts({}, evaluator=Remembering({"anvil": 0.9, "hammer": 0.1}), first=["anvil"])))
    (grading,) = [one for one in trace.runs if one.stage == "grade"]
    documents = len(trace.documents)
    assert {one.what: (one.n, one.of) for one in grading.reused} == {
        "grades": (1, documents), "vectors": (2 * documents, 3 * documents),
    }  # fmt: skip
    assert all(one.reused == () for one in trace.runs if one.stage != "grade")
