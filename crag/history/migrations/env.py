"""Runs the migrations on the connection that `crag.database` hands over."""

from __future__ import annotations

from alembic import context

from crag.history.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
