"""The tables of people's own things. Their history is in `migrations/`; a test holds both together."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
)

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

conversations = Table(
    "conversations",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("user", String(64), nullable=False),
    Column("title", Text, nullable=False),
    Column("folded", Text, nullable=False),
    Column("named", Boolean, nullable=False),
    Column("created", String(32), nullable=False),
    Column("changed", String(32), nullable=False),
    Column("deleted", String(32)),
    Column("files", Text, nullable=False),
    Column("branch_of", String(32)),
    Index("conversations_of", "user", "changed"),
)
"""`folded`: the title as a search compares it. `named`: it was given by hand. `deleted`: when, so that it can be
brought back. `files`: JSON list of paths."""

turns = Table(
    "turns",
    metadata,
    Column("conversation", String(32), ForeignKey("conversations.id", ondelete="CASCADE"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("turn_id", String(32), nullable=False),
    Column("created", String(32), nullable=False),
    Column("question", Text, nullable=False),
    Column("files", Text, nullable=False),
    Column("settings", Text, nullable=False),
    Column("made", String(16), nullable=False),
    Column("shown", Boolean, nullable=False),
    Column("error", Text),
    Column("liked", Boolean),
    Column("why", Text, nullable=False),
    Column("words", Text, nullable=False),
    Column("trace", LargeBinary),
    PrimaryKeyConstraint("conversation", "position", "version"),
    Index("turns_by_id", "turn_id"),
)
"""An answer made anew is another `version` at its position; `made` says how it came about, `shown` which one is seen.
Both `trace` and `error` are null until it has ended; `trace` is its JSON through zlib, and the last column, so that a
search does not read it. `settings`: those that differ per turn, as JSON and without keys. `files`: JSON list of paths.
`words`: what a search looks through, folded. A conversation that was branched off shares the `turn_id` of its rows."""

preferences = Table(
    "preferences",
    metadata,
    Column("user", String(64), nullable=False),
    Column("name", String(64), nullable=False),
    Column("value", Text, nullable=False),
    PrimaryKeyConstraint("user", "name"),
)
"""Settings changed on the page, by their name in config.py; `value` is JSON."""

golden_questions = Table(
    "golden_questions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("user", String(64), nullable=False),
    Column("created", String(32), nullable=False),
    Column("question", Text, nullable=False),
    Column("action", String(16)),
    Column("file", Text, nullable=False),
    Column("page", Integer),
    Column("answers", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("turn_id", String(32)),
    Index("golden_of", "user"),
)
"""Questions with what is expected of them; `answers`: JSON list of strings, `turn_id`: the turn it was saved from."""

golden_answers = Table(
    "golden_answers",
    metadata,
    Column("golden", Integer, ForeignKey("golden_questions.id", ondelete="CASCADE"), primary_key=True),
    Column("created", String(32), nullable=False),
    Column("asked", Text, nullable=False),
    Column("under", Text, nullable=False),
    Column("failed", Boolean, nullable=False),
    Column("trace", LargeBinary, nullable=False),
    Column("swept_under", Text, nullable=False),
    Column("swept", LargeBinary),
)
"""The last answer to each golden question. `asked`: the question as it was then, `under`: what it ran under, both JSON.
`trace`: its JSON through zlib; `swept`: likewise the run with both looks that thresholds are tried on."""

golden_runs = Table(
    "golden_runs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("user", String(64), nullable=False),
    Column("created", String(32), nullable=False),
    Column("asked", Integer, nullable=False),
    Column("left", Integer, nullable=False),
    Column("report", LargeBinary, nullable=False),
    Index("golden_runs_of", "user"),
)
"""Runs over golden questions. `asked`: how many were asked in it, `left`: how many were not since it was stopped;
`report`: JSON through zlib, as `crag eval --json` writes it."""
