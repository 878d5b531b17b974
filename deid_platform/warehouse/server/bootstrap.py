"""Making roles and database, and what the cluster and the database grant before any table exists.

Belongs here: roles, the database, and what is granted on the database itself. Does not belong here: grants
on tables and functions, which a migration makes together with the object.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, text

from deid_platform.warehouse.server.connection import Warehouse
from deid_platform.warehouse.server.logins import OWNER_POWERS, bound_logins, is_member, set_password, take_from_public
from deid_platform.warehouse.server.roles import LOGIN_ROLES, READERS, SERVICES, Role, new_password

_BOOTSTRAP_LOCK = 0x6465_6964_0001
_QUIET = {
    "log_min_messages": "fatal",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_statement": "none",
    "log_min_duration_statement": "-1",
}


def bootstrap(warehouse: Warehouse, *, demonstration: bool = False) -> None:
    """Makes roles and database; what exists is brought to the same state, so that it can run any number of times.

    Passwords are set on a real server only, from the environment (`password`); a role without one keeps
    what it has.

    Args:
        warehouse: Where; its administrator must be a superuser, or may create roles and databases.
        demonstration: Whether to make the login `demo_analyst` too.

    Raises:
        DeidError: `password-weak` with the role's name, before anything is changed; else as any statement does.
    """
    # Before anything is made: a role that exists without a good password could be left that way.
    logins = LOGIN_ROLES if demonstration else SERVICES
    passwords: dict[Role, str | None] = {} if warehouse.embedded else {role: new_password(role) for role in logins}
    with warehouse.administer(maintenance=True) as connection:
        # Roles belong to the cluster and CREATE DATABASE takes no transaction, hence a lock of the session. It is not
        # waited for without end: where readers may connect to the server's own database, one could hold it.
        connection.execute(text("SET lock_timeout = '1min'"))
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": _BOOTSTRAP_LOCK})
        _create_roles(connection, logins)
        for role, secret in passwords.items():
            if secret:
                set_password(connection, role, secret)
        _grant_powers(connection)
        bound_logins(connection)
        _create_database(connection, warehouse.database)
        # Grants on a database are rows of a shared catalogue: two sessions at once would collide on them.
        with warehouse.administer() as inside:
            _close_to_public(inside, warehouse.database)
            take_from_public(inside)
        if warehouse.embedded:  # the server is nobody else's
            for other in ("postgres", "template1"):
                connection.execute(text(f"REVOKE ALL ON DATABASE {other} FROM PUBLIC"))
        connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": _BOOTSTRAP_LOCK})


def _create_roles(connection: Connection, logins: Collection[Role]) -> None:
    found = connection.execute(text("SELECT rolname, rolcanlogin FROM pg_roles"))
    existing: dict[str, bool] = {row.rolname: row.rolcanlogin for row in found}
    for role in (Role.OWNER, *READERS, *logins):
        login = "LOGIN" if role in logins else "NOLOGIN"
        if role not in existing:
            connection.execute(text(f"CREATE ROLE {role} {login} NOCREATEDB NOCREATEROLE"))
    for group in READERS:
        if existing.get(group):  # made by an earlier version, which let people log in as it
            connection.execute(text(f"ALTER ROLE {group} NOLOGIN PASSWORD NULL"))
    if Role.DEMO_ANALYST in logins and not is_member(connection, Role.DEMO_ANALYST, Role.ANALYST):
        connection.execute(text(f"GRANT {Role.ANALYST} TO {Role.DEMO_ANALYST}"))
    # SET ROLE to the owner, and default privileges for the modeller, need membership; since version 16 whoever
    # makes a role is a member, but one that may not yet become it.
    kind = "MEMBER" if connection.dialect.server_version_info < (16,) else "SET"  # type: ignore[operator]
    for role in (Role.OWNER, Role.MODELLER):
        member = text("SELECT pg_has_role(current_user, CAST(:role AS text), :kind)")
        if not connection.execute(member, {"role": role.value, "kind": kind}).scalar():
            connection.execute(text(f"GRANT {role} TO CURRENT_USER"))


def _grant_powers(connection: Connection) -> None:
    """Lets the owner's functions end readers' sessions, and the platform in where readers fill the server.

    An administrator who may not grant one of them leaves it out, and `deid doctor` tells.
    """
    powers = {
        **dict.fromkeys(OWNER_POWERS, (Role.OWNER,)),
        "pg_use_reserved_connections": SERVICES,  # since PostgreSQL 16
    }
    grantable = text(
        "SELECT g.rolname FROM pg_roles g, pg_roles me WHERE me.rolname = current_user AND g.rolname = ANY(:names)"
        " AND (me.rolsuper OR pg_has_role(me.oid, g.oid, 'MEMBER WITH ADMIN OPTION')"
        "      OR (me.rolcreaterole AND current_setting('server_version_num')::integer < 160000))"
    )
    found: list[str] = list(connection.execute(grantable, {"names": list(powers)}).scalars())
    for power in found:
        for role in powers[power]:
            if not is_member(connection, role, power):
                connection.execute(text(f"GRANT {power} TO {role}"))


def _quoted(connection: Connection, identifier: str) -> str:
    return connection.dialect.identifier_preparer.quote(identifier)


def _create_database(connection: Connection, database: str) -> None:
    found = connection.execute(text("SELECT 1 FROM pg_database WHERE datname = :name"), {"name": database})
    if found.first() is None:
        name = _quoted(connection, database)
        connection.execute(text(f"CREATE DATABASE {name} OWNER {Role.OWNER} TEMPLATE template0 ENCODING 'UTF8'"))


def _close_to_public(connection: Connection, database: str) -> None:
    name = _quoted(connection, database)
    roles = ", ".join((*SERVICES, *READERS))
    statements = [
        f"REVOKE ALL ON DATABASE {name} FROM PUBLIC",
        f"GRANT CONNECT, CREATE ON DATABASE {name} TO {Role.OWNER}",
        f"GRANT CONNECT ON DATABASE {name} TO {roles}",
        # Incremental dbt models need temporary tables; nobody else may make one.
        f"GRANT TEMPORARY ON DATABASE {name} TO {Role.MODELLER}",
        "REVOKE ALL ON SCHEMA public FROM PUBLIC",
        f"ALTER DEFAULT PRIVILEGES FOR ROLE {Role.OWNER} REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC",
        f"ALTER DEFAULT PRIVILEGES FOR ROLE {Role.MODELLER} REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC",
        f"ALTER DEFAULT PRIVILEGES FOR ROLE {Role.MODELLER} GRANT SELECT ON TABLES TO {Role.ANALYST}",
    ]
    # An ordinary error quotes the value that it refuses: keep those out of the server's log.
    allowed = text("SELECT has_parameter_privilege(current_user, :name, 'SET')")
    for key, value in _QUIET.items():
        # An administrator without superuser rights needs a grant for each, or the server's own configuration.
        if connection.execute(allowed, {"name": key}).scalar():
            statements.append(f"ALTER DATABASE {name} SET {key} = '{value}'")
    for statement in statements:
        connection.execute(text(statement))
