"""Limited data sets: releases in which true dates stay, in a schema of their own."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    run(revision)
