"""Golden questions, the last answer to each, and the runs over them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables of golden questions, answers and runs."""
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
        "golden_answers",
        sa.Column("golden", sa.Integer, sa.ForeignKey("golden_questions.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("under", sa.Text, nullable=False),
        sa.Column("failed", sa.Boolean, nullable=False),
        sa.Column("trace", sa.LargeBinary, nullable=False),
        sa.Column("swept_under", sa.Text, nullable=False),
        sa.Column("swept", sa.LargeBinary),
    )
    op.create_table(
        "golden_runs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("user", sa.String(64), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("asked", sa.Integer, nullable=False),
        sa.Column("left", sa.Integer, nullable=False),
        sa.Column("report", sa.LargeBinary, nullable=False),
    )
    op.create_index("golden_runs_of", "golden_runs", ["user"])
