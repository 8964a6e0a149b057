"""Golden questions and the runs over them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables of golden questions and runs."""
    op.create_table(
        "golden_questions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("user", sa.String(64), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("action", sa.String(16)),
        sa.Column("file", sa.Text, nullable=False),
        sa.Column("page", sa.Integer),
        sa.Column("answers", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("turn_id", sa.String(32)),
    )
    op.create_index("golden_of", "golden_questions", ["user"])
    op.create_table(
        "golden_runs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("user", sa.String(64), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("rows", sa.LargeBinary, nullable=False),
    )
    op.create_index("golden_runs_of", "golden_runs", ["user"])
