"""Bringing a database to the current schema, and choosing the gate's profile.

Belongs here: running the revisions in `migrations/`, and settings that only the owner may change: profile and signers.
Does not belong here: the statements themselves: tables are in `migrations/sql`, revision by revision, and code
(functions, views, grants) in `migrations/code`, as it stands.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from types import MappingProxyType

from sqlalchemy import Connection, Engine, text

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.quality.lab import list_words
from deid_platform.warehouse.server.bootstrap import bootstrap
from deid_platform.warehouse.server.connection import Warehouse, begin
from deid_platform.warehouse.server.roles import Role
from deid_platform.warehouse.structured import Views, make_views

DEMONSTRATION = "demonstration"
_MIGRATION_LOCK = 0x6465_6964_0002


def migrate(admin: Engine, *, golds: Iterable[str] = (), structured: Views = MappingProxyType({})) -> None:
    """Upgrades to the newest revision, as the owner, in one transaction, one process at a time.

    Args:
        admin: The administrator's engine on the warehouse's database (`Warehouse.admin_engine`).
        golds: Words of the site's own corpora, which figures may have beside those of the platform.
        structured: Tables beside the notes that deid.toml maps.

    Raises:
        DeidError: `warehouse-busy` if a session holds a table for longer than half a minute, `warehouse-statement`
            with the SQLSTATE; nothing is changed then.
    """
    from alembic import command
    from alembic.config import Config

    from deid_platform.warehouse.migrations.statements import replace_code

    with begin(admin) as connection:
        _become_owner(connection)
        config = Config()
        config.set_main_option("script_location", "deid_platform.warehouse:migrations")
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        replace_code(connection)
        list_words(connection, golds)
        make_views(connection, structured)


def configure(admin: Engine, profile: str, *, signed_dossier: bool = False) -> None:
    """Makes `profile` the one that the gate demands; each change is in the ledger.

    Args:
        admin: The administrator's engine.
        profile: `demo` or `production`.
        signed_dossier: Whether releases are shown only once their dossier is signed.

    Raises:
        DeidError: `settings-invalid` if there is no such profile.
    """
    with begin(admin) as connection:
        _become_owner(connection)
        known = connection.execute(text("SELECT active FROM ctl.profile WHERE name = :name"), {"name": profile})
        active = known.scalar()
        if active is None:
            raise DeidError(Code.SETTINGS_INVALID, "gate.profile")
        _open_demonstration(connection, open_=profile == "demo")
        _demand_dossier(connection, profile, signed_dossier)
        if active:
            return
        connection.execute(text("UPDATE ctl.profile SET active = false WHERE active"))
        connection.execute(text("UPDATE ctl.profile SET active = true WHERE name = :name"), {"name": profile})
        event = text("INSERT INTO ctl.ledger (event, requirements) VALUES ('profile', ARRAY[:name])")
        connection.execute(event, {"name": profile})


def register_signer(admin: Engine, public_key: str, who: str, *, ends: bool = False) -> None:
    """Says whose signatures under dossiers count, or no longer; those made until then go on counting.

    Args:
        admin: The administrator's engine: the officer does not say which key is the officer's.
        public_key: In base64, as `deid dossier key` prints it.
        who: The person. Under another name that is said later for the same key, what was signed before counts no more.
        ends: The key counts no more.

    Raises:
        DeidError: `signature-invalid` with `key` if it is no key, one with which anybody makes signatures, or, to end
            one, none that counts; `waiver-invalid` with `who`.
    """
    with begin(admin) as connection:
        _become_owner(connection)
        values = {"key": public_key, "who": who.strip()}
        if ends:
            statement = (
                "UPDATE ctl.signer SET ended_at = clock_timestamp() WHERE public_key = :key AND ended_at IS NULL"
            )
        else:
            statement = (
                "INSERT INTO ctl.signer (public_key, who) VALUES (:key, :who)"
                " ON CONFLICT (public_key) DO UPDATE SET who = EXCLUDED.who, ended_at = NULL"
            )
        _require_name_and_key(connection, values, new=not ends)
        if not connection.execute(text(statement), values).rowcount:
            raise DeidError(Code.SIGNATURE_INVALID, "key")
        event = "INSERT INTO ctl.ledger (event, requirements, who) VALUES (:event, ARRAY[:key], :who)"
        connection.execute(text(event), {**values, "event": "signer-ended" if ends else "signer-registered"})


def _require_name_and_key(connection: Connection, values: dict[str, str], *, new: bool) -> None:
    connection.execute(text("SELECT ctl.require_who(:who)"), {"who": values["who"]})
    if not new:  # one that an earlier version took can be ended, whatever it is
        return
    try:
        decoded = base64.b64decode(values["key"], validate=True)
    except ValueError:
        raise DeidError(Code.SIGNATURE_INVALID, "key") from None
    point = text("SELECT ctl.point_of_key(:bytes) IS NOT NULL")
    if (
        base64.b64encode(decoded).decode() != values["key"]
        or not connection.execute(point, {"bytes": decoded}).scalar()
    ):
        raise DeidError(Code.SIGNATURE_INVALID, "key")


def _demand_dossier(connection: Connection, profile: str, demanded: bool) -> None:
    values = {"name": profile, "demanded": demanded}
    changed = connection.execute(
        text("UPDATE ctl.profile SET signed_dossier = :demanded WHERE name = :name AND signed_dossier <> :demanded"),
        values,
    )
    if changed.rowcount:
        event = "dossier-demanded" if demanded else "dossier-not-demanded"
        entry = text("INSERT INTO ctl.ledger (event, requirements) VALUES (:event, ARRAY[:name])")
        connection.execute(entry, {"event": event, "name": profile})


def _open_demonstration(connection: Connection, *, open_: bool) -> None:
    """Lets the login `demo_analyst` read all notes of a demonstration; elsewhere nobody reads without a project."""
    if open_:
        project = "INSERT INTO ctl.project (project, purpose) VALUES (:p, 'the demonstration') ON CONFLICT DO NOTHING"
        connection.execute(text(project), {"p": DEMONSTRATION})
        for statement in (
            "INSERT INTO ctl.project_grant (project) VALUES (:p) ON CONFLICT DO NOTHING",
            "INSERT INTO ctl.project_member (project, login) VALUES (:p, 'demo_analyst') ON CONFLICT DO NOTHING",
        ):
            connection.execute(text(statement), {"p": DEMONSTRATION})
    else:
        connection.execute(text("DELETE FROM ctl.project WHERE project = :p"), {"p": DEMONSTRATION})


def prepare(
    warehouse: Warehouse,
    *,
    profile: str,
    signed_dossier: bool = False,
    golds: Iterable[str] = (),
    structured: Views = MappingProxyType({}),
) -> None:
    """Roles, database, schema and profile in one call; does nothing where all is in place."""
    bootstrap(warehouse, demonstration=profile == "demo")
    admin = warehouse.admin_engine()
    migrate(admin, golds=golds, structured=structured)
    configure(admin, profile, signed_dossier=signed_dossier)


def _become_owner(connection: Connection) -> None:
    connection.execute(text(f"SET LOCAL ROLE {Role.OWNER}"))
    # Where everyone may take advisory locks, a reader could hold this one.
    connection.execute(text("SET LOCAL lock_timeout = '5min'"))
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
    # Whoever waits for a table that an idle reader holds makes every later reader wait behind it.
    connection.execute(text("SET LOCAL lock_timeout = '30s'"))
    connection.execute(text("SET LOCAL search_path = pg_catalog, pg_temp"))
