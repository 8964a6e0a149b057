"""The first schema: labels, by which people correct grades."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the table of labels."""
    op.create_table(
        "labels",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("user", sa.String(64), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("document", sa.String(64), nullable=False),
        sa.Column("content", sa.String(64), nullable=False),
        sa.Column("file", sa.Text, nullable=False),
        sa.Column("page", sa.Integer, nullable=False),
        sa.Column("text_sha256", sa.String(64), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("label", sa.Boolean, nullable=False),
        sa.Column("score", sa.Float),
        sa.Column("evaluator", sa.String(64), nullable=False),
        sa.Column("note", sa.Text, nullable=False),
    )
    op.create_index("labels_of", "labels", ["user", "question", "text_sha256"])
