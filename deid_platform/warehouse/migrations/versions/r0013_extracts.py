"""Extracts: who took which notes out, and what still stands of it."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    run(revision)
