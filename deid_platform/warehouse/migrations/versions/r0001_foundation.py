"""Schemas, tables, the gate's functions and their grants."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0001"
down_revision = None


def upgrade() -> None:
    run(revision)
