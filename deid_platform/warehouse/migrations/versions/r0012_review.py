"""Decisions of the reviewer's desk."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    run(revision)
