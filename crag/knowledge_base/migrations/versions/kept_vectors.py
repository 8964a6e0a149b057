"""Vectors of services while a file is not finished, and the evaluator's own beside those of another embedding."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds two empty tables."""
    op.create_table(
        "made_vector",
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "own_vector",
        sa.Column("content_id", sa.Integer, sa.ForeignKey("content.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("id", sa.String(32), primary_key=True),
        sa.Column("embedding", sa.String, nullable=False),
        sa.Column("vector", sa.LargeBinary, nullable=False),
    )
