"""The first schema: contents, files, pages, passages, vectors and the lexical index."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates every table and the one row of `state`."""
    op.create_table(
        "state",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("generation", sa.Integer, nullable=False),
        sa.Column("fingerprint", sa.String, nullable=False),
        sa.Column("embedding", sa.String, nullable=False),
        sa.Column("next_generation", sa.Integer, nullable=False),
        sa.Column("next_fingerprint", sa.String, nullable=False),
    )
    op.execute("INSERT INTO state VALUES (1, 0, 0, '', '', 0, '')")
    op.create_table(
        "content",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("fingerprint", sa.String, nullable=False),
        sa.Column("status", sa.String(8), nullable=False),
        sa.Column("pages", sa.Integer, nullable=False),
        sa.Column("passages", sa.Integer, nullable=False),
        sa.Column("seconds", sa.Float, nullable=False),
        sa.Column("warnings", sa.Text, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("transient", sa.Boolean, nullable=False),
        sa.UniqueConstraint("sha256", "fingerprint", "status"),
    )
    for name, action in (("file", None), ("staged_file", "CASCADE")):
        op.create_table(
            name,
            sa.Column("path", sa.String, primary_key=True),
            sa.Column("content_id", sa.Integer, sa.ForeignKey("content.id", ondelete=action)),
            sa.Column("size", sa.BigInteger, nullable=False),
            sa.Column("mtime_ns", sa.BigInteger, nullable=False),
            sa.Column("error", sa.Text),
        )
    op.create_index("file_content", "file", ["content_id"])
    op.create_table(
        "page",
        sa.Column("content_id", sa.Integer, sa.ForeignKey("content.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("width", sa.Float, nullable=False),
        sa.Column("height", sa.Float, nullable=False),
        sa.Column("rotation", sa.Integer, nullable=False),
        sa.Column("health", sa.String(16), nullable=False),
        sa.Column("words", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "passage",
        sa.Column("row", sa.Integer, primary_key=True),
        sa.Column("id", sa.String(32), nullable=False, unique=True),
        sa.Column("content_id", sa.Integer, sa.ForeignKey("content.id", ondelete="CASCADE"), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("heading", sa.Text, nullable=False),
        sa.Column("spans", sa.Text, nullable=False),
        sa.Column("strips", sa.Text, nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )
    op.create_index("passage_content", "passage", ["content_id", "number"])
    op.create_table(
        "strip_vector",
        sa.Column("content_id", sa.Integer, sa.ForeignKey("content.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("strip_id", sa.String(32), primary_key=True),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )
    op.execute(
        "CREATE VIRTUAL TABLE lexical USING fts5("
        "body, heading, file, tokenize = 'porter unicode61 remove_diacritics 2')"
    )
