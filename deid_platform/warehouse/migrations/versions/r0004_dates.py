"""The class of dates of each release: no two classes under one secret."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    run(revision)
