"""The catalog's schema, and what it keeps of a page."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from small_pdfs import Write, built

from crag.errors import KnowledgeBaseError
from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.database import open_database, writing
from crag.knowledge_base.rows import word_boxes
from crag.knowledge_base.tables import metadata, page


def test_the_migrations_lead_to_the_tables_of_the_code(tmp_path: Path) -> None:
    engine = open_database(tmp_path / "catalog.db")

    def ours(name: str | None, kind: str, _: object) -> bool:
        return kind != "table" or not str(name).startswith(("lexical", "alembic"))

    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": ours, "compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_the_stored_boxes_are_those_of_the_words(base: KnowledgeBase, write: Write) -> None:
    write("a.pdf", "Alpha beta gamma.")
    built(base)
    with base._catalog.engine.connect() as connection:
        row = connection.execute(sa.select(page)).one()
    offsets, boxes = word_boxes(row.words)
    assert [row.text[a:b] for a, b in offsets] == ["Alpha", "beta", "gamma."]
    assert boxes.shape == (3, 4)
    assert (boxes[:, 0] < boxes[:, 2]).all()
    assert (row.width, row.height, row.rotation, row.health) == (595.0, 842.0, 0, "text")


def test_a_damaged_or_newer_catalog_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "catalog.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(KnowledgeBaseError, match="delete the index folder"):
        open_database(tmp_path / "catalog.db")
    engine = open_database(tmp_path / "other.db")
    with writing(engine) as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(KnowledgeBaseError, match="newer version"):
        open_database(tmp_path / "other.db")


def test_a_full_disk_is_told_in_a_sentence_and_what_was_stored_stays(base: KnowledgeBase, write: Write) -> None:
    write("a.pdf", "The text of the first file.")
    built(base)
    with base._catalog.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
    sa.event.listen(
        base._catalog.engine,
        "checkout",
        lambda raw, *_: raw.execute(f"PRAGMA max_page_count = {pages}"),  # SQLite's own way to be full
    )
    write("b.pdf", *[f"Page {n} of a large file. " + "It holds many words. " * 60 for n in range(20)])
    with pytest.raises(KnowledgeBaseError, match="make room on the disk"):
        list(base.build())
    with base.snapshot() as snapshot:
        assert snapshot.size == 1
