"""Findings that two people can withdraw."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    run(revision)
