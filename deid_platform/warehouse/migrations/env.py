"""Runs the revisions on the connection that `migrate` hands over; there is no other way to run them."""

from __future__ import annotations

from alembic import context
from sqlalchemy import text

connection = context.config.attributes["connection"]
connection.execute(text("CREATE SCHEMA IF NOT EXISTS ctl"))
context.configure(connection=connection, version_table_schema="ctl")
with context.begin_transaction():
    context.run_migrations()
