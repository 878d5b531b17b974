"""Language models that judge releases, and which figures are by which."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    run(revision)
