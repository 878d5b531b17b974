"""Withdrawals that hold before their delivery's run has staged them."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    run(revision)
