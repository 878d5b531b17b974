"""The views that show rows of tables beside the notes.

Belongs here: telling the database which tables and columns there are. Does not belong here: the views themselves
(`migrations/code/k_structured.sql`), or the rows (`refresh/redact/structured_rows.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from sqlalchemy import Connection, text

Views = Mapping[str, Mapping[str, str]]
"""Table -> column in research -> what becomes of its values, for the data dictionary."""


def make_views(connection: Connection, views: Views) -> None:
    """Makes the views of these tables, and drops those of all others. To be called as the owner."""
    tables = {
        table: [{"name": name, "comment": comment} for name, comment in columns.items()]
        for table, columns in views.items()
    }
    connection.execute(text("SELECT ctl.make_structured(CAST(:tables AS jsonb))"), {"tables": json.dumps(tables)})
