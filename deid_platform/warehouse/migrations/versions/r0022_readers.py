"""What a delivery hid and when, by which measurements of before count no more."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    run(revision)
