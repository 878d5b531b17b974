"""Runs a revision's SQL files in the order of their names."""

from __future__ import annotations

from importlib import resources

from alembic import op


def run(revision: str) -> None:
    """Executes every `sql/<revision>_*.sql`."""
    folder = resources.files(__package__) / "sql"
    connection = op.get_bind()
    for file in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if file.name.startswith(f"{revision}_"):
            # Without parameters the driver neither reads % as a placeholder nor insists on one statement.
            connection.exec_driver_sql(file.read_text(encoding="utf-8"), execution_options={"no_parameters": True})
