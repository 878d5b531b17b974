"""Marks of missed identifiers that wait for an officer, and dossiers that are written again."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    run(revision)
