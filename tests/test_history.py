"""Labels that people give: kept across openings, the newest holds, and each user has their own."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from crag.database import writing
from crag.errors import HistoryError
from crag.history.labels import Label, Labels, label_of, text_key
from crag.history.store import HEAD, Store
from crag.history.tables import metadata
from crag.schema import Document, Span


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".crag" / "crag.db"


def label(question: str = "q", text: str = "text", answers: bool = True, user: str = "local") -> Label:
    return Label(
        question=question, document="d", content="c", file="a.pdf", page=2, text=text, answers=answers, user=user
    )


def test_nothing_is_made_before_the_first_label(path: Path) -> None:
    labels = Labels(Store(path))
    assert labels.latest() == []
    assert labels.delete("q", "text") == 0
    assert not path.parent.exists()


def test_a_label_is_kept_with_everything_it_was_given_on(path: Path) -> None:
    document = Document(
        id="d", content="c", files=("a.pdf",), text="文字 text", spans=(Span(page=3, start=0, end=7),), strips=()
    )
    store = Store(path)
    Labels(store).add(label_of("问题", document, True, 0.25, "v1"))
    store.close()
    [kept] = Labels(Store(path)).latest()
    assert kept.created
    assert kept.model_copy(update={"created": ""}) == Label(
        question="问题",
        document="d",
        content="c",
        file="a.pdf",
        page=3,
        text="文字 text",
        answers=True,
        score=0.25,
        evaluator="v1",
    )
    assert kept.key == text_key("文字 text")


def test_the_newest_label_of_a_question_and_a_text_holds(path: Path) -> None:
    labels = Labels(Store(path))
    for given in (label(), label(text="other"), label(answers=False), label(question="r")):
        labels.add(given)
    assert [(kept.question, kept.text, kept.answers) for kept in labels.latest()] == [
        ("q", "other", True),
        ("q", "text", False),
        ("r", "text", True),
    ]
    assert [kept.text for kept in labels.latest(question="r")] == ["text"]


def test_users_do_not_see_each_others_labels(path: Path) -> None:
    labels = Labels(Store(path))
    labels.add(label())
    labels.add(label(answers=False, user="ada"))
    assert [kept.answers for kept in labels.latest()] == [True]
    assert [kept.answers for kept in labels.latest("ada")] == [False]
    assert labels.delete("q", "text", "ada") == 1
    assert len(labels.latest()) == 1


def test_a_label_that_is_taken_back_does_not_bring_an_older_one_to_light(path: Path) -> None:
    labels = Labels(Store(path))
    labels.add(label())
    labels.add(label(answers=False))
    assert labels.delete("q", "text") == 2
    assert labels.latest() == []


def test_two_processes_worth_of_openings_share_one_file_and_a_deleted_one_is_made_anew(path: Path) -> None:
    one, other = Labels(Store(path)), Labels(Store(path))
    one.add(label())
    other.add(label(text="other"))
    assert len(one.latest()) == len(other.latest()) == 2
    for file in path.parent.iterdir():
        file.unlink()
    one.add(label())
    assert len(Labels(Store(path)).latest()) == 1


def test_a_damaged_or_newer_file_is_named_with_what_to_do(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(HistoryError, match=r"move it out of the data folder"):
        Labels(Store(path)).latest()
    path.unlink()
    store = Store(path)
    Labels(store).add(label())
    with writing(store.engine()) as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    store.close()
    with pytest.raises(HistoryError, match="newer version"):
        Labels(Store(path)).latest()


def test_the_migrations_lead_to_the_tables_of_the_code(path: Path) -> None:
    with Store(path).engine().connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
        assert context.get_current_revision() == HEAD
