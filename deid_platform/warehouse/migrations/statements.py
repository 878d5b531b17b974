"""Runs SQL files: a revision's own, and the code that every migration brings up to date."""

from __future__ import annotations

from importlib import resources

from alembic import op
from sqlalchemy import Connection


def run(revision: str) -> None:
    """Executes every `sql/<revision>_*.sql`, in the order of their names."""
    _execute(op.get_bind(), "sql", f"{revision}_")


def replace_code(connection: Connection) -> None:
    """Executes every `code/*.sql`: functions, views, policies, triggers and grants, each file repeatable.

    Tables have a history, so their changes are revisions. Code has none: what counts is how it reads now.
    """
    _execute(connection, "code")


def _execute(connection: Connection, folder: str, prefix: str = "") -> None:
    files = sorted((resources.files(__package__) / folder).iterdir(), key=lambda entry: entry.name)
    for file in files:
        if file.name.startswith(prefix) and file.name.endswith(".sql"):
            # Without parameters the driver neither reads % as a placeholder nor insists on one statement.
            connection.exec_driver_sql(file.read_text(encoding="utf-8"), execution_options={"no_parameters": True})
