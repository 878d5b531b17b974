"""Figures of the laboratory, dossiers and their signatures."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    run(revision)
