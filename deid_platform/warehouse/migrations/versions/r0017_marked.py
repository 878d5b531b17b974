"""Notes in which a reviewer marked an identifier as missed, until an officer acts."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    run(revision)
