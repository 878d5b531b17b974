"""How each role connects to the warehouse, and how its errors are reported without values.

Belongs here: engines by role and the translation of errors. Does not belong here: any statement about
notes, gates or releases.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from deid_platform.errors import Code, DeidError
from deid_platform.runtime.stopping import check
from deid_platform.settings.address import verified
from deid_platform.warehouse.server.roles import ADMINISTRATOR, Role, password
from deid_platform.warehouse.server.server import SUPERUSER, EmbeddedServer, psql_binary

DATABASE = "deid"
MAINTENANCE_DATABASE = "postgres"

# The gate's own conditions; their messages are written in migrations/code and name nothing but requirements,
# deliveries and releases.
_OWN_STATES = {
    "DG001": Code.GATE_REFUSED,
    "DG002": Code.GATE_UNKNOWN_DELIVERY,
    "DG003": Code.WAIVER_INVALID,
    "DG004": Code.RELEASE_CONFLICT,
    "DG005": Code.FINDING_INVALID,
    "DG006": Code.PROJECT_UNKNOWN,
    "DG007": Code.RELEASE_DATES,
    "DG008": Code.WAIVER_UNKNOWN,
    "DG009": Code.FINDING_UNKNOWN,
    "DG010": Code.SECOND_PERSON,
    "DG011": Code.DOSSIER_UNKNOWN,
    "DG012": Code.DOSSIER_UNSIGNED,
    "DG013": Code.HELD_OUT_REFUSED,
    "DG014": Code.GRANT_ENDED,
    "DG015": Code.NOTHING_RELEASED,
    "DG016": Code.EXTRACT_UNKNOWN,
    "DG017": Code.DECISIONS_ALTERED,
    "DG018": Code.MARK_UNKNOWN,
    "DG019": Code.SIGNATURE_INVALID,
    "DG020": Code.EXTRACT_REFUSED,
}
_BY_STATE = (
    # undefined table, function, schema; database does not exist
    (("42P01", "42883", "3F000", "3D000"), Code.WAREHOUSE_NOT_READY),
    (("28",), Code.WAREHOUSE_LOGIN),
    (("53",), Code.WAREHOUSE_FULL),
    # connection lost; shut down or not yet up; after a failover, a standby that takes no writes
    (("08", "57P", "25006"), Code.WAREHOUSE_UNREACHABLE),
    (("40P01", "55P03"), Code.WAREHOUSE_BUSY),
)
# A connection that is refused has no SQLSTATE, so the wording of libpq and of the server has to tell. It is matched,
# never shown: it quotes names. A server that speaks another language is told by `used_password` below.
_BY_WORDING = (
    (Code.WAREHOUSE_LOGIN, re.compile(r"authentication failed|no password supplied|not permitted to log in")),
    (Code.WAREHOUSE_LOGIN, re.compile(r"permission denied for database")),
    (Code.WAREHOUSE_NOT_READY, re.compile(r"(database|role) \".*\" does not exist")),
    (Code.WAREHOUSE_FULL, re.compile(r"too many (clients|connections)|slots are reserved|out of memory")),
    # A server that takes TLS alone says that no rule fits; on a local socket there is no TLS to ask for.
    (Code.WAREHOUSE_TLS, re.compile(r"pg_hba\.conf (?!.*\[local\]).*no encryption")),
    (Code.WAREHOUSE_LOGIN, re.compile(r"pg_hba\.conf")),
    # A server that dies during the handshake leaves "unexpected eof" or a system call's error, which is no distrust.
    (Code.WAREHOUSE_TLS, re.compile(r"certificate|SSL error: (?!unexpected eof)|SSL was required|sslmode|sslrootcert")),
)


class Warehouse:
    """The warehouse as its roles see it.

    Args:
        where: The embedded server (started when first needed), or the administrator's URL of a real one.
            There, each role's password comes from the environment (`roles.password`), and over TCP the server
            must prove by its certificate who it is, unless the URL or PGSSLMODE says otherwise.
        database: The database's name; a URL's own name takes precedence.

    Raises:
        DeidError: `settings-invalid` if the URL cannot be parsed.
    """

    def __init__(self, where: EmbeddedServer | str, *, database: str = DATABASE) -> None:
        self._server = where if isinstance(where, EmbeddedServer) else None
        self._url: URL | None = None
        if not isinstance(where, EmbeddedServer):
            try:
                self._url = verified(make_url(where).set(drivername="postgresql+psycopg"))
            except (ArgumentError, ValueError):
                raise DeidError(Code.SETTINGS_INVALID, "DEID_WAREHOUSE_URL") from None
        self.database = (self._url.database if self._url is not None else None) or database
        self._engines: dict[str | URL, Engine] = {}

    def __repr__(self) -> str:
        return f"<Warehouse {'embedded' if self.embedded else 'server'} {self.database}>"

    @property
    def embedded(self) -> bool:
        """Whether this is the embedded server, which trusts its socket."""
        return self._server is not None

    def describe(self) -> str:
        """Where it is, for people: no role, no password."""
        if self._server is not None:
            return f"embedded PostgreSQL, database {self.database}, in {self._server.data}"
        assert self._url is not None  # noqa: S101 - one of the two is set
        host = self._url.query.get("host", self._url.host)
        return f"PostgreSQL at {host}, database {self.database}"

    def outdated(self) -> tuple[str, ...]:
        """What the embedded server, started by an earlier version, keeps until it is stopped once."""
        return self._server.outdated() if self._server is not None else ()

    def accept(self, feed: str, *, demonstration: bool, allow_real: bool = False) -> None:
        """Refuses data that the embedded server is not meant for.

        Args:
            feed: The feed's name.
            demonstration: Whether the feed is marked as demonstration data.
            allow_real: The operator has said that real data may go there all the same.

        Raises:
            DeidError: `feed-not-demonstration`.
        """
        if self.embedded and not demonstration and not allow_real:
            raise DeidError(Code.FEED_NOT_DEMONSTRATION, feed)

    def url(self, role: str) -> URL:
        """The connection URL of a role, password included; `str` masks it.

        Raises:
            DeidError: `warehouse-not-ready` where the embedded server was never made: only the bootstrap makes it.
        """
        if self._server is not None:
            self._made(self._server).start()
            return self._server.url(str(role), self.database)
        assert self._url is not None  # noqa: S101 - one of the two is set
        # _replace, not set: set leaves what is None as it was, and would send the administrator's password.
        return self._url._replace(username=str(role), password=password(role), database=self.database)

    def engine(self, role: str) -> Engine:
        """The engine that connects as one role or person; made once, holds no connection between uses."""
        if role not in self._engines:
            self._engines[role] = _engine(self.url(role))
        return self._engines[role]

    def dbt_environment(self) -> dict[str, str]:
        """The variables by which `dbt/profiles.yml` finds this warehouse.

        The modeller's password, if any, is under a name that dbt neither logs nor keeps with what it parsed.
        """
        url = self.url(Role.MODELLER)
        host, port = url.query.get("host", url.host), url.query.get("port", url.port)
        # What dbt's profile has no place for, libpq reads from the environment: TLS above all.
        others = {f"PG{name.upper()}": str(value) for name, value in url.query.items() if name.startswith("ssl")}
        return others | {
            "DEID_DBT_HOST": str(host or "localhost"),
            "DEID_DBT_PORT": str(port or 5432),
            "DEID_DBT_DATABASE": self.database,
            "DBT_ENV_SECRET_MODELLER": str(url.password or ""),
        }

    def psql(self, role: str = Role.DEMO_ANALYST) -> tuple[list[str], dict[str, str]]:
        """The command line of a psql session as one role, and what it needs in its environment."""
        if self._server is not None:
            self._made(self._server).start()
            return self._server.psql(role, self.database), {}
        url = self.url(role)
        plain = url._replace(drivername="postgresql", password=None).render_as_string()
        # The embedded server's own psql was built without TLS.
        program = shutil.which("psql") or psql_binary()
        return [program, plain], {"PGPASSWORD": str(url.password)} if url.password else {}

    @staticmethod
    def _made(server: EmbeddedServer) -> EmbeddedServer:
        # A server that is made for a role finds no role in it, after half a minute.
        if not server.made:
            raise DeidError(Code.WAREHOUSE_NOT_READY)
        return server

    def admin_engine(self, *, maintenance: bool = False) -> Engine:
        """The administrator's engine, for bootstrap and migration only.

        Args:
            maintenance: Connect to the server's own database, as before ours exists.
        """
        database = MAINTENANCE_DATABASE if maintenance else self.database
        if self._server is not None:
            self._server.start()
            url = self._server.url(SUPERUSER, database)
        else:
            assert self._url is not None  # noqa: S101 - one of the two is set
            known = self._url if self._url.password else self._url._replace(password=password(ADMINISTRATOR))
            url = known.set(database=database)
        # By its whole URL: the administrator's password may be there for the bootstrap alone.
        if url not in self._engines:
            self._engines[url] = _engine(url)
        return self._engines[url]

    @contextmanager
    def administer(self, *, maintenance: bool = False) -> Iterator[Connection]:
        """A connection of the administrator in autocommit, with errors translated."""
        engine = self.admin_engine(maintenance=maintenance).execution_options(isolation_level="AUTOCOMMIT")
        with translated(engine.url.username), engine.connect() as connection:
            yield connection

    @contextmanager
    def begin(self, role: Role) -> Iterator[Connection]:
        """One transaction as a role, with errors translated."""
        with begin(self.engine(role)) as connection:
            yield connection


def _engine(url: URL) -> Engine:
    # NullPool: a connection that outlives its use would be shared by forked workers and keep a database from
    # being dropped; a new one costs milliseconds. hide_parameters keeps values out of SQLAlchemy's messages.
    return create_engine(url, poolclass=NullPool, hide_parameters=True, connect_args={"connect_timeout": 10})


@contextmanager
def begin(engine: Engine) -> Iterator[Connection]:
    """One transaction on an engine, with errors translated; commits when the block ends well.

    A process that was asked to stop begins none and commits none.
    """
    with translated(engine.url.username), engine.begin() as connection:
        check()
        yield connection
        check()


@contextmanager
def translated(role: str | None = None) -> Iterator[None]:
    """Turns every database error into a coded one.

    Postgres quotes values in DETAIL, in CONTEXT and in many a primary message, so nothing of it is kept but
    the SQLSTATE; only the gate's own conditions keep their message, which names requirements.

    Args:
        role: Who connects; the reference of a refused connection.
    """
    try:
        yield
    except psycopg.Error as error:
        raise _coded(error, role) from None
    except DBAPIError as error:
        original = error.orig
        if not isinstance(original, psycopg.Error):
            raise DeidError(Code.WAREHOUSE_STATEMENT, type(error).__name__) from None
        raise _coded(original, role) from None
    except SQLAlchemyError as error:
        raise DeidError(Code.WAREHOUSE_STATEMENT, type(error).__name__) from None


def _coded(error: psycopg.Error, role: str | None) -> DeidError:
    state = error.sqlstate
    if state is None:
        if error.pgconn is not None:
            return DeidError(_refused(error), role)
        # The socket broke in the middle; else the driver refused a value itself.
        if isinstance(error, psycopg.OperationalError):
            return DeidError(Code.WAREHOUSE_UNREACHABLE)
        return DeidError(Code.WAREHOUSE_STATEMENT, type(error).__name__)
    if state in _OWN_STATES:
        return DeidError(_OWN_STATES[state], error.diag.message_primary)
    for beginnings, code in _BY_STATE:
        if state.startswith(beginnings):
            return DeidError(code, state)
    return DeidError(Code.WAREHOUSE_STATEMENT, state)


def _refused(error: psycopg.Error) -> Code:
    """Why no connection came about."""
    said = str(error)
    for code, wording in _BY_WORDING:
        if wording.search(said):
            return code
    # The server answered a password, in whatever language: libpq puts two blanks after the severity.
    answered = error.pgconn is not None and error.pgconn.used_password and ":  " in said
    return Code.WAREHOUSE_LOGIN if answered else Code.WAREHOUSE_UNREACHABLE
