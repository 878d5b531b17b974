"""Each figure says on whose notes it was measured, with whose topics, and by which hand these were marked."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    run(revision)
