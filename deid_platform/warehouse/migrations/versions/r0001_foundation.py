"""Schemas and tables; functions, views and grants are in `code/`, which every migration applies as it stands."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0001"
down_revision = None


def upgrade() -> None:
    run(revision)
