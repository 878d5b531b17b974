"""Readers' logins: each person's own, a member of a group of readers, with few connections at once.

Belongs here: making such a login, bounding it, and telling what is not bounded. Does not belong here: what a reader
sees, which projects decide (`projects`), or the platform's own logins (`bootstrap`).
"""

from __future__ import annotations

import re

from sqlalchemy import Connection, Engine, text

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.server.connection import Warehouse, begin
from deid_platform.warehouse.server.roles import (
    READER_CONNECTIONS,
    READER_TEMPORARY_FILES,
    READERS,
    SERVICES,
    Role,
    new_password,
)

_LOGIN = re.compile(r"[a-z][a-z0-9_]{0,39}")
# What a reader may set otherwise. What one may not is `ctl.end_idle_readers`, and the limit of temporary files below.
_SETTINGS = {"idle_in_transaction_session_timeout": "5min", "idle_session_timeout": "12h", "timezone": "UTC"}

_LIMIT_OF_FILES = f"SET temp_file_limit = '{READER_TEMPORARY_FILES}'"

OWNER_POWERS = ("pg_signal_backend", "pg_read_all_stats")
"""Roles of the server by which the owner's functions end readers' sessions, and see which of them are idle."""
NOT_FOR_EVERYONE = (
    "pg_(try_)?advisory_.*",  # they fill the server's table of locks, without which nobody connects
    "pg_export_snapshot",  # by which a reader who was removed would read on
    "lo_(creat|create|from_bytea)",  # large objects lie outside every schema and grant
    "pg_notify",  # carries text to whoever listens, and so does the statement NOTIFY, which nobody can be refused
    "pg_logical_emit_message",  # fills the disk with log
)
"""Names of functions of the server, as patterns: readers can do without, and a session of one would harm others."""
_SETTINGS_OF_ROLES = {"pg_db_role_setting": "setconfig", "pg_roles": "rolconfig", "pg_user": "useconfig"}
_GIVEN_BY_ROLES = {"pg_default_acl": "defaclacl", "pg_shdepend": "refobjid"}
_WRITTEN_BY_ROLES = _SETTINGS_OF_ROLES | _GIVEN_BY_ROLES
"""Where each login's own settings and default privileges stand: by them, one reader writes and every other reads.

Of the second nothing is left: how many rows there are, and of which roles, tells as much as what stands in them.
"""
MIGRATION_LOCK = "pg_advisory_xact_lock(bigint)"
"""The one of them that the owner takes, so that one migration runs at a time."""
_FUNCTIONS = """
    SELECT p.oid, CAST(CAST(p.oid AS regprocedure) AS text) AS name FROM pg_proc p
    WHERE p.pronamespace = 'pg_catalog'::regnamespace
      AND p.proname ~ ('^(' || array_to_string(CAST(:functions AS text[]), '|') || ')$')
"""
_READERS = """
    SELECT r.oid, r.rolname AS login, r.rolconnlimit FROM pg_roles r
    WHERE r.rolcanlogin AND NOT r.rolsuper AND NOT r.rolcreaterole
      AND EXISTS (SELECT 1 FROM unnest(CAST(:readers AS name[])) g (name) WHERE pg_has_role(r.oid, g.name, 'MEMBER'))
"""
_WITHOUT_LIMIT = f"SELECT r.login FROM ({_READERS}) r WHERE r.rolconnlimit = -1"  # noqa: S608 - ours alone
_UNLIMITED_FILES = f"""
    SELECT r.login FROM ({_READERS}) r
    WHERE NOT EXISTS (SELECT 1 FROM pg_db_role_setting s, unnest(s.setconfig) c (setting)
                      WHERE s.setrole = r.oid AND c.setting ~ '^temp_file_limit=[0-9]')
"""  # noqa: S608 - ours alone


def add_login(
    warehouse: Warehouse, login: str, *, limited: bool = False, connections: int = READER_CONNECTIONS
) -> bool:
    """Makes a person's login, or brings one to the same state; it reads nothing until a project is granted it.

    Args:
        warehouse: Where, as its administrator.
        login: Its name: lower-case letters, digits, `_`.
        limited: For limited data sets instead of research.
        connections: How many it may have at once.

    Returns:
        Whether it has a password from DEID_PASSWORD_<LOGIN>; another way in is the administrator's to set.

    Raises:
        DeidError: `login-invalid` if the name is not of that form or is a role of the platform; `password-weak`.
    """
    if not _LOGIN.fullmatch(login) or login in {*Role} - {Role.DEMO_ANALYST}:
        raise DeidError(Code.LOGIN_INVALID)
    secret = None if warehouse.embedded else new_password(login)
    group = Role.LIMITED_ANALYST if limited else Role.ANALYST
    with warehouse.administer(maintenance=True) as connection:
        powers = text("SELECT rolsuper OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = :login")
        powerful = connection.execute(powers, {"login": login}).scalar()
        if powerful:
            raise DeidError(Code.LOGIN_INVALID)
        if powerful is None:
            connection.execute(text(f"CREATE ROLE {login} LOGIN NOCREATEDB NOCREATEROLE"))
        if not is_member(connection, login, group):
            connection.execute(text(f"GRANT {group} TO {login}"))
        connection.execute(text(f"ALTER ROLE {login} CONNECTION LIMIT {int(connections)}"))
        for name, value in _SETTINGS.items():
            connection.execute(text(f"ALTER ROLE {login} SET {name} = '{value}'"))
        bound_logins(connection)
        if secret:
            set_password(connection, login, secret)
    return secret is not None


def bound_logins(connection: Connection) -> None:
    """Gives each reader's login that has no limit of connections one, and one of temporary files likewise.

    A group's own does not reach its members. The second is the administrator's to set where the server lets them.
    """
    limits = {_WITHOUT_LIMIT: f"CONNECTION LIMIT {READER_CONNECTIONS}"}
    if _may_limit_files(connection):
        limits[_UNLIMITED_FILES] = _LIMIT_OF_FILES
    for logins, limit in limits.items():
        statement = text(f"SELECT quote_ident(w.login) FROM ({logins}) w")  # noqa: S608 - ours alone
        found: list[str] = list(connection.execute(statement, {"readers": [*READERS]}).scalars())
        for login in found:
            connection.execute(text(f"ALTER ROLE {login} {limit}"))


def _may_limit_files(connection: Connection) -> bool:
    allowed = text(
        "SELECT has_parameter_privilege(current_user, 'temp_file_limit', 'SET')"
        " AND has_column_privilege('pg_catalog.pg_db_role_setting', 'setconfig', 'SELECT')"
    )
    return bool(connection.execute(allowed).scalar())


def take_from_public(connection: Connection) -> None:
    """Takes functions of the server away from everyone, where the administrator may; else `deid doctor` tells."""
    if not connection.execute(text("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")).scalar():
        return
    names = text(f"SELECT f.name FROM ({_FUNCTIONS}) f ORDER BY 1")  # noqa: S608 - ours alone
    functions = ", ".join(connection.execute(names, {"functions": [*NOT_FOR_EVERYONE]}).scalars())
    connection.execute(text(f"REVOKE EXECUTE ON FUNCTION {functions} FROM PUBLIC"))
    connection.execute(text(f"GRANT EXECUTE ON FUNCTION {MIGRATION_LOCK} TO {Role.OWNER}"))
    columns = text(
        "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute"
        " WHERE attrelid = CAST(:table AS regclass) AND attnum > 0 AND NOT attisdropped AND attname <> :settings"
    )
    for table, settings in _SETTINGS_OF_ROLES.items():
        others: str = connection.execute(columns, {"table": f"pg_catalog.{table}", "settings": settings}).scalar_one()
        place = f"ON pg_catalog.{table}"
        both = f"REVOKE SELECT {place} FROM PUBLIC; GRANT SELECT ({others}) {place} TO PUBLIC"  # noqa: S608 - names of the server
        # In one transaction: others read these tables all the time.
        connection.exec_driver_sql(both, execution_options={"no_parameters": True})
    given = ", ".join(f"pg_catalog.{table}" for table in _GIVEN_BY_ROLES)
    connection.execute(text(f"REVOKE SELECT ON {given} FROM PUBLIC"))  # noqa: S608 - names of the server
    connection.execute(text(f"GRANT SELECT ON pg_catalog.pg_db_role_setting TO {Role.OFFICER}"))


_UNBOUNDED = f"""
    SELECT format('%s belongs to %s, whose password it can change', m.rolname, r.rolname) AS told
    FROM pg_auth_members a JOIN pg_roles m ON m.oid = a.member JOIN pg_roles r ON r.oid = a.roleid
    WHERE r.rolname = ANY(:services) AND NOT m.rolsuper AND NOT m.rolcreaterole
    UNION ALL
    SELECT format('one can log in as the group %s', rolname) FROM pg_roles
    WHERE rolname = ANY(:readers) AND rolcanlogin
    UNION ALL
    SELECT format('%s has no limit of connections', w.login) FROM ({_WITHOUT_LIMIT}) w
    UNION ALL
    SELECT format('GRANT %s TO deid_owner: no session of a reader can be ended', p.name)
    FROM unnest(CAST(:powers AS text[])) p (name)
    WHERE NOT pg_has_role('deid_owner', p.name, 'MEMBER')
    UNION ALL
    SELECT format('readers may call %s%s: let a superuser run `deid db bootstrap`',
                  array_to_string((array_agg(f.name ORDER BY f.name))[1:3], ', '),
                  CASE WHEN count(*) > 3 THEN format(' and %s more functions that harm others', count(*) - 3) END)
    FROM ({_FUNCTIONS}) f WHERE has_function_privilege('analyst', f.oid, 'EXECUTE') HAVING count(*) > 0
    UNION ALL
    SELECT format('GRANT EXECUTE ON FUNCTION %s TO deid_owner: no migration can begin', CAST(:lock AS text))
    WHERE NOT has_function_privilege('deid_owner', CAST(:lock AS text), 'EXECUTE')
    UNION ALL
    SELECT 'readers read each other''s settings or default privileges, which may be any text: let a superuser run'
           ' `deid db bootstrap`'
    FROM unnest(CAST(:settings AS text[]), CAST(:columns AS text[])) s (name, settings)
    WHERE has_column_privilege('analyst', 'pg_catalog.' || s.name, s.settings, 'SELECT') HAVING count(*) > 0
    UNION ALL
    SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC: there readers may do what they may not here', d.datname)
    FROM pg_database d
    WHERE d.datallowconn AND EXISTS (
        SELECT 1 FROM aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
        WHERE a.grantee = 0 AND a.privilege_type = 'CONNECT')
    UNION ALL
    SELECT format('%s may fill the disk: ALTER ROLE %I SET temp_file_limit', w.login, w.login)
    FROM ({_UNLIMITED_FILES}) w WHERE current_setting('temp_file_limit') = '-1'
    UNION ALL
    SELECT 'max_prepared_transactions is not 0: what a reader prepares keeps its locks after its session'
    WHERE current_setting('max_prepared_transactions') <> '0'
    UNION ALL
    SELECT CASE WHEN current_setting('reserved_connections', true) IS NULL
                THEN 'readers can fill the server: PostgreSQL 16 or later reserves connections for the platform'
                ELSE 'reserved_connections is 0: readers can fill the server' END
    WHERE coalesce(current_setting('reserved_connections', true), '0') = '0'
"""  # noqa: S608 - ours alone


def unbounded(officer: Engine) -> tuple[str, ...]:
    """What of the logins lets a reader take more than a reader's share, one sentence each; nothing if all is well."""
    values = {
        "services": [*SERVICES],
        "readers": [*READERS],
        "powers": [*OWNER_POWERS],
        "functions": [*NOT_FOR_EVERYONE],
        "lock": MIGRATION_LOCK,
        "settings": [*_WRITTEN_BY_ROLES],
        "columns": [*_WRITTEN_BY_ROLES.values()],
    }
    with begin(officer) as connection:
        return tuple(connection.execute(text(_UNBOUNDED), values).scalars())


def is_member(connection: Connection, login: str, group: str) -> bool:
    """Whether a login belongs to a group."""
    member = text("SELECT pg_has_role(CAST(:login AS name), CAST(:group AS name), 'MEMBER')")
    return bool(connection.execute(member, {"login": login, "group": str(group)}).scalar())


def set_password(connection: Connection, login: str, secret: str) -> None:
    """Sets a login's password, hashed on this side, so that it never reaches the server or its log."""
    driver = connection.connection.driver_connection
    assert driver is not None  # noqa: S101 - an open connection has its driver's
    hashed = driver.pgconn.encrypt_password(secret.encode(), login.encode(), b"scram-sha-256").decode()
    connection.exec_driver_sql(f"ALTER ROLE {login} PASSWORD '{hashed}'", execution_options={"no_parameters": True})
