"""${message}"""

from __future__ import annotations

from deid_platform.warehouse.migrations.statements import run

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}


def upgrade() -> None:
    run(revision)
