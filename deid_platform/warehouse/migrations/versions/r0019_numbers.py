"""Of each kind a key has one number, as the planner must know."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    run(revision)
