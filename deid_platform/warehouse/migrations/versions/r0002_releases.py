"""Releases that roll back and expire, tombstones that hold in all of them, findings, projects and the access log."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    run(revision)
