"""What is known about each page beyond its text, and how a file is to be read."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Adds columns with defaults: contents that were read before keep theirs."""
    op.add_column("page", sa.Column("facts", sa.Text, nullable=False, server_default="{}"))
    op.add_column("content", sa.Column("ocr_pages", sa.Integer, nullable=False, server_default="0"))
    op.add_column("content", sa.Column("options", sa.String, nullable=False, server_default=""))
    op.create_table(
        "file_option",
        sa.Column("path", sa.String, primary_key=True),
        sa.Column("ocr", sa.String(5), nullable=False),
    )
