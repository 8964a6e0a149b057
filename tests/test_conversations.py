"""Conversations that are kept: all of them is there after a restart, is found, renamed, deleted and brought back."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from crag.database import writing
from crag.errors import HistoryError
from crag.history.conversations import LONGEST_TITLE, Begun, Conversations, title_of
from crag.history.store import Store
from crag.history.tables import turns
from crag.history.traces import packed, unpacked
from crag.schema import Action, EvaluatorName, Source, Thresholds, Trace

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / ".crag" / "crag.db")


@pytest.fixture
def kept(store: Store) -> Conversations:
    return Conversations(store)


def trace(turn_id: str, question: str = "q", answer: str = "a", *sources: Source) -> Trace:
    return Trace(
        turn_id=turn_id,
        created="2026-01-01T00:00:00+00:00",
        question=question,
        k=8,
        thresholds=Thresholds(),
        evaluator=EvaluatorName(name="lightweight", version="1"),
        generator="extractive",
        action=Action.CORRECT,
        sources=sources,
        answer=answer,
    )


def source(file: str, url: str | None = None, title: str = "") -> Source:
    return Source(n=1, file=file, files=(file,), content="c", page=1, text="t", strips=(), url=url, title=title)


def asked(kept: Conversations, conversation: str, turn_id: str, question: str = "q", *sources: Source) -> Trace:
    """A question that was asked and answered."""
    kept.begin(conversation, Begun(turn_id=turn_id, question=question), title_of(question))
    made = trace(turn_id, question, f"answer to {turn_id}", *sources)
    kept.end(turn_id, made)
    return made


def ids(kept: Conversations, search: str = "", **how: object) -> list[str]:
    return [row.id for row in kept.latest(search, **how)]  # type: ignore[arg-type]


def damage(store: Store, turn_id: str, data: bytes) -> None:
    with writing(store.engine()) as connection:
        connection.execute(sa.update(turns).where(turns.c.turn_id == turn_id).values(trace=data))


def test_who_only_looks_makes_no_file(kept: Conversations, store: Store) -> None:
    assert kept.latest() == []
    assert kept.load("c") is None
    assert kept.purge() == 0
    assert not store.path.parent.exists()


def test_a_conversation_is_there_after_a_restart_with_every_trace_as_it_was(store: Store) -> None:
    settings = {"upper": 0.8, "web": "ask"}
    before = Conversations(store)
    before.begin("c", Begun(turn_id="1", question="问题?", files=("a.pdf",), settings=settings), "问题?", ("a.pdf",))
    made = trace("1", "问题?", "答案", source("检索增强.pdf"))
    before.end("1", made)
    store.close()
    found = Conversations(Store(store.path)).load("c")
    assert found is not None
    assert (found.title, found.files) == ("问题?", ("a.pdf",))
    [turn] = found.turns
    assert turn.trace == made
    assert (turn.settings, turn.files, turn.gap, turn.error) == (settings, ("a.pdf",), None, None)


def test_a_turn_whose_program_ended_first_is_called_interrupted_and_one_that_failed_says_why(
    kept: Conversations,
) -> None:
    kept.begin("c", Begun(turn_id="1", question="q"), "q")
    kept.begin("c", Begun(turn_id="2", question="r"), "q")
    kept.end("2", None, "The server cannot be reached.")
    found = kept.load("c")
    assert found is not None
    assert [(turn.gap, turn.error) for turn in found.turns] == [
        ("interrupted", None),
        (None, "The server cannot be reached."),
    ]


def test_a_program_that_is_killed_leaves_what_was_answered_and_calls_the_rest_interrupted(store: Store) -> None:
    program = """
import sys
from pathlib import Path
from tests.test_conversations import asked
from crag.history.conversations import Begun, Conversations
from crag.history.store import Store
kept = Conversations(Store(Path(sys.argv[1])))
asked(kept, "c", "1", "first")
kept.begin("c", Begun(turn_id="2", question="second"), "first")
print("begun", flush=True)
sys.stdin.read()
"""
    command = [sys.executable, "-c", program, str(store.path)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.kill()
    found = Conversations(store).load("c")
    assert found is not None
    assert [(turn.question, turn.gap) for turn in found.turns] == [("first", None), ("second", "interrupted")]
    assert found.turns[0].trace == trace("1", "first", "answer to 1")


@pytest.mark.parametrize(
    ("data", "gap"),
    [
        (b"no zlib", "damaged"),
        (zlib.compress(b"no JSON"), "damaged"),
        (zlib.compress(b"[1]"), "damaged"),
        (zlib.compress(json.dumps({"schema": 1, "question": 3}).encode()), "damaged"),
        (zlib.compress(json.dumps({"schema": 2, "all": "else"}).encode()), "newer"),
    ],
)
def test_an_answer_that_cannot_be_read_is_a_named_gap_among_the_others(
    kept: Conversations, store: Store, data: bytes, gap: str
) -> None:
    asked(kept, "c", "1")
    whole = asked(kept, "c", "2")
    damage(store, "1", data)
    found = kept.load("c")
    assert found is not None
    assert [(turn.gap, turn.trace) for turn in found.turns] == [(gap, None), (None, whole)]


def test_damaged_settings_and_files_of_a_row_are_left_out(kept: Conversations, store: Store) -> None:
    made = asked(kept, "c", "1")
    with writing(store.engine()) as connection:
        connection.execute(sa.update(turns).values(settings="{", files="3"))
    found = kept.load("c")
    assert found is not None
    assert (found.turns[0].settings, found.turns[0].files, found.turns[0].trace) == ({}, (), made)


def test_versions_share_a_place_and_the_one_that_was_shown_is_shown_again(kept: Conversations) -> None:
    asked(kept, "c", "1")
    asked(kept, "c", "2")
    kept.begin("c", Begun(turn_id="1b", question="q", made="changed"), "q", beside="1")
    found = kept.load("c")
    assert found is not None
    assert [(t.turn_id, t.position, t.shown, t.made) for t in found.turns] == [
        ("1", 0, False, "asked"),
        ("1b", 0, True, "changed"),
        ("2", 1, True, "asked"),
    ]
    kept.show("c", "1")
    found = kept.load("c")
    assert found is not None
    assert [t.turn_id for t in found.turns if t.shown] == ["1", "2"]


def test_two_processes_that_ask_in_one_conversation_overwrite_nothing(store: Store) -> None:
    one, other = Conversations(store), Conversations(Store(store.path))
    asked(one, "c", "1")
    asked(other, "c", "2")
    asked(one, "c", "3")
    one.begin("c", Begun(turn_id="3", question="q"), "q")
    found = other.load("c")
    assert found is not None
    assert [(t.turn_id, t.position, t.trace is None) for t in found.turns] == [
        ("1", 0, False),
        ("2", 1, False),
        ("3", 2, False),
    ]


def test_the_last_used_one_comes_first_and_no_more_than_asked_for(kept: Conversations) -> None:
    for number in range(4):
        asked(kept, f"c{number}", f"t{number}", f"question {number}")
    asked(kept, "c1", "t9", "again")
    assert ids(kept, limit=3) == ["c1", "c3", "c2"]
    assert kept.latest()[0].title == "question 1"


def test_search_finds_question_answer_title_and_sources_whatever_the_case_and_in_chinese(kept: Conversations) -> None:
    asked(kept, "question", "1", "What is the Straße of GRADES?")
    asked(kept, "file", "2", "q", source("deep/Dense Retrieval 2026.pdf"))
    asked(kept, "web", "3", "q", source("", "https://Example.org/Lighthouse", "Der Leuchtturm"))
    asked(kept, "zh", "4", "批量大小是多少？", source("检索增强.pdf"))
    kept.rename("web", "My Island 100% _done_")
    for search, found in {
        "strasse": "question",
        "answer TO 1": "question",
        "dense retrieval 2026": "file",
        "leuchtTURM": "web",
        "example.org/light": "web",
        "island 100%": "web",
        "_done_": "web",
        "批量": "zh",
        "检索增强": "zh",
        "Ｄense": "file",
    }.items():
        assert ids(kept, search) == [found], search
    assert ids(kept, "nowhere") == ids(kept, "an%er") == ids(kept, "a_swer") == []
    assert len(ids(kept, "  ")) == 4


def test_a_title_is_the_first_question_shortened_until_somebody_gives_another(kept: Conversations) -> None:
    question = "What batch size was used\nto train the retriever of the main experiments, and why?"
    asked(kept, "c", "1", question)
    title = kept.latest()[0].title
    assert title == "What batch size was used to train the retriever of the main…"
    assert kept.rename("c", "  Batch   size ") == "Batch size"
    asked(kept, "c", "2", "another question")
    assert kept.latest()[0].title == "Batch size"
    assert kept.rename("c", " ") == title


def test_titles_are_cut_between_words_and_in_chinese_between_characters() -> None:
    assert title_of("short?") == "short?"
    assert title_of("问" * 70) == "问" * LONGEST_TITLE + "…"
    assert title_of("\u202ea\nb") == "a b"


def test_renaming_does_not_move_a_conversation_to_the_top(kept: Conversations) -> None:
    asked(kept, "old", "1")
    asked(kept, "new", "2")
    kept.rename("old", "named")
    assert ids(kept) == ["new", "old"]


def test_a_deleted_conversation_is_gone_until_it_is_brought_back_and_then_whole(kept: Conversations) -> None:
    made = asked(kept, "c", "1")
    kept.delete("c")
    assert ids(kept) == []
    assert kept.load("c") is None
    assert [(row.id, row.deleted) for row in kept.latest(also=["c"])] == [("c", True)]
    assert kept.purge() == 0
    kept.restore("c")
    found = kept.load("c")
    assert found is not None
    assert found.turns[0].trace == made


def test_who_goes_on_in_a_conversation_that_another_process_deleted_finds_it_in_the_list(store: Store) -> None:
    here, elsewhere = Conversations(store), Conversations(Store(store.path))
    asked(here, "c", "1")
    elsewhere.delete("c")
    asked(here, "c", "2")
    assert [row.id for row in elsewhere.latest()] == ["c"]
    found = elsewhere.load("c")
    assert found is not None
    assert [turn.turn_id for turn in found.turns] == ["1", "2"]


def test_a_question_of_signs_that_cannot_be_seen_has_a_title_to_click() -> None:
    assert title_of("\u200b\u2060") == "…"


def test_what_was_deleted_long_ago_is_removed_with_its_answers_and_nothing_else(
    kept: Conversations, store: Store
) -> None:
    for name in ("gone", "kept"):
        asked(kept, name, name)
    kept.delete("gone")
    assert kept.purge(older_than=timedelta(0)) == 1
    kept.restore("gone")
    assert ids(kept) == ["kept"]
    with store.engine().connect() as connection:
        assert connection.scalars(sa.select(turns.c.turn_id)).all() == ["kept"]


def test_a_branch_holds_what_stood_before_and_the_source_stays(kept: Conversations) -> None:
    traces = [asked(kept, "c", str(number)) for number in range(3)]
    kept.begin("c", Begun(turn_id="1b", question="q"), "q", beside="1")
    kept.branch("c", "2", "b", "branch", ("a.pdf",))
    kept.end("1b", trace("1b"))  # ended after it was copied: both have it
    kept.begin("b", Begun(turn_id="4", question="other"), "unused")
    branch, whole = kept.load("b"), kept.load("c")
    assert branch is not None
    assert whole is not None
    assert [t.turn_id for t in branch.turns] == ["0", "1", "1b", "4"]
    assert [t.trace for t in branch.turns][:3] == [traces[0], traces[1], trace("1b")]
    assert [t.turn_id for t in whole.turns] == ["0", "1", "1b", "2"]
    assert (branch.title, branch.turns[-1].position) == ("branch", 2)


def test_an_answer_keeps_whether_it_was_liked_and_why(kept: Conversations) -> None:
    asked(kept, "c", "1")
    for liked, why in ((False, "the wrong file"), (None, "")):
        kept.rate("1", liked, why)
        found = kept.load("c")
        assert found is not None
        assert (found.turns[0].liked, found.turns[0].why) == (liked, why)


def test_users_do_not_see_each_others_conversations(store: Store) -> None:
    mine, other = Conversations(store), Conversations(store, "ada")
    asked(mine, "c", "1")
    assert other.latest() == other.latest("q") == other.latest(also=["c"]) == []
    assert other.load("c") is None
    other.delete("c")
    other.rename("c", "mine now")
    assert [row.title for row in mine.latest()] == ["q"]


def test_names_without_unicode_do_not_keep_an_answer_from_being_kept() -> None:
    broken = trace("1", "q", "half \ud83d of a sign", source("caf\udce9.pdf"))
    found = unpacked(packed(broken))
    assert isinstance(found, Trace)
    assert (found.answer, found.sources[0].file) == ("half ? of a sign", "caf?.pdf")


def test_a_database_that_cannot_be_read_is_told_with_what_to_do(store: Store) -> None:
    store.path.parent.mkdir()
    store.path.write_bytes(b"no database at all" * 100)
    with pytest.raises(HistoryError, match="move it out of the data folder"):
        Conversations(store).latest()
