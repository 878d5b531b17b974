"""Who may read which notes: projects, what they were granted, and who belongs to them.

Belongs here: the officer's calls and the reading of the access log. Does not belong here: the row-level security
that enforces it (`migrations/code/d_visibility.sql`), or making logins, which is the administrator's.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime

from sqlalchemy import Connection, Engine, text

from deid_platform.errors import Code, DeidError, did_you_mean
from deid_platform.warehouse.server.connection import begin
from deid_platform.warehouse.server.roles import READERS


@dataclass(frozen=True, slots=True)
class Project:
    """One project: what it is for, until when, what it may read, and whose logins belong to it.

    `grants` are pairs of site and note type; None means every one.
    """

    project: str
    purpose: str
    until: date | None
    grants: tuple[tuple[str | None, str | None], ...]
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Access:
    """Reads of a view in one session, within a minute: when the first, by which login, of what, for which projects."""

    at: datetime
    login: str
    relation: str
    release: str | None
    projects: tuple[str, ...]
    reads: int


def set_project(officer: Engine, project: str, *, purpose: str, until: date | None = None) -> None:
    """Makes a project, or gives one another purpose or last day, which ends in UTC by the server's clock.

    Raises:
        DeidError: `warehouse-statement` (23514) if the name is not lower-case letters, digits, `_` and `-`.
    """
    with begin(officer) as connection:
        connection.execute(text("SELECT ctl.set_project(:p, :why, :u)"), {"p": project, "why": purpose, "u": until})
        members = _members(connection, project)
    if until is not None and until < datetime.now(tz=UTC).date():
        _end_sessions(officer, members)


def grant_project(
    officer: Engine, project: str, *, site: str | None = None, note_type: str | None = None, granted: bool = True
) -> int | None:
    """Lets a project read the notes of a site and a type, or takes that very grant back; None means every one.

    Returns:
        How many open connections of its members were ended for it; None if the database may not end any.

    Raises:
        DeidError: `project-unknown`; `grant-unknown` if it is to take back a grant that there is not.
    """
    values = {"p": project, "s": site, "t": note_type, "g": granted}
    with begin(officer) as connection:
        _refuse_unknown(connection, project)
        if not granted and (site, note_type) not in (held := _grants(connection, project)):
            given = ", ".join(f"{s or '*'} {t or '*'}" for s, t in held) or "nothing"
            raise DeidError(Code.GRANT_UNKNOWN, f"{project} may read (site, note type): {given}")
        connection.execute(text("SELECT ctl.grant_project(:p, :s, :t, :g)"), values)
        members = _members(connection, project)
    return 0 if granted else _end_sessions(officer, members)


def set_member(officer: Engine, project: str, login: str, *, member: bool = True) -> int | None:
    """Lets a login read for a project, or no longer.

    Returns:
        How many open connections of a login that leaves were ended; None if the database may not end any.

    Raises:
        DeidError: `project-unknown`; `member-unknown` if there is no reader's login of that name, or, where it is to
            leave, if it does not belong to the project.
    """
    with begin(officer) as connection:
        _refuse_unknown(connection, project)
        known = _logins(connection) if member else _members(connection, project)
        if login not in known:
            raise DeidError(Code.MEMBER_UNKNOWN, did_you_mean(login, known, listed=not member))
        connection.execute(text("SELECT ctl.set_member(:p, :l, :m)"), {"p": project, "l": login, "m": member})
    return 0 if member else _end_sessions(officer, [login])


def delete_project(officer: Engine, project: str, *, who: str, reason: str) -> int | None:
    """Deletes a project with its grants and members; the ledger keeps what it was.

    Args:
        officer: The engine of the role `officer`.
        project: Which one.
        who: The person who answers for it.
        reason: At least ten characters.

    Returns:
        How many open connections of its members were ended; None if the database may not end any.

    Raises:
        DeidError: `project-unknown`; `waiver-invalid` without a person or a reason.
    """
    with begin(officer) as connection:
        _refuse_unknown(connection, project)
        statement = text("SELECT ctl.delete_project(:p, :who, :reason)")
        values = {"p": project, "who": who, "reason": reason}
        members: list[str] = connection.execute(statement, values).scalar_one()
    return _end_sessions(officer, members)


def holds_notes(officer: Engine, *, site: str | None = None, note_type: str | None = None) -> bool:
    """Whether any note that was ever promoted is of this site and type; None means any."""
    with begin(officer) as connection:
        found = connection.execute(text("SELECT ctl.holds_notes(:s, :t)"), {"s": site, "t": note_type})
        return bool(found.scalar_one())


def _refuse_unknown(connection: Connection, project: str) -> None:
    known: list[str] = list(connection.execute(text("SELECT project FROM ctl.project")).scalars())
    if project not in known:
        raise DeidError(Code.PROJECT_UNKNOWN, did_you_mean(project, known))


def _logins(connection: Connection) -> list[str]:
    """Readers' logins: they can log in and belong to a group of readers."""
    statement = text(
        "SELECT r.rolname FROM pg_roles r WHERE r.rolcanlogin AND NOT r.rolsuper AND EXISTS ("
        " SELECT 1 FROM unnest(CAST(:readers AS name[])) g (name) WHERE pg_has_role(r.oid, g.name, 'MEMBER'))"
    )
    return list(connection.execute(statement, {"readers": [*READERS]}).scalars())


def _grants(connection: Connection, project: str) -> list[tuple[str | None, str | None]]:
    statement = text("SELECT site, note_type FROM ctl.project_grant WHERE project = :p ORDER BY 1, 2")
    return [(row.site, row.note_type) for row in connection.execute(statement, {"p": project})]


def _members(connection: Connection, project: str) -> list[str]:
    statement = text("SELECT login FROM ctl.project_member WHERE project = :p")
    return list(connection.execute(statement, {"p": project}).scalars())


def _end_sessions(officer: Engine, logins: list[str]) -> int | None:
    """Ends readers' connections, once the change is there to be seen: an open transaction goes by what was before."""
    with begin(officer) as connection:
        ended: int | None = connection.execute(
            text("SELECT ctl.end_sessions(:logins)"), {"logins": logins}
        ).scalar_one()
    return ended


def projects(officer: Engine) -> tuple[Project, ...]:
    """Every project in the order of their names."""
    statement = text(
        """
        SELECT p.project, p.purpose, p.until,
               ARRAY(SELECT ARRAY[g.site, g.note_type] FROM ctl.project_grant g WHERE g.project = p.project
                     ORDER BY 1) AS grants,
               ARRAY(SELECT m.login FROM ctl.project_member m WHERE m.project = p.project ORDER BY 1) AS members
        FROM ctl.project p ORDER BY p.project
        """
    )
    with begin(officer) as connection:
        rows = connection.execute(statement).all()
    return tuple(
        Project(row.project, row.purpose, row.until, tuple((s, t) for s, t in row.grants), tuple(row.members))
        for row in rows
    )


def accesses(officer: Engine, *, login: str | None = None, newest: int = 100) -> tuple[Access, ...]:
    """The newest reads, of all logins or of one, newest first."""
    statement = text(
        "SELECT at, login, relation, release, projects, reads FROM ctl.access_log"
        " WHERE CAST(:l AS text) IS NULL OR login = :l ORDER BY id DESC LIMIT :n"
    )
    with begin(officer) as connection:
        rows = connection.execute(statement, {"l": login, "n": newest}).all()
    return tuple(Access(row.at, row.login, row.relation, row.release, tuple(row.projects), row.reads) for row in rows)
