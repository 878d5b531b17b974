"""Alembic's environment: revisions in `versions/`, their statements in `sql/`."""
