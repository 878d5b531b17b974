"""Releases whose rows go little by little once they have expired."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    run(revision)
