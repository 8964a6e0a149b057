"""What a build needs to know of the last one, so that its cost is that of what has changed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds columns with defaults, which say that nothing is known: the next build looks at everything once."""
    op.add_column("state", sa.Column("sealed", sa.String, nullable=False, server_default=""))
    op.add_column("state", sa.Column("vectors", sa.Integer, nullable=False, server_default="0"))
    op.add_column("state", sa.Column("removed", sa.Integer, nullable=False, server_default="0"))
    op.add_column("content", sa.Column("revision", sa.Integer, nullable=False, server_default="0"))
    op.create_table("gone_vector", sa.Column("id", sa.String(32), primary_key=True))
