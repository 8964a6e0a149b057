"""Conversations with their turns and traces."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Creates the tables of conversations and turns."""
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("user", sa.String(64), nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("folded", sa.Text, nullable=False),
        sa.Column("named", sa.Boolean, nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("changed", sa.String(32), nullable=False),
        sa.Column("deleted", sa.String(32)),
        sa.Column("files", sa.Text, nullable=False),
        sa.Column("branch_of", sa.String(32)),
    )
    op.create_index("conversations_of", "conversations", ["user", "changed"])
    op.create_table(
        "turns",
        sa.Column("conversation", sa.String(32), sa.ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("turn_id", sa.String(32), nullable=False),
        sa.Column("created", sa.String(32), nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("files", sa.Text, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("made", sa.String(16), nullable=False),
        sa.Column("shown", sa.Boolean, nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("liked", sa.Boolean),
        sa.Column("why", sa.Text, nullable=False),
        sa.Column("words", sa.Text, nullable=False),
        sa.Column("trace", sa.LargeBinary),
        sa.PrimaryKeyConstraint("conversation", "position", "version"),
    )
    op.create_index("turns_by_id", "turns", ["turn_id"])
