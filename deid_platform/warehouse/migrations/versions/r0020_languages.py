"""The gate asks in which languages the detector was measured."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    run(revision)
