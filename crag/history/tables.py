"""The tables of people's own things. Their history is in `migrations/`; a test holds both together."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, Index, Integer, MetaData, String, Table, Text

metadata = MetaData()

labels = Table(
    "labels",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("user", String(64), nullable=False),
    Column("created", String(32), nullable=False),
    Column("question", Text, nullable=False),
    Column("document", String(64), nullable=False),
    Column("content", String(64), nullable=False),
    Column("file", Text, nullable=False),
    Column("page", Integer, nullable=False),
    Column("text_sha256", String(64), nullable=False),
    Column("text", Text, nullable=False),
    Column("label", Boolean, nullable=False),
    Column("score", Float),
    Column("evaluator", String(64), nullable=False),
    Column("note", Text, nullable=False),
    Index("labels_of", "user", "question", "text_sha256"),
)
"""What people said of documents. Rows are only added: of one (user, question, text) the newest holds."""
