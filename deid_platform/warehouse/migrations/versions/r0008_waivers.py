"""Waivers that can be ended before their last day."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    run(revision)
