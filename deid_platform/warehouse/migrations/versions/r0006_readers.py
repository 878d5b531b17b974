"""Logins of people, opt-outs that two roles must agree on, no statistics behind views."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    run(revision)
