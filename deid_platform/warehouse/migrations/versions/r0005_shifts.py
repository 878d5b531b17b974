"""With whom each patient's dates are moved: no release shows two shifts of one patient."""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    run(revision)
