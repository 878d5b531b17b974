"""Held-out sets, and every look at one."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    run(revision)
