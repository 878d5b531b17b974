"""Readers' logins: each person's own, a member of a group of readers, with few connections at once.

Belongs here: making such a login, bounding it, and telling what is not bounded. Does not belong here: what a reader
sees, which projects decide (`projects`), or the platform's own logins (`bootstrap`).
"""

from __future__ import annotations

import re

from sqlalchemy import Connection, Engine, text

from deid_platform.errors import Code, DeidError
from deid_platform.warehouse.connection import Warehouse, begin
from deid_platform.warehouse.roles import READER_CONNECTIONS, READERS, SERVICES, Role, new_password

_LOGIN = re.compile(r"[a-z][a-z0-9_]{0,39}")
# What a reader may set otherwise. What one may not is `ctl.end_idle_readers`.
_SETTINGS = {"idle_in_transaction_session_timeout": "5min", "idle_session_timeout": "12h", "timezone": "UTC"}

OWNER_POWERS = ("pg_signal_backend", "pg_read_all_stats")
"""Roles of the server by which the owner's functions end readers' sessions, and see which of them are idle."""
NOT_FOR_EVERYONE = ("pg_export_snapshot()", "lo_creat(integer)", "lo_create(oid)", "lo_from_bytea(oid, bytea)")
"""By its snapshot, a reader who was removed would read on; large objects lie outside every schema and grant."""
_WITHOUT_LIMIT = """
    SELECT r.rolname AS login FROM pg_roles r
    WHERE r.rolcanlogin AND r.rolconnlimit = -1 AND NOT r.rolsuper AND NOT r.rolcreaterole
      AND EXISTS (SELECT 1 FROM unnest(CAST(:readers AS name[])) g (name) WHERE pg_has_role(r.oid, g.name, 'MEMBER'))
"""


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
        if secret:
            set_password(connection, login, secret)
    return secret is not None


def bound_logins(connection: Connection) -> None:
    """Gives each reader's login that has no limit of connections one: a group's own does not reach its members."""
    statement = text(f"SELECT quote_ident(w.login) FROM ({_WITHOUT_LIMIT}) w")  # noqa: S608 - ours alone
    logins: list[str] = list(connection.execute(statement, {"readers": [*READERS]}).scalars())
    for login in logins:
        connection.execute(text(f"ALTER ROLE {login} CONNECTION LIMIT {READER_CONNECTIONS}"))


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
    SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC: readers may call it', f.name)
    FROM unnest(CAST(:functions AS text[])) f (name)
    WHERE has_function_privilege('analyst', f.name, 'EXECUTE')
    UNION ALL
    SELECT 'reserved_connections is 0: readers can fill the server'
    WHERE coalesce(current_setting('reserved_connections', true), '0') = '0'
"""  # noqa: S608 - ours alone


def unbounded(officer: Engine) -> tuple[str, ...]:
    """What of the logins lets a reader take more than a reader's share, one sentence each; nothing if all is well."""
    values = {
        "services": [*SERVICES],
        "readers": [*READERS],
        "powers": [*OWNER_POWERS],
        "functions": [*NOT_FOR_EVERYONE],
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
