"""Missed identifiers that reviewers mark."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0015"
down_revision = "0013"


def upgrade() -> None:
    run(revision)
